//! Defines the tables. Times are microseconds since the epoch.

use lango_store::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "keystore",
    migrations: &[Migration { version: 1, sqlite: SQLITE_TABLES, postgres: POSTGRES_TABLES }],
};

/// The tables that are erased from the database's other files after a deletion.
pub(crate) const ENTRY_TABLES: &[&str] = &["vault_entries", "vault_wraps"];

// The one row of `vault_state` orders everything that changes keys: `generation` counts master keys,
// `revision` every change of an entry or a wrap, and `lock_epoch` how often the vault was locked. A
// wrap holds the master key of a generation, encrypted by what its kind says.
const SQLITE_TABLES: &str = "
CREATE TABLE vault_state (
    id BIGINT NOT NULL PRIMARY KEY,
    vault TEXT NOT NULL,
    generation BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    lock_epoch BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    failed_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE vault_wraps (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    generation BIGINT NOT NULL,
    parameters TEXT NOT NULL,
    wrapped BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT
);
CREATE TABLE vault_entries (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    attributes TEXT NOT NULL,
    data_key BLOB NOT NULL,
    value BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    used_at BIGINT,
    uses BIGINT NOT NULL,
    PRIMARY KEY (kind, name)
);
CREATE TABLE vault_audit (
    seq BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    action TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    actor TEXT NOT NULL,
    session TEXT NOT NULL,
    detail TEXT NOT NULL,
    hash TEXT NOT NULL
);
";

const POSTGRES_TABLES: &str = "
CREATE TABLE vault_state (
    id BIGINT NOT NULL PRIMARY KEY,
    vault TEXT NOT NULL,
    generation BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    lock_epoch BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    failed_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE vault_wraps (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    generation BIGINT NOT NULL,
    parameters TEXT NOT NULL,
    wrapped BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT
);
CREATE TABLE vault_entries (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    attributes TEXT NOT NULL,
    data_key BYTEA NOT NULL,
    value BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    used_at BIGINT,
    uses BIGINT NOT NULL,
    PRIMARY KEY (kind, name)
);
CREATE TABLE vault_audit (
    seq BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    action TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    actor TEXT NOT NULL,
    session TEXT NOT NULL,
    detail TEXT NOT NULL,
    hash TEXT NOT NULL
);
";
