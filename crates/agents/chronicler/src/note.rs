//! Notes the user's statements about themselves as memories at once, in their own words and without
//! a model, so that the next conversation has them.

use lango_protocol::{Event, SessionId};
use lango_store::{Batch, Durability, StoreError};

use crate::ChroniclerError;
use crate::conversation::{ConversationPart, create_watermark, move_watermark};
use crate::extract::extract_statements;
use crate::memory::Memory;
use crate::record::{MemoryOrigin, Priority};
use crate::remember::{AdmittedMemory, MemoryCandidate};

/// Limits the conversation that is noted in one transaction, in tokens.
const MAX_STEP_TOKENS: u64 = 4_000;

impl Memory {
    /// Notes statements that have not been noted; returns how many memories were created. `turn` has
    /// the events of a turn that has just ended, so that they need not be read if nothing else is
    /// due.
    pub(crate) async fn note_statements(
        &self,
        session: &SessionId,
        turn: &[Event],
    ) -> Result<usize, ChroniclerError> {
        let stores = self.stores();
        let mut created = 0;
        loop {
            let mark = stores.read_watermark(session).await?;
            let part = match ConversationPart::from_turn(stores.space(), turn, mark.noted) {
                Some(part) => part,
                None => stores.read_turns(session, mark.noted, MAX_STEP_TOKENS).await?,
            };
            let Some(end) = part.end else { return Ok(created) };
            let mut admitted: Vec<AdmittedMemory> = Vec::new();
            for message in part.messages.iter().filter(|message| message.by_user) {
                for stated in extract_statements(&message.text) {
                    if stated.priority == Priority::Low {
                        continue;
                    }
                    let candidate = MemoryCandidate {
                        kind: stated.kind,
                        content: stated.text,
                        about: String::new(),
                        origin: MemoryOrigin::Said,
                        at: message.at,
                        session: Some(session.clone()),
                        turn: Some(message.turn),
                        sources: vec![message.source.clone()],
                    };
                    match stores.admit_candidate(candidate, &admitted).await {
                        Ok(new) => admitted.push(new),
                        // Known already, or nothing to remember: the gate is there to refuse it.
                        Err(ChroniclerError::Refused(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            let mut batch = Batch::new().with(create_watermark(session)).with(move_watermark(
                session,
                true,
                mark.noted,
                end,
                part.tokens,
            ));
            for new in &admitted {
                for statement in stores.build_admission(new).await? {
                    batch.push(statement);
                }
            }
            // Lost together with its watermark, it is noted again from the journal.
            let batch = batch.durability(Durability::ProcessCrash);
            match stores.database.write(batch).await {
                Ok(_) => {
                    created += admitted.len();
                    if part.is_last {
                        return Ok(created);
                    }
                }
                // Another process noted it.
                Err(StoreError::Conflict { .. }) => {
                    if stores.read_watermark(session).await? == mark {
                        // A memory changed meanwhile: try again.
                        continue;
                    }
                    return Ok(created);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
