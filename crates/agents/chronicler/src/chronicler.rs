//! Does the background work: noting, observing, reflecting, and the rest of forgetting. It runs
//! when it is called, does what is due, and returns; there is no timer.

use lango_protocol::{Event, SessionId, Space};
use lango_runtime::FinishedTurn;
use tokio_util::sync::CancellationToken;

use crate::ChroniclerError;
use crate::memory::{Memory, MemorySystem};
use crate::record::{Observation, Reflection};

/// Limits the sessions that [`Chronicler::work_on_recent_sessions`] works on.
const MAX_SESSION_COUNT: u32 = 200;

/// Limits the runs of one call; the rest is due the next time.
const MAX_RUN_COUNT: usize = 20;

/// Says what was done.
#[derive(Debug, Clone, Default)]
pub struct ChroniclerReport {
    /// Memories that are new.
    pub memories: usize,
    /// Observations that are new.
    pub observations: Vec<Observation>,
    /// Reflections that are new.
    pub reflections: Vec<Reflection>,
    /// The number of journal texts that were redacted.
    pub redacted: u64,
}

impl ChroniclerReport {
    fn add_report(&mut self, other: Self) {
        self.memories += other.memories;
        self.observations.extend(other.observations);
        self.reflections.extend(other.reflections);
        self.redacted += other.redacted;
    }

    /// Tells whether nothing was done.
    pub fn is_empty(&self) -> bool {
        self.memories == 0
            && self.observations.is_empty()
            && self.reflections.is_empty()
            && self.redacted == 0
    }
}

/// Does the background work of a memory.
#[derive(Debug, Clone)]
pub struct Chronicler {
    memory: MemorySystem,
}

impl Chronicler {
    /// Creates the chronicler of these memories.
    pub fn new(memory: MemorySystem) -> Self {
        Self { memory }
    }

    /// Tells whether there is work for a session. Calls no model.
    pub async fn has_work(&self, session: &SessionId) -> Result<bool, ChroniclerError> {
        let memory = self.memory.of_session(session).await?;
        let stores = memory.stores();
        let mark = stores.read_watermark(session).await?;
        let unnoted = !stores.journal.read_messages_after(session, mark.noted, 1).await?.is_empty();
        Ok(unnoted
            || memory.is_observation_due(session).await?
            || memory.is_reflection_due(session).await?)
    }

    /// Does what is due for a session: notes the user's statements, observes if enough was said,
    /// condenses if enough was observed. One process works on one session at a time.
    pub async fn work_on_session(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
    ) -> Result<ChroniclerReport, ChroniclerError> {
        let _working = self.memory.working.lock().await;
        let (redacted, _) = self.memory.apply_redactions().await?;
        Ok(ChroniclerReport { redacted, ..self.do_due_work(session, &[], cancel).await? })
    }

    /// Does what is due for the session of a turn that has just ended.
    pub(crate) async fn work_on_turn(
        &self,
        turn: &FinishedTurn,
    ) -> Result<ChroniclerReport, ChroniclerError> {
        let _working = self.memory.working.lock().await;
        let (redacted, _) = self.memory.apply_redactions().await?;
        let events = turn.events(self.memory.journal()).await?;
        let never = CancellationToken::new();
        let report = self.do_due_work(&turn.session, &events, &never).await?;
        Ok(ChroniclerReport { redacted, ..report })
    }

    /// Does the same for all recent sessions.
    pub async fn work_on_recent_sessions(
        &self,
        cancel: &CancellationToken,
    ) -> Result<ChroniclerReport, ChroniclerError> {
        let _working = self.memory.working.lock().await;
        let (redacted, _) = self.memory.apply_redactions().await?;
        let mut report = ChroniclerReport { redacted, ..ChroniclerReport::default() };
        for session in self.memory.journal().list_sessions(MAX_SESSION_COUNT).await? {
            if cancel.is_cancelled() {
                break;
            }
            report.add_report(self.do_due_work(&session.id, &[], cancel).await?);
        }
        Ok(report)
    }

    /// Does what is due. `turn` has the events of a turn that has just ended, if they are known.
    async fn do_due_work(
        &self,
        session: &SessionId,
        turn: &[Event],
        cancel: &CancellationToken,
    ) -> Result<ChroniclerReport, ChroniclerError> {
        let memory = self.memory.of_session(session).await?;
        let mut report = ChroniclerReport {
            memories: memory.note_statements(session, turn).await?,
            ..ChroniclerReport::default()
        };
        for _ in 0..MAX_RUN_COUNT {
            if cancel.is_cancelled() || !memory.is_observation_due(session).await? {
                break;
            }
            let run = memory.observe_session(session, cancel).await?;
            report.memories += run.memories;
            report.observations.extend(run.observations);
            if !run.moved {
                break;
            }
        }
        if !cancel.is_cancelled() && memory.is_reflection_due(session).await? {
            report.reflections.extend(memory.condense_observations(session, "", cancel).await?);
        }
        Ok(report)
    }

    /// Observes a session now, even if little was said.
    pub async fn observe_now(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
    ) -> Result<ChroniclerReport, ChroniclerError> {
        let _working = self.memory.working.lock().await;
        let memory = self.memory.of_session(session).await?;
        let mut report = ChroniclerReport {
            memories: memory.note_statements(session, &[]).await?,
            ..ChroniclerReport::default()
        };
        for _ in 0..MAX_RUN_COUNT {
            let run = memory.observe_session(session, cancel).await?;
            report.memories += run.memories;
            report.observations.extend(run.observations);
            if !run.moved {
                break;
            }
        }
        Ok(report)
    }

    /// Condenses the observations of a session now, or with `about` only those about it.
    pub async fn reflect_now(
        &self,
        session: &SessionId,
        about: &str,
        cancel: &CancellationToken,
    ) -> Result<Option<Reflection>, ChroniclerError> {
        let _working = self.memory.working.lock().await;
        let memory = self.memory.of_session(session).await?;
        memory.condense_observations(session, about, cancel).await
    }

    /// Returns the tokens that observing and reflecting used today.
    pub async fn count_tokens_today(&self) -> Result<u64, ChroniclerError> {
        self.owners_memory().stores().count_tokens_today().await
    }

    /// Returns the memories of all spaces.
    pub fn memory(&self) -> &MemorySystem {
        &self.memory
    }

    fn owners_memory(&self) -> Memory {
        self.memory.in_space(&Space::Owner)
    }
}
