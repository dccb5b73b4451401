//! Manages leases: which process may write to a session, until when, and how another process takes
//! over.
//!
//! The clocks of the machines that share a PostgreSQL database must agree within a few seconds.

use std::time::Duration;

use lango_protocol::{SessionId, Timestamp};

use super::Journal;
use super::owner::{LeaseOwner, ProcessIdentity};
use crate::{Row, Statement, StoreError};

/// The time after which a silent holder loses its lease.
const LEASE_DURATION: Duration = Duration::from_secs(30);

/// Returns the name of a session's lease.
pub(super) fn lease_name(session: &SessionId) -> String {
    format!("session:{session}")
}

/// Returns the expiry of a lease that is taken or renewed now.
pub(super) fn next_expiry() -> i64 {
    Timestamp::now().plus(LEASE_DURATION).as_microseconds()
}

/// A lease as it was read.
pub(super) struct SessionLease {
    token: i64,
    process: ProcessIdentity,
    expires_at: i64,
}

impl SessionLease {
    /// Reads a lease from five columns; none if the outer join found none.
    pub(super) fn read(row: &Row, first: usize) -> Result<Option<Self>, StoreError> {
        let Some(token) = row.optional_integer(first)? else { return Ok(None) };
        let process = ProcessIdentity {
            pid: u32::try_from(row.integer(first + 1)?).unwrap_or(0),
            host: row.text(first + 2)?.to_owned(),
            start: row.integer(first + 3)?,
        };
        Ok(Some(Self { token, process, expires_at: row.integer(first + 4)? }))
    }

    /// Returns the process that holds the lease, unless it may be taken over.
    pub(super) fn holder(&self) -> Option<LeaseOwner> {
        let over = self.expires_at <= Timestamp::now().as_microseconds() || self.process.is_gone();
        (!over).then(|| self.process.owner())
    }
}

/// The state of a session that a claim needs, read at one moment.
pub(super) struct SessionState {
    pub(super) exists: bool,
    pub(super) head: u64,
    pub(super) lease: Option<SessionLease>,
}

impl SessionState {
    pub(super) fn holder(&self) -> Option<LeaseOwner> {
        self.lease.as_ref().and_then(SessionLease::holder)
    }
}

impl Journal {
    pub(super) async fn read_session_state(
        &self,
        session: &SessionId,
    ) -> Result<SessionState, StoreError> {
        let statement = Statement::new(
            "SELECT (SELECT COUNT(*) FROM sessions WHERE id = $1), \
             (SELECT COALESCE(MAX(seq), 0) FROM events WHERE session = $1), \
             lease.token, lease.owner_pid, lease.owner_host, lease.owner_start, lease.expires_at \
             FROM (SELECT 1 AS one) AS always LEFT JOIN leases AS lease ON lease.name = $2",
        );
        let rows =
            self.database.query(statement.bind(session.as_str()).bind(lease_name(session))).await?;
        let row = rows.first().ok_or_else(|| StoreError::query("a query without a row"))?;
        Ok(SessionState {
            exists: row.boolean(0)?,
            head: row.unsigned(1)?,
            lease: SessionLease::read(row, 2)?,
        })
    }
}

/// Takes a lease for this process, if it is unchanged since it was read. The expiry is part of the
/// condition because an owner that resumes renews the lease under its old token.
pub(super) fn build_take(
    session: &SessionId,
    token: i64,
    previous: Option<&SessionLease>,
) -> Statement {
    let current = ProcessIdentity::current();
    let statement = Statement::new(match previous {
        None => {
            "INSERT INTO leases (name, token, owner_pid, owner_host, owner_start, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING"
        }
        Some(_) => {
            "UPDATE leases SET token = $2, owner_pid = $3, owner_host = $4, owner_start = $5, \
             expires_at = $6 WHERE name = $1 AND token = $7 AND expires_at = $8"
        }
    })
    .bind(lease_name(session))
    .bind(token)
    .bind(current.pid)
    .bind(current.host.as_str())
    .bind(current.start)
    .bind(next_expiry())
    .expect_rows(1);
    match previous {
        None => statement,
        Some(lease) => statement.bind(lease.token).bind(lease.expires_at),
    }
}

/// Renews a lease, which also proves that it is still held.
pub(super) fn build_renewal(name: &str, token: i64) -> Statement {
    Statement::new("UPDATE leases SET expires_at = $3 WHERE name = $1 AND token = $2")
        .bind(name)
        .bind(token)
        .bind(next_expiry())
        .expect_rows(1)
}

/// Releases a lease.
pub(super) fn build_release(name: &str, token: i64) -> Statement {
    Statement::new("DELETE FROM leases WHERE name = $1 AND token = $2").bind(name).bind(token)
}
