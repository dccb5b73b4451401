//! The background work: noting, observing, reflecting, and the rest of forgetting. It runs when it
//! is called, does what is due, and returns: nothing here waits for a timer.

use lango_protocol::SessionId;
use tokio_util::sync::CancellationToken;

use crate::ChroniclerError;
use crate::memory::Memory;
use crate::record::{Observation, Reflection};

/// Sessions that are looked at when all are.
const SESSIONS: u32 = 200;

/// The most runs of one call: what is left is due the next time.
const RUNS: usize = 20;

/// What was done.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Memories that are new.
    pub memories: usize,
    /// Observations that are new.
    pub observations: Vec<Observation>,
    /// Reflections that are new.
    pub reflections: Vec<Reflection>,
    /// Texts of the journal that what was forgotten was taken out of.
    pub redacted: u64,
}

impl Report {
    fn add(&mut self, other: Self) {
        self.memories += other.memories;
        self.observations.extend(other.observations);
        self.reflections.extend(other.reflections);
        self.redacted += other.redacted;
    }

    /// Whether anything was done.
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
    memory: Memory,
}

impl Chronicler {
    /// Works for this memory.
    pub fn new(memory: Memory) -> Self {
        Self { memory }
    }

    /// Whether there is something to do for a session. Asks no model.
    pub async fn work_due(&self, session: &SessionId) -> Result<bool, ChroniclerError> {
        let stores = self.memory.stores();
        let mark = stores.watermark(session).await?;
        let unnoted = !stores.journal.said(session, mark.noted, 1).await?.is_empty();
        Ok(unnoted
            || self.memory.observation_due(session).await?
            || self.memory.reflection_due(session).await?)
    }

    /// Does what is due for a session: notes what the user stated, observes if enough was said,
    /// condenses if enough was observed. One process works at one session at a time.
    pub async fn work(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
    ) -> Result<Report, ChroniclerError> {
        let _working = self.memory.working.lock().await;
        let (redacted, _) = self.memory.work_off_redactions().await?;
        Ok(Report { redacted, ..self.work_on(session, cancel).await? })
    }

    /// The same for all sessions that were used lately.
    pub async fn work_all(&self, cancel: &CancellationToken) -> Result<Report, ChroniclerError> {
        let _working = self.memory.working.lock().await;
        let (redacted, _) = self.memory.work_off_redactions().await?;
        let mut report = Report { redacted, ..Report::default() };
        for session in self.memory.stores().journal.sessions(SESSIONS).await? {
            if cancel.is_cancelled() {
                break;
            }
            report.add(self.work_on(&session.id, cancel).await?);
        }
        Ok(report)
    }

    async fn work_on(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
    ) -> Result<Report, ChroniclerError> {
        let mut report = Report { memories: self.memory.note(session).await?, ..Report::default() };
        for _ in 0..RUNS {
            if cancel.is_cancelled() || !self.memory.observation_due(session).await? {
                break;
            }
            let run = self.memory.observe(session, cancel).await?;
            report.memories += run.memories;
            report.observations.extend(run.observations);
            if !run.moved {
                break;
            }
        }
        if !cancel.is_cancelled() && self.memory.reflection_due(session).await? {
            report.reflections.extend(self.memory.reflect(session, "", cancel).await?);
        }
        Ok(report)
    }

    /// Observes a session now, however little was said.
    pub async fn observe_now(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
    ) -> Result<Report, ChroniclerError> {
        let _working = self.memory.working.lock().await;
        let mut report = Report { memories: self.memory.note(session).await?, ..Report::default() };
        for _ in 0..RUNS {
            let run = self.memory.observe(session, cancel).await?;
            report.memories += run.memories;
            report.observations.extend(run.observations);
            if !run.moved {
                break;
            }
        }
        Ok(report)
    }

    /// Condenses the observations of a session now, or with `about` those that have to do with it.
    pub async fn reflect_now(
        &self,
        session: &SessionId,
        about: &str,
        cancel: &CancellationToken,
    ) -> Result<Option<Reflection>, ChroniclerError> {
        let _working = self.memory.working.lock().await;
        self.memory.reflect(session, about, cancel).await
    }

    /// Tokens that observing and reflecting used today.
    pub async fn spent_today(&self) -> Result<u64, ChroniclerError> {
        self.memory.stores().spent_today().await
    }

    /// The memory it works for.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}
