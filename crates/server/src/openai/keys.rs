//! Idempotency keys: the same key of a caller runs once.

use std::time::Duration;

use lango_protocol::{Caller, InvalidName, SessionId, Timestamp, TurnId};
use lango_store::{Component, Database, Migration, Statement, StoreError};
use tokio::sync::{Mutex, MutexGuard};

use super::error::ApiError;
use super::history::Mark;

const COMPONENT: Component = Component {
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

/// How long a key is known.
const KEPT: Duration = Duration::from_hours(7 * 24);
/// The longest key.
const MAX_LENGTH: usize = 255;

/// What a key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keyed {
    /// The mark of the request that it came with.
    pub(super) request: Mark,
    pub(super) session: SessionId,
    pub(super) turn: TurnId,
}

pub(super) struct Keys {
    database: Database,
    /// Held from the look at a key until its turn has begun: two requests with the same key, at the
    /// same time, must not both find it new.
    beginning: Mutex<()>,
}

impl Keys {
    pub(super) async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        let prune = Statement::new("DELETE FROM openai_keys WHERE at < $1").bind(oldest());
        database.write(prune.into()).await?;
        Ok(Self { database, beginning: Mutex::new(()) })
    }

    /// A key as it may come in a header.
    pub(super) fn check(key: &str) -> Result<(), ApiError> {
        if (1..=MAX_LENGTH).contains(&key.len()) {
            return Ok(());
        }
        let words = format!("the Idempotency-Key must have 1 to {MAX_LENGTH} characters");
        Err(ApiError::invalid("Idempotency-Key", words))
    }

    pub(super) async fn begin(&self) -> MutexGuard<'_, ()> {
        self.beginning.lock().await
    }

    pub(super) async fn find(
        &self,
        caller: &Caller,
        key: &str,
    ) -> Result<Option<Keyed>, StoreError> {
        let statement = Statement::new(
            "SELECT request, session, turn FROM openai_keys \
             WHERE caller = $1 AND name = $2 AND at >= $3",
        )
        .bind(caller.as_str())
        .bind(key)
        .bind(oldest());
        let rows = self.database.query(statement.brief()).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let corrupt = |error: InvalidName| StoreError::Corrupt {
            location: "openai_keys".to_owned(),
            reason: error.to_string(),
        };
        Ok(Some(Keyed {
            request: row.text(0)?.to_owned(),
            session: row.text(1)?.parse().map_err(corrupt)?,
            turn: row.text(2)?.parse().map_err(corrupt)?,
        }))
    }

    /// Writes a key down; whether it was new. Another process may have been faster.
    pub(super) async fn keep(
        &self,
        caller: &Caller,
        key: &str,
        keyed: &Keyed,
    ) -> Result<bool, StoreError> {
        let statement = Statement::new(
            "INSERT INTO openai_keys (caller, name, request, session, turn, at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (caller, name) DO UPDATE \
             SET request = $3, session = $4, turn = $5, at = $6 WHERE openai_keys.at < $7",
        )
        .bind(caller.as_str())
        .bind(key)
        .bind(keyed.request.as_str())
        .bind(keyed.session.as_str())
        .bind(keyed.turn.to_string())
        .bind(Timestamp::now().as_microseconds())
        .bind(oldest());
        Ok(self.database.write(statement.into()).await? == [1])
    }
}

/// Keys from before this are forgotten.
fn oldest() -> i64 {
    Timestamp::now().as_microseconds() - i64::try_from(KEPT.as_micros()).unwrap_or(i64::MAX)
}
