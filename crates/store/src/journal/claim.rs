//! Claims a session for this process, and releases it.

use lango_protocol::{Event, SessionId, Timestamp};
use uuid::Uuid;

use super::owner::LeaseOwner;
use super::{Journal, append, lease};
use crate::{Batch, Durability, Statement, StoreError};

/// Limits the attempts of a claim when other processes change the session meanwhile.
const MAX_CLAIM_ATTEMPTS: u32 = 4;

/// The right to append to a session. Every append proves it again.
#[derive(Debug)]
pub struct SessionClaim {
    session: SessionId,
    lease: String,
    token: i64,
    head: u64,
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
        self.token
    }
}

/// Describes why a session could not be claimed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// For the user: another process, or another part of this one, works in the session.
    #[error("the session is in use by {0}. Wait for it to finish, or use another session")]
    Busy(LeaseOwner),
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
        self.claim_with(session, workspace, |_| Vec::new()).await.map(|(claim, _)| claim)
    }

    /// Claims a session and writes its first events in the same commit. They are created for the
    /// current head, and created again if another process was faster.
    pub async fn claim_with(
        &self,
        session: &SessionId,
        workspace: &str,
        first: impl Fn(u64) -> Vec<Event>,
    ) -> Result<(SessionClaim, Vec<Event>), ClaimError> {
        let mut attempt = 1;
        loop {
            let session_state = self.read_session_state(session).await?;
            if let Some(owner) = session_state.holder() {
                return Err(ClaimError::Busy(owner));
            }
            let token = random_token();
            // A turn is acknowledged when it ends.
            let mut batch = Batch::with_capacity(7)
                .durability(Durability::ProcessCrash)
                .with(lease::build_take(session, token, session_state.lease.as_ref()))
                .with(create_session(session, workspace, session_state.head));
            let events = first(session_state.head);
            for event in &events {
                append::push_event(&mut batch, event)?;
            }
            match self.database.write(batch).await {
                Ok(_) => {
                    let (session, lease) = (session.clone(), lease::lease_name(session));
                    let head = session_state.head + events.len() as u64;
                    return Ok((SessionClaim { session, lease, token, head }, events));
                }
                // Another process was faster. The next attempt sees the owner, or a free session.
                Err(StoreError::Conflict { .. }) if attempt < MAX_CLAIM_ATTEMPTS => attempt += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Renews a claim that has nothing to append. Needed at least every 30 seconds.
    pub async fn renew_claim(&self, claim: &SessionClaim) -> Result<(), StoreError> {
        let renewal = lease::build_renewal(claim.lease(), claim.token());
        let batch = Batch::from(renewal).durability(Durability::ProcessCrash);
        self.database.write(batch).await.map(drop)
    }

    /// Releases a session. It is not an error if another process has already taken it over.
    pub async fn release_claim(&self, claim: SessionClaim) -> Result<(), StoreError> {
        let release = lease::build_release(claim.lease(), claim.token());
        let batch = Batch::from(release).durability(Durability::ProcessCrash);
        self.database.write(batch).await.map(drop)
    }

    /// Deletes a session with all its data, unless a live process works in it. Returns whether it
    /// existed.
    pub async fn delete_session(&self, id: &SessionId) -> Result<bool, StoreError> {
        let session_state = self.read_session_state(id).await?;
        if let Some(owner) = session_state.holder() {
            return Err(StoreError::SessionInUse { session: id.to_string(), owner });
        }
        if !session_state.exists {
            return Ok(false);
        }
        // The lease is taken first, so that no process appends to a session that is being deleted.
        let token = random_token();
        let mut batch = Batch::with_capacity(7);
        batch.push(lease::build_take(id, token, session_state.lease.as_ref()));
        for sql in [
            "DELETE FROM events WHERE session = $1",
            "DELETE FROM open_turns WHERE session = $1",
            "DELETE FROM approvals WHERE session = $1",
            "DELETE FROM outputs WHERE session = $1",
            "DELETE FROM redacted_events WHERE session = $1",
            "DELETE FROM sessions WHERE id = $1",
        ] {
            batch.push(Statement::new(sql).bind(id.as_str()));
        }
        batch.push(lease::build_release(&lease::lease_name(id), token));
        self.database.write(batch).await.map(|_| true)
    }
}

/// Creates the session, or checks that no event was added since the head was read: between the two,
/// another process may have claimed the session, written to it and released it.
fn create_session(session: &SessionId, workspace: &str, head: u64) -> Statement {
    let now = Timestamp::now().as_microseconds();
    Statement::new(
        "INSERT INTO sessions (id, title, workspace, created_at, updated_at, turns) \
         VALUES ($1, '', $2, $3, $3, 0) \
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
