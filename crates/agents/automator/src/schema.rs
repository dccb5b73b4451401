//! Defines the tables. Times are microseconds since the epoch.

use lango_store::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "automator",
    migrations: &[
        Migration { version: 1, sqlite: TABLES, postgres: TABLES },
        Migration { version: 2, sqlite: WORKFLOW_TABLES, postgres: WORKFLOW_TABLES },
        Migration { version: 3, sqlite: NOTIFICATIONS, postgres: NOTIFICATIONS },
    ],
};

// `next_due` is the next occurrence that no scheduler has acted on; a scheduler moves it forward in the
// commit that writes the work of the occurrence.
const TABLES: &str = "
CREATE TABLE jobs (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    client TEXT NOT NULL,
    workspace TEXT NOT NULL,
    task TEXT NOT NULL,
    action TEXT NOT NULL,
    schedule TEXT NOT NULL,
    said TEXT NOT NULL,
    zone TEXT NOT NULL,
    catch_up TEXT NOT NULL,
    overlap TEXT NOT NULL,
    state TEXT NOT NULL,
    depth BIGINT NOT NULL,
    creator TEXT NOT NULL,
    session TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    next_due BIGINT
);
CREATE INDEX jobs_by_due ON jobs (state, next_due);
CREATE TABLE automation_services (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    workspace TEXT NOT NULL,
    pid BIGINT NOT NULL,
    host TEXT NOT NULL,
    start BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);
";

// Every change of a run or of its steps increments `revision` in the same commit, and fails if another
// process was faster. `next_look` is the time at which something has to be looked at although no work of
// the run has ended; absent if there is none. The row of a step as a whole has the item -1.
const WORKFLOW_TABLES: &str = "
CREATE TABLE workflow_definitions (
    client TEXT NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    description TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (client, name)
);
CREATE TABLE workflow_runs (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    client TEXT NOT NULL,
    workspace TEXT NOT NULL,
    definition TEXT NOT NULL,
    inputs TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    outputs TEXT NOT NULL,
    depth BIGINT NOT NULL,
    session TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT,
    next_look BIGINT,
    revision BIGINT NOT NULL
);
CREATE INDEX workflow_runs_by_look ON workflow_runs (state, next_look);
CREATE TABLE workflow_steps (
    run TEXT NOT NULL,
    position BIGINT NOT NULL,
    item BIGINT NOT NULL,
    step TEXT NOT NULL,
    state TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    work TEXT NOT NULL,
    due_at BIGINT,
    input TEXT NOT NULL,
    output TEXT NOT NULL,
    reason TEXT NOT NULL,
    approved_by TEXT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    PRIMARY KEY (run, position, item)
);
CREATE INDEX workflow_steps_by_state ON workflow_steps (state, run);
";

// A notification is written once for each event and channel, in the commit that decides about it. `claim`
// is the attempt that is under way, by the process that the columns after it name. `notify` and `budget` of
// a job are JSON, empty for what the configuration says; `definition` is the workflow that it runs.
const NOTIFICATIONS: &str = "
ALTER TABLE jobs ADD COLUMN notify TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN budget TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN definition TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN inputs TEXT NOT NULL DEFAULT '';
ALTER TABLE workflow_runs ADD COLUMN job TEXT NOT NULL DEFAULT '';
CREATE INDEX workflow_runs_of_job ON workflow_runs (job, state);
CREATE TABLE notifications (
    id TEXT NOT NULL PRIMARY KEY,
    workspace TEXT NOT NULL,
    channel TEXT NOT NULL,
    event TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    at BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    claim TEXT NOT NULL,
    claim_pid BIGINT NOT NULL,
    claim_host TEXT NOT NULL,
    claim_start BIGINT NOT NULL,
    claimed_until BIGINT NOT NULL,
    reason TEXT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX notifications_by_state ON notifications (state, due_at);
CREATE TABLE automation_spend (
    scope TEXT NOT NULL PRIMARY KEY,
    model_calls BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    micro_dollars BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
";
