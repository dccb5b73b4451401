//! Stores idempotency keys: a turn runs once for each key of a caller.

use std::time::Duration;

use lango_protocol::{Caller, InvalidName, SessionId, Timestamp, TurnId};
use lango_store::{Batch, Database, Migration, SchemaComponent, Statement, StoreError};
use tokio::sync::{Mutex, MutexGuard};

use super::error::ApiError;
use super::history::ConversationDigest;

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "openai_keys",
    migrations: &[Migration { version: 1, sqlite: TABLE, postgres: TABLE }],
};

const TABLE: &str = "
CREATE TABLE openai_keys (
    caller TEXT NOT NULL,
    name TEXT NOT NULL,
    request TEXT NOT NULL,
    session TEXT NOT NULL,
    turn TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (caller, name)
);
CREATE INDEX openai_keys_at ON openai_keys (at);
";

/// Sets how long a key is stored.
const KEY_LIFETIME: Duration = Duration::from_hours(7 * 24);
/// Limits the length of a key.
const MAX_KEY_BYTES: usize = 255;

/// Holds the turn of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyRecord {
    /// The mark of the request that used it.
    pub(super) request: ConversationDigest,
    pub(super) session: SessionId,
    pub(super) turn: TurnId,
}

pub(super) struct IdempotencyKeys {
    database: Database,
    /// Held from the lookup of a key until its turn has started: of two simultaneous requests with
    /// the same key, only one may start a turn.
    beginning: Mutex<()>,
}

impl IdempotencyKeys {
    pub(super) async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        let prune =
            Statement::new("DELETE FROM openai_keys WHERE at < $1").bind(oldest_valid_time());
        database.write(prune.into()).await?;
        Ok(Self { database, beginning: Mutex::new(()) })
    }

    /// Checks a key of a request.
    pub(super) fn check(key: &str) -> Result<(), ApiError> {
        if (1..=MAX_KEY_BYTES).contains(&key.len()) {
            return Ok(());
        }
        let words = format!("the Idempotency-Key must have 1 to {MAX_KEY_BYTES} characters");
        Err(ApiError::invalid("Idempotency-Key", words))
    }

    pub(super) async fn lock_keys(&self) -> MutexGuard<'_, ()> {
        self.beginning.lock().await
    }

    pub(super) async fn find(
        &self,
        caller: &Caller,
        key: &str,
    ) -> Result<Option<KeyRecord>, StoreError> {
        let statement = Statement::new(
            "SELECT request, session, turn FROM openai_keys \
             WHERE caller = $1 AND name = $2 AND at >= $3",
        )
        .bind(caller.as_str())
        .bind(key)
        .bind(oldest_valid_time());
        let rows = self.database.query(statement).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let corrupt = |error: InvalidName| StoreError::Corrupt {
            location: "openai_keys".to_owned(),
            reason: error.to_string(),
        };
        Ok(Some(KeyRecord {
            request: row.text(0)?.to_owned(),
            session: row.text(1)?.parse().map_err(corrupt)?,
            turn: row.text(2)?.parse().map_err(corrupt)?,
        }))
    }

    /// Stores a key and queues its turn. Returns false if another process has already stored it.
    pub(super) async fn store_key(
        &self,
        caller: &Caller,
        key: &str,
        key_record: &KeyRecord,
        promise: Statement,
    ) -> Result<bool, StoreError> {
        let statement = Statement::new(
            "INSERT INTO openai_keys (caller, name, request, session, turn, at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (caller, name) DO UPDATE \
             SET request = $3, session = $4, turn = $5, at = $6 WHERE openai_keys.at < $7",
        )
        .bind(caller.as_str())
        .bind(key)
        .bind(key_record.request.as_str())
        .bind(key_record.session.as_str())
        .bind(key_record.turn.to_string())
        .bind(Timestamp::now().as_microseconds())
        .bind(oldest_valid_time())
        .expect_rows(1);
        match self.database.write(Batch::new().with(statement).with(promise)).await {
            Ok(_) => Ok(true),
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Returns the time before which keys are expired.
fn oldest_valid_time() -> i64 {
    Timestamp::now().as_microseconds() - i64::try_from(KEY_LIFETIME.as_micros()).unwrap_or(i64::MAX)
}
