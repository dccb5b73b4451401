//! Defines the table of versions.

use lango_store::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "knowledge",
    migrations: &[
        Migration { version: 1, sqlite: TABLE, postgres: TABLE },
        Migration { version: 2, sqlite: CLIENTS, postgres: CLIENTS },
    ],
};

// The newest version is the one with the highest number; no other column says so, so none can
// disagree.
const TABLE: &str = "
CREATE TABLE knowledge_versions (
    folded TEXT NOT NULL,
    version BIGINT NOT NULL,
    key TEXT NOT NULL,
    content TEXT NOT NULL,
    category TEXT NOT NULL,
    tags TEXT NOT NULL,
    source TEXT,
    session TEXT,
    turn TEXT,
    author TEXT NOT NULL,
    confidence TEXT,
    recorded_at BIGINT NOT NULL,
    PRIMARY KEY (folded, version)
);
";

// The API client that an entry belongs to; empty for the owner. A key of one space says nothing
// about the same key of another, so the primary key begins with the client, which needs a new table.
const CLIENTS: &str = "
CREATE TABLE knowledge_versions_by_client (
    client TEXT NOT NULL,
    folded TEXT NOT NULL,
    version BIGINT NOT NULL,
    key TEXT NOT NULL,
    content TEXT NOT NULL,
    category TEXT NOT NULL,
    tags TEXT NOT NULL,
    source TEXT,
    session TEXT,
    turn TEXT,
    author TEXT NOT NULL,
    confidence TEXT,
    recorded_at BIGINT NOT NULL,
    PRIMARY KEY (client, folded, version)
);
INSERT INTO knowledge_versions_by_client (client, folded, version, key, content, category, tags,
    source, session, turn, author, confidence, recorded_at)
    SELECT '', folded, version, key, content, category, tags,
    source, session, turn, author, confidence, recorded_at FROM knowledge_versions;
DROP TABLE knowledge_versions;
ALTER TABLE knowledge_versions_by_client RENAME TO knowledge_versions;
";
