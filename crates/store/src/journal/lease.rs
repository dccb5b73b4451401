//! Manages leases: which process may write to a session, until when, and how another process takes
//! over. What waits in a session does not belong here (`queue.rs`).

use std::time::Duration;

use lango_protocol::SessionId;

use super::active;
use super::clock::{LeaseClock, timed};
use super::owner::{LeaseOwner, ProcessIdentity, own_incarnation};
use crate::{Row, Statement, StoreError};

/// The time after which a silent holder loses its lease. The statements below have it in
/// microseconds.
const LEASE_DURATION: Duration = Duration::from_secs(30);

/// Returns the name of a session's lease.
pub(super) fn lease_name(session: &SessionId) -> String {
    format!("session:{session}")
}

/// A lease as it was read.
pub(super) struct SessionLease {
    token: i64,
    incarnation: String,
    process: ProcessIdentity,
    expires_at: i64,
    /// The time of the database when it was read.
    now: i64,
}

impl SessionLease {
    /// Reads a lease from its columns and the time; none if the outer join found none.
    pub(super) fn read(row: &Row, first: usize) -> Result<Option<Self>, StoreError> {
        let Some(token) = row.optional_integer(first)? else { return Ok(None) };
        let incarnation = row.text(first + 1)?.to_owned();
        let process = ProcessIdentity {
            pid: u32::try_from(row.integer(first + 2)?).unwrap_or(0),
            host: row.text(first + 3)?.to_owned(),
            start: row.integer(first + 4)?,
        };
        let (expires_at, now) = (row.integer(first + 5)?, row.integer(first + 6)?);
        Ok(Some(Self { token, incarnation, process, expires_at, now }))
    }

    /// Returns the process that holds the lease, unless it may be taken over.
    pub(super) fn holder(&self, clock: LeaseClock) -> Option<LeaseOwner> {
        let is_held = !self.has_run_out()
            && if self.incarnation == own_incarnation() {
                // A claim of this process that ended without releasing it need not be waited for.
                active::is_active(self.token)
            } else {
                !self.process.is_of_an_earlier_start(clock) && !self.is_of_a_dead_process()
            };
        is_held.then(|| self.process.owner())
    }

    /// Tells whether the process certainly no longer exists. An earlier one with the id of this one
    /// does not.
    fn is_of_a_dead_process(&self) -> bool {
        let current = ProcessIdentity::current();
        let had_this_id = self.process.host == current.host && self.process.pid == current.pid;
        had_this_id || self.process.is_gone()
    }

    /// Tells whether the time of the lease is over. One that ends much later than any lease can was
    /// measured with a clock that was set back since, or that began anew with the machine.
    fn has_run_out(&self) -> bool {
        let longest = i64::try_from(LEASE_DURATION.as_micros()).unwrap_or(i64::MAX);
        let left = self.expires_at.saturating_sub(self.now);
        left <= 0 || left > longest.saturating_mul(2)
    }
}

/// Takes a lease for this process, if it is unchanged since it was read. The expiry is part of the
/// condition because an owner that resumes renews the lease under its old token.
pub(super) fn build_take(
    clock: LeaseClock,
    session: &SessionId,
    token: i64,
    previous: Option<&SessionLease>,
) -> Statement {
    let current = ProcessIdentity::current();
    let statement = match previous {
        None => timed!(
            clock,
            "INSERT INTO leases \
             (name, token, incarnation, owner_pid, owner_host, owner_start, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6, 30000000 + ",
            "$7",
            ") ON CONFLICT (name) DO NOTHING"
        ),
        Some(_) => timed!(
            clock,
            "UPDATE leases SET token = $2, incarnation = $3, owner_pid = $4, owner_host = $5, \
             owner_start = $6, expires_at = 30000000 + ",
            "$9",
            " WHERE name = $1 AND token = $7 AND expires_at = $8"
        ),
    };
    let statement = statement
        .bind(lease_name(session))
        .bind(token)
        .bind(own_incarnation())
        .bind(current.pid)
        .bind(current.host.as_str())
        .bind(current.start);
    let statement = match previous {
        None => statement,
        Some(lease) => statement.bind(lease.token).bind(lease.expires_at),
    };
    clock.bind_now(statement).expect_rows(1)
}

/// Renews a lease, which also proves that it is still held.
pub(super) fn build_renewal(clock: LeaseClock, name: &str, token: i64) -> Statement {
    let statement = timed!(
        clock,
        "UPDATE leases SET expires_at = 30000000 + ",
        "$3",
        " WHERE name = $1 AND token = $2"
    );
    clock.bind_now(statement.bind(name).bind(token)).expect_rows(1)
}

/// Releases a lease.
pub(super) fn build_release(name: &str, token: i64) -> Statement {
    Statement::new("DELETE FROM leases WHERE name = $1 AND token = $2").bind(name).bind(token)
}
