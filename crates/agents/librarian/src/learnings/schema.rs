//! Defines the tables of lessons, and of failures that may become lessons.

use lango_store::{Migration, SchemaComponent};

pub(super) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "learnings",
    migrations: &[Migration { version: 1, sqlite: TABLES, postgres: TABLES }],
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
