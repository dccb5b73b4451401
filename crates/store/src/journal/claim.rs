//! Taking a session for this process, and giving it back.

use lango_protocol::{Event, SessionId, Timestamp};
use uuid::Uuid;

use super::owner::Owner;
use super::{Journal, append, lease};
use crate::{Batch, Statement, StoreError};

/// How often a claim looks again after somebody else changed the session under it.
const ATTEMPTS: u32 = 4;

/// The right to append to a session. Proven again by every append.
#[derive(Debug)]
pub struct Claim {
    session: SessionId,
    lease: String,
    token: i64,
    head: u64,
}

impl Claim {
    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The position of the last event when the session was claimed, first events included; 0
    /// where there was none.
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

/// Why a session could not be claimed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// The user: another process, or another part of this one, works in the session.
    #[error("the session is in use by {0}. Wait for it to finish, or use another session")]
    Busy(Owner),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Journal {
    /// Takes a session for this process, and creates it where it is missing. A session whose
    /// owner died is taken over at once where that can be seen, and after its lease otherwise.
    pub async fn claim(&self, session: &SessionId, workspace: &str) -> Result<Claim, ClaimError> {
        self.claim_with(session, workspace, |_| Vec::new()).await.map(|(claim, _)| claim)
    }

    /// The same, with the first events in the same commit. They are made for the position of the
    /// last event there is, and made again where somebody else was faster.
    pub async fn claim_with(
        &self,
        session: &SessionId,
        workspace: &str,
        first: impl Fn(u64) -> Vec<Event>,
    ) -> Result<(Claim, Vec<Event>), ClaimError> {
        let mut attempt = 1;
        loop {
            let standing = self.standing(session).await?;
            if let Some(owner) = standing.holder() {
                return Err(ClaimError::Busy(owner));
            }
            let token = random_token();
            let mut batch = Batch::with_capacity(7)
                .with(lease::take(session, token, standing.lease.as_ref()))
                .with(create_session(session, workspace, standing.head));
            let events = first(standing.head);
            for event in &events {
                append::push_event(&mut batch, event)?;
            }
            match self.database.write(batch).await {
                Ok(_) => {
                    let (session, lease) = (session.clone(), lease::name(session));
                    let head = standing.head + events.len() as u64;
                    return Ok((Claim { session, lease, token, head }, events));
                }
                // Somebody was faster. The next look says who, or that they are done already.
                Err(StoreError::Conflict { .. }) if attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Keeps a claim that has nothing to append. Needed at least every 30 seconds.
    pub async fn renew(&self, claim: &Claim) -> Result<(), StoreError> {
        let renewal = lease::renew(claim.lease(), claim.token());
        self.database.write(renewal.into()).await.map(drop)
    }

    /// Gives a session back. Not an error where another process has already taken it over.
    pub async fn release(&self, claim: Claim) -> Result<(), StoreError> {
        let release = lease::release(claim.lease(), claim.token());
        self.database.write(release.into()).await.map(drop)
    }

    /// Deletes a session with everything in it, unless a live process works in it. Says whether
    /// there was one.
    pub async fn delete_session(&self, id: &SessionId) -> Result<bool, StoreError> {
        let standing = self.standing(id).await?;
        if let Some(owner) = standing.holder() {
            return Err(StoreError::Held { session: id.to_string(), owner });
        }
        if !standing.exists {
            return Ok(false);
        }
        // The lease is taken first, so that nobody appends to what is going away.
        let token = random_token();
        let mut batch = Batch::with_capacity(7);
        batch.push(lease::take(id, token, standing.lease.as_ref()));
        for sql in [
            "DELETE FROM events WHERE session = $1",
            "DELETE FROM open_turns WHERE session = $1",
            "DELETE FROM approvals WHERE session = $1",
            "DELETE FROM outputs WHERE session = $1",
            "DELETE FROM sessions WHERE id = $1",
        ] {
            batch.push(Statement::new(sql).bind(id.as_str()));
        }
        batch.push(lease::release(&lease::name(id), token));
        self.database.write(batch).await.map(|_| true)
    }
}

/// Creates the session, or checks that no event was added since the head was read: between the
/// two, another process may have claimed the session, written to it and given it back.
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

/// 63 random bits. Both halves of the id are needed: each has a few bits that are fixed.
fn random_token() -> i64 {
    let (high, low) = Uuid::new_v4().as_u64_pair();
    i64::try_from((high ^ low.rotate_left(32)) >> 1).unwrap_or(i64::MAX)
}
