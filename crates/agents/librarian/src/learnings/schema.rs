//! Defines the tables of lessons, and of failures that may become lessons.

use lango_store::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "learnings",
    migrations: &[
        Migration { version: 1, sqlite: TABLES, postgres: TABLES },
        Migration { version: 2, sqlite: CLIENTS, postgres: CLIENTS },
    ],
};

const TABLES: &str = "
CREATE TABLE learnings (
    id TEXT NOT NULL PRIMARY KEY,
    trigger_name TEXT NOT NULL,
    folded TEXT NOT NULL,
    error_pattern TEXT,
    diagnosis TEXT,
    fix TEXT NOT NULL,
    origin TEXT NOT NULL,
    successes BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    source TEXT,
    session TEXT,
    turn TEXT,
    author TEXT NOT NULL,
    recorded_at BIGINT NOT NULL
);
CREATE INDEX learnings_trigger ON learnings (folded);
CREATE TABLE learning_failures (
    tool TEXT NOT NULL,
    pattern TEXT NOT NULL,
    times BIGINT NOT NULL,
    fix TEXT,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (tool, pattern)
);
CREATE TABLE learning_turns (
    turn TEXT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL
);
";

// The API client that a lesson or a failure belongs to; empty for the owner.
const CLIENTS: &str = "
ALTER TABLE learnings ADD COLUMN client TEXT NOT NULL DEFAULT '';
DROP INDEX learnings_trigger;
CREATE INDEX learnings_trigger ON learnings (client, folded);
CREATE TABLE learning_failures_by_client (
    client TEXT NOT NULL,
    tool TEXT NOT NULL,
    pattern TEXT NOT NULL,
    times BIGINT NOT NULL,
    fix TEXT,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (client, tool, pattern)
);
INSERT INTO learning_failures_by_client (client, tool, pattern, times, fix, first_at, last_at)
    SELECT '', tool, pattern, times, fix, first_at, last_at FROM learning_failures;
DROP TABLE learning_failures;
ALTER TABLE learning_failures_by_client RENAME TO learning_failures;
";
