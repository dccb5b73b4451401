//! Defines the tables of questions, of where they were shown, and of the number of turns.

use lango_store::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "inquiries",
    migrations: &[
        Migration { version: 1, sqlite: TABLES, postgres: TABLES },
        Migration { version: 2, sqlite: CLIENTS, postgres: CLIENTS },
    ],
};

const TABLES: &str = "
CREATE TABLE inquiries (
    id TEXT NOT NULL PRIMARY KEY,
    topic TEXT NOT NULL,
    question TEXT NOT NULL,
    why TEXT NOT NULL,
    priority BIGINT NOT NULL,
    session TEXT,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    answer TEXT,
    knowledge_key TEXT,
    resolved_at BIGINT
);
CREATE INDEX inquiries_state ON inquiries (state);
CREATE TABLE inquiry_shown (
    session TEXT NOT NULL,
    turn TEXT NOT NULL,
    number BIGINT NOT NULL,
    inquiry TEXT NOT NULL,
    PRIMARY KEY (session, turn)
);
CREATE TABLE inquiry_turns (
    session TEXT NOT NULL PRIMARY KEY,
    turns BIGINT NOT NULL,
    last TEXT NOT NULL
);
";

// The API client that a question belongs to; empty for the owner.
const CLIENTS: &str = "
ALTER TABLE inquiries ADD COLUMN client TEXT NOT NULL DEFAULT '';
DROP INDEX inquiries_state;
CREATE INDEX inquiries_state ON inquiries (client, state);
";
