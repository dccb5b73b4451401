//! Claims a session for this process, and releases it.

use std::sync::atomic::{AtomicBool, Ordering};

use lango_protocol::{Event, SessionId, Timestamp};
use uuid::Uuid;

use super::active::ActiveToken;
use super::append::EventSource;
use super::clock::timed;
use super::lease::{SessionLease, lease_name};
use super::owner::LeaseOwner;
use super::queue::{self, PlaceCheck, PrecedingTurn, QueuePlace, WaitingTurns};
use super::{Journal, append, lease};
use crate::{Batch, Database, Durability, Statement, StoreError};

/// Limits the attempts of a claim when other processes change the session meanwhile.
const MAX_CLAIM_ATTEMPTS: u32 = 4;

/// The right to append to a session. Every append proves it again. Dropping it releases the session,
/// so that a turn which ends with an error does not keep the next one waiting.
pub struct SessionClaim {
    session: SessionId,
    lease: String,
    token: ActiveToken,
    head: u64,
    database: Database,
    released: AtomicBool,
}

impl std::fmt::Debug for SessionClaim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { session, token, head, .. } = self;
        f.debug_struct("SessionClaim")
            .field("session", session)
            .field("token", &token.get())
            .field("head", head)
            .finish_non_exhaustive()
    }
}

impl Drop for SessionClaim {
    fn drop(&mut self) {
        // This process sees at once that the lease is not in use any more. The others learn it from
        // the database, or when the lease expires if the database does not answer now.
        if !self.released.load(Ordering::Acquire)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let release = lease::build_release(&self.lease, self.token.get());
            let database = self.database.clone();
            runtime.spawn(async move {
                if let Err(error) = database.write(release.into()).await {
                    tracing::debug!(%error, "the lease of a session expires later");
                }
            });
        }
    }
}

impl SessionClaim {
    /// Returns the session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the position of the last event at the time of the claim, including the first events
    /// of the claim; 0 if there was none.
    pub fn head(&self) -> u64 {
        self.head
    }

    pub(super) fn lease(&self) -> &str {
        &self.lease
    }

    pub(super) fn token(&self) -> i64 {
        self.token.get()
    }

    pub(super) fn mark_released(&self) {
        self.released.store(true, Ordering::Release);
    }
}

/// Describes why a session could not be claimed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// For the user: another process, or another part of this one, works in the session.
    #[error("the session is in use by {0}. Wait for it to finish, or use another session")]
    Busy(LeaseOwner),
    /// For the caller: another turn of the session comes first.
    #[error("another turn of the session comes first")]
    Behind(PrecedingTurn),
    /// For the caller: the queued turn has begun in another process, or was withdrawn.
    #[error("the queued turn has begun in another process, or was withdrawn")]
    Gone,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Journal {
    /// Claims a session for this process, and creates it if it is missing. A session whose owner
    /// died is taken over at once if that is detectable, and otherwise when its lease expires.
    pub async fn claim_session(
        &self,
        session: &SessionId,
        workspace: &str,
    ) -> Result<SessionClaim, ClaimError> {
        let first = |_| Vec::new();
        self.claim_with(session, workspace, QueuePlace::First, first).await.map(|(claim, _)| claim)
    }

    /// Claims a session, if its place in the queue allows it, and writes its first events in the same
    /// commit. They are created for the current head, and created again if another process was
    /// faster. The row of a queued turn goes with its first event.
    pub async fn claim_with(
        &self,
        session: &SessionId,
        workspace: &str,
        place: QueuePlace<'_>,
        first: impl Fn(u64) -> Vec<Event>,
    ) -> Result<(SessionClaim, Vec<Event>), ClaimError> {
        let mut attempt = 1;
        loop {
            let session_state = self.read_session_state(session).await?;
            if let Some(owner) = session_state.holder(self) {
                return Err(ClaimError::Busy(owner));
            }
            match session_state.waiting.check(place) {
                PlaceCheck::Free => {}
                PlaceCheck::Behind(turn) => return Err(ClaimError::Behind(turn)),
                PlaceCheck::Gone => return Err(ClaimError::Gone),
            }
            let token = ActiveToken::register(random_token());
            let previous = session_state.lease.as_ref();
            // A turn is acknowledged when it ends, or was when it was queued.
            let mut batch = Batch::with_capacity(8)
                .durability(Durability::ProcessCrash)
                .with(lease::build_take(self.clock, session, token.get(), previous))
                .with(create_session(session, workspace, session_state.head));
            let events = first(session_state.head);
            let source = match place {
                QueuePlace::Of(turn) if !events.is_empty() => {
                    queue::push_beginning(&mut batch, turn);
                    EventSource::Queue
                }
                _ => EventSource::Client,
            };
            for event in &events {
                append::push_event(&mut batch, event, source)?;
            }
            match self.database.write(batch).await {
                Ok(_) => {
                    let claim = SessionClaim {
                        session: session.clone(),
                        lease: lease_name(session),
                        token,
                        head: session_state.head + events.len() as u64,
                        database: self.database.clone(),
                        released: AtomicBool::new(false),
                    };
                    return Ok((claim, events));
                }
                // Another process was faster. The next attempt sees the owner, or a free session.
                Err(StoreError::Conflict { .. }) if attempt < MAX_CLAIM_ATTEMPTS => attempt += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Renews a claim that has nothing to append. Needed at least every 30 seconds.
    pub async fn renew_claim(&self, claim: &SessionClaim) -> Result<(), StoreError> {
        let renewal = lease::build_renewal(self.clock, claim.lease(), claim.token());
        let batch = Batch::from(renewal).durability(Durability::ProcessCrash);
        let renewed = self.database.write(batch).await.map(drop);
        self.explain_conflict(claim, renewed).await
    }

    /// Releases a session. It is not an error if another process has already taken it over.
    pub async fn release_claim(&self, claim: SessionClaim) -> Result<(), StoreError> {
        let release = lease::build_release(claim.lease(), claim.token());
        let batch = Batch::from(release).durability(Durability::ProcessCrash);
        self.database.write(batch).await?;
        claim.mark_released();
        Ok(())
    }

    /// Says that the session was lost, if that is why a write was refused.
    pub(super) async fn explain_conflict(
        &self,
        claim: &SessionClaim,
        written: Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Err(StoreError::Conflict { .. }) = written else { return written };
        let statement = Statement::new("SELECT 1 FROM leases WHERE name = $1 AND token = $2")
            .bind(claim.lease())
            .bind(claim.token());
        // If this cannot be read, the conflict itself is reported.
        match self.database.query(statement).await {
            Ok(rows) if rows.is_empty() => {
                Err(StoreError::SessionLost { session: claim.session().to_string() })
            }
            _ => written,
        }
    }

    /// Deletes a session with all its data, unless a live process works in it. Returns whether it
    /// existed.
    pub async fn delete_session(&self, id: &SessionId) -> Result<bool, StoreError> {
        let session_state = self.read_session_state(id).await?;
        if let Some(owner) = session_state.holder(self) {
            return Err(StoreError::SessionInUse { session: id.to_string(), owner });
        }
        if !session_state.exists {
            return Ok(false);
        }
        // The lease is taken first, so that no process appends to a session that is being deleted.
        let token = random_token();
        let mut batch = Batch::with_capacity(10);
        batch.push(lease::build_take(self.clock, id, token, session_state.lease.as_ref()));
        for sql in [
            "DELETE FROM events WHERE session = $1",
            "DELETE FROM queued_turns WHERE session = $1",
            "DELETE FROM work WHERE session = $1",
            "DELETE FROM open_turns WHERE session = $1",
            "DELETE FROM approvals WHERE session = $1",
            "DELETE FROM outputs WHERE session = $1",
            "DELETE FROM redacted_events WHERE session = $1",
            "DELETE FROM sessions WHERE id = $1",
        ] {
            batch.push(Statement::new(sql).bind(id.as_str()));
        }
        batch.push(lease::build_release(&lease_name(id), token));
        self.database.write(batch).await.map(|_| true)
    }

    async fn read_session_state(&self, session: &SessionId) -> Result<SessionState, StoreError> {
        let statement = timed!(
            self.clock,
            "SELECT (SELECT COUNT(*) FROM sessions WHERE id = $1), \
             (SELECT COALESCE(MAX(seq), 0) FROM events WHERE session = $1), \
             (SELECT id FROM open_turns WHERE session = $1 AND promised = 1), \
             (SELECT turn FROM queued_turns WHERE session = $1 ORDER BY position LIMIT 1), \
             (SELECT MIN(position) FROM queued_turns WHERE session = $1), \
             (SELECT MAX(position) FROM queued_turns WHERE session = $1), \
             lease.token, lease.incarnation, lease.owner_pid, lease.owner_host, \
             lease.owner_start, lease.expires_at, ",
            "$3",
            " FROM (SELECT 1 AS one) AS always LEFT JOIN leases AS lease ON lease.name = $2"
        )
        .bind(session.as_str())
        .bind(lease_name(session));
        let rows = self.database.query(self.clock.bind_now(statement)).await?;
        let row = rows.first().ok_or_else(|| StoreError::query("a query without a row"))?;
        Ok(SessionState {
            exists: row.boolean(0)?,
            head: row.unsigned(1)?,
            waiting: WaitingTurns::read(self, row, 2)?,
            lease: SessionLease::read(row, 6)?,
        })
    }
}

/// The state of a session that a claim needs, read at one moment.
struct SessionState {
    exists: bool,
    head: u64,
    waiting: WaitingTurns,
    lease: Option<SessionLease>,
}

impl SessionState {
    fn holder(&self, journal: &Journal) -> Option<LeaseOwner> {
        self.lease.as_ref().and_then(|lease| lease.holder(journal.clock))
    }
}

/// Creates the session, or checks that no event was added since the head was read: between the two,
/// another process may have claimed the session, written to it and released it.
fn create_session(session: &SessionId, workspace: &str, head: u64) -> Statement {
    let now = Timestamp::now().as_microseconds();
    Statement::new(
        "INSERT INTO sessions (id, title, workspace, created_at, updated_at, turns, last_use) \
         VALUES ($1, '', $2, $3, $3, 0, \
         (SELECT COALESCE(MAX(last_use), 0) + 1 FROM sessions)) \
         ON CONFLICT (id) DO UPDATE SET workspace = sessions.workspace \
         WHERE (SELECT COALESCE(MAX(seq), 0) FROM events WHERE session = $1) = $4",
    )
    .bind(session.as_str())
    .bind(workspace)
    .bind(now)
    .bind(i64::try_from(head).unwrap_or(i64::MAX))
    .expect_rows(1)
}

/// Returns 63 random bits. Both halves of the id are needed: each has a few fixed bits.
fn random_token() -> i64 {
    let (high, low) = Uuid::new_v4().as_u64_pair();
    i64::try_from((high ^ low.rotate_left(32)) >> 1).unwrap_or(i64::MAX)
}
