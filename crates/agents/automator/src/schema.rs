//! Defines the tables. Times are microseconds since the epoch.

use lango_store::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "automator",
    migrations: &[Migration { version: 1, sqlite: TABLES, postgres: TABLES }],
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
