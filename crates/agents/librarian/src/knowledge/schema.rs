//! Defines the table of versions.

use lango_store::{Migration, SchemaComponent};

pub(super) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "knowledge",
    migrations: &[Migration { version: 1, sqlite: TABLE, postgres: TABLE }],
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
