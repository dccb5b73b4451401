//! Defines the tables. Times are microseconds since the epoch.

use lango_store::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "a2a_remote",
    migrations: &[Migration { version: 1, sqlite: TABLES, postgres: TABLES }],
};

// A card has three states in one row: the trusted one (`digest`, `body`), when it was last seen,
// and a different one that waits for the user's decision (`offered`). A task is identified by its
// delegation, so that the same delegation finds it after a crash.
const TABLES: &str = "
CREATE TABLE a2a_remote_cards (
    name TEXT NOT NULL PRIMARY KEY,
    card_url TEXT NOT NULL,
    digest TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    body TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    fresh_until BIGINT NOT NULL,
    pinned_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    offered TEXT
);
CREATE TABLE a2a_remote_tasks (
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    call_id TEXT NOT NULL,
    turn TEXT NOT NULL,
    context TEXT,
    task TEXT,
    state TEXT NOT NULL,
    question TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (session, agent, call_id)
);
CREATE INDEX a2a_remote_tasks_by_time ON a2a_remote_tasks (session, agent, at);
";
