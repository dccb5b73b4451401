//! Noting: what the user states about themselves becomes a memory at once, in their own words and
//! without a model, so that the next conversation knows it.

use lango_protocol::SessionId;
use lango_store::{Batch, StoreError};

use crate::ChroniclerError;
use crate::extract::stated;
use crate::heard::move_mark;
use crate::memory::Memory;
use crate::record::{MemoryOrigin, Priority};
use crate::remember::{Admitted, Candidate};

/// Tokens of conversation that are noted in one transaction.
const STEP: u64 = 4_000;

impl Memory {
    /// Notes what has not been noted; says how many memories that made.
    pub(crate) async fn note(&self, session: &SessionId) -> Result<usize, ChroniclerError> {
        let stores = self.stores();
        stores.ensure_watermark(session).await?;
        let mut made = 0;
        loop {
            let mark = stores.watermark(session).await?;
            let heard = stores.heard(session, mark.noted, STEP).await?;
            let Some(end) = heard.end else { return Ok(made) };
            let mut admitted: Vec<Admitted> = Vec::new();
            for said in heard.messages.iter().filter(|said| said.by_user) {
                for stated in stated(&said.text) {
                    if stated.priority == Priority::Low {
                        continue;
                    }
                    let candidate = Candidate {
                        kind: stated.kind,
                        content: stated.text,
                        about: String::new(),
                        origin: MemoryOrigin::Said,
                        at: said.at,
                        session: Some(session.clone()),
                        turn: Some(said.turn),
                        sources: vec![said.source.clone()],
                    };
                    match stores.admit(candidate, &admitted).await {
                        Ok(new) => admitted.push(new),
                        // Known already, or nothing to remember: that is what the gate is for.
                        Err(ChroniclerError::Refused(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            let mut batch = Batch::new().with(move_mark(session, true, mark.noted, end));
            for new in &admitted {
                for statement in stores.admission(new).await? {
                    batch.push(statement);
                }
            }
            match stores.database.write(batch).await {
                Ok(_) => made += admitted.len(),
                // Another process noted it.
                Err(StoreError::Conflict { .. }) => {
                    if stores.watermark(session).await? == mark {
                        // It was a memory that changed under us: once more.
                        continue;
                    }
                    return Ok(made);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
