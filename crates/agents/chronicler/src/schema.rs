//! Defines the tables. Times are microseconds since the epoch; lists are JSON.

use lango_store::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "chronicler",
    migrations: &[
        Migration { version: 1, sqlite: TABLES, postgres: TABLES },
        Migration { version: 2, sqlite: UNOBSERVED_TOKENS, postgres: UNOBSERVED_TOKENS },
        Migration { version: 3, sqlite: CLIENTS, postgres: CLIENTS },
    ],
};

// A watermark says up to where a session was noted and observed. It moves in the transaction that
// writes the results, and `observation_runs` records what each move covered, so that a check can
// prove that nothing was observed twice or left out. A row of `redactions` exists until its words
// are removed from all tables; then it is deleted too.
const TABLES: &str = "
CREATE TABLE memories (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    about TEXT NOT NULL,
    origin TEXT NOT NULL,
    superseded_by TEXT,
    at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    session TEXT,
    turn TEXT,
    sources TEXT NOT NULL
);
CREATE INDEX memories_by_state ON memories (superseded_by, created_at);
CREATE TABLE observations (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    content TEXT NOT NULL,
    priority TEXT NOT NULL,
    at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    extractive BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    sources TEXT NOT NULL,
    condensed_by TEXT
);
CREATE INDEX observations_by_session ON observations (session, first_seq);
CREATE TABLE reflections (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    content TEXT NOT NULL,
    about TEXT NOT NULL,
    generation BIGINT NOT NULL,
    extractive BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    sources TEXT NOT NULL
);
CREATE INDEX reflections_by_session ON reflections (session, created_at);
CREATE TABLE watermarks (
    session TEXT NOT NULL PRIMARY KEY,
    noted_seq BIGINT NOT NULL,
    observed_seq BIGINT NOT NULL,
    last_turn TEXT NOT NULL
);
CREATE TABLE observation_runs (
    session TEXT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    observations BIGINT NOT NULL,
    extractive BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (session, first_seq)
);
CREATE TABLE memory_spending (
    day TEXT NOT NULL PRIMARY KEY,
    tokens BIGINT NOT NULL
);
CREATE TABLE redactions (
    id TEXT NOT NULL PRIMARY KEY,
    traces TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
";

// The tokens of the conversation that was noted and not observed, so that a long conversation is not
// read after each of its turns. It is NULL for sessions from before, which were not counted.
const UNOBSERVED_TOKENS: &str = "ALTER TABLE watermarks ADD COLUMN unobserved_tokens BIGINT";

// The API client that a row belongs to; empty for the owner. What a client wants forgotten goes from
// its own conversations only.
const CLIENTS: &str = "
ALTER TABLE memories ADD COLUMN client TEXT NOT NULL DEFAULT '';
ALTER TABLE observations ADD COLUMN client TEXT NOT NULL DEFAULT '';
ALTER TABLE reflections ADD COLUMN client TEXT NOT NULL DEFAULT '';
ALTER TABLE redactions ADD COLUMN client TEXT NOT NULL DEFAULT '';
DROP INDEX memories_by_state;
CREATE INDEX memories_by_state ON memories (client, superseded_by, created_at);
";
