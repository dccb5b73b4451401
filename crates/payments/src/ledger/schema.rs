//! Defines the tables. Times are microseconds since the epoch, amounts base units, fees wei as text.

use lango_store::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "payments",
    migrations: &[Migration { version: 1, sqlite: SQLITE_TABLES, postgres: POSTGRES_TABLES }],
};

/// Writes the tables for one engine; they differ in the type of bytes.
macro_rules! tables {
    ($bytes:literal) => {
        concat!(
            "
CREATE TABLE payments (
    id TEXT NOT NULL PRIMARY KEY,
    idempotency_key TEXT NOT NULL UNIQUE,
    revision BIGINT NOT NULL,
    state TEXT NOT NULL,
    order_text TEXT NOT NULL,
    order_digest TEXT NOT NULL,
    chain_id BIGINT NOT NULL,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    amount BIGINT NOT NULL,
    nonce BIGINT,
    transaction_hash TEXT,
    authorization_nonce TEXT,
    valid_after BIGINT,
    valid_before BIGINT,
    signed_bytes ",
            $bytes,
            ",
    block BIGINT,
    fee TEXT,
    detail TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX payments_by_time ON payments (chain_id, created_at);
CREATE INDEX payments_by_state ON payments (state, created_at);
CREATE UNIQUE INDEX payments_by_nonce ON payments (chain_id, sender, nonce)
    WHERE nonce IS NOT NULL AND state <> 'failed';
CREATE TABLE payment_changes (
    payment TEXT NOT NULL,
    revision BIGINT NOT NULL,
    state TEXT NOT NULL,
    detail TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (payment, revision)
);
CREATE TABLE payment_turnstile (
    name TEXT NOT NULL PRIMARY KEY,
    passed BIGINT NOT NULL
);
INSERT INTO payment_turnstile (name, passed) VALUES ('reservations', 0), ('nonces', 0);
CREATE TABLE payment_chains (
    chain_id BIGINT NOT NULL PRIMARY KEY,
    genesis TEXT NOT NULL
);
CREATE TABLE payment_wallets (
    address TEXT NOT NULL PRIMARY KEY,
    position BIGINT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);
"
        )
    };
}

// The partial index holds a number of an account for one payment. The turnstile lets one transaction
// at a time decide on limits or numbers: PostgreSQL would let two of them count at once.
const SQLITE_TABLES: &str = tables!("BLOB");
const POSTGRES_TABLES: &str = tables!("BYTEA");
