//! Becoming a memory: the gate, what is known already, and what a new one takes the place of.

use lango_protocol::{EventBody, SessionId, Timestamp, TurnId};
use lango_retrieval::{Mode, Search, Space};
use lango_store::{Batch, Statement, StoreError};

use crate::ChroniclerError;
use crate::gate::{self, Evidence, Refusal, is_duplicate};
use crate::memory::{Memory, Stores};
use crate::record::{MemoryKind, MemoryOrigin, SourceMessage, StoredMemory, fresh_id};
use crate::shelf::COLLECTION;
use crate::subject::supersedes;

/// Memories like a new one that are looked at.
const NEIGHBOURS: usize = 12;

/// Turns of a session that evidence is taken from, counted back from its end.
const EVIDENCE: u32 = 300;

/// What is to become a memory.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) kind: MemoryKind,
    pub(crate) content: String,
    pub(crate) about: String,
    pub(crate) origin: MemoryOrigin,
    pub(crate) at: Timestamp,
    pub(crate) session: Option<SessionId>,
    pub(crate) turn: Option<TurnId>,
    pub(crate) sources: Vec<SourceMessage>,
}

/// A memory and what it takes the place of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Admitted {
    pub(crate) memory: StoredMemory,
    pub(crate) instead_of: Vec<String>,
}

impl Stores {
    /// Asks the gate, and finds what a candidate takes the place of. Nothing is written. `pending`
    /// are memories that will be written along with it.
    pub(crate) async fn admit(
        &self,
        candidate: Candidate,
        pending: &[Admitted],
    ) -> Result<Admitted, ChroniclerError> {
        let content = gate::statement(&candidate.content)?;
        let mut instead_of = Vec::new();
        for before in pending {
            if is_duplicate(&content, &before.memory.content, None) {
                return Err(Refusal::Duplicate(before.memory.id.clone()).into());
            }
            if supersedes(&content, &before.memory.content, None) {
                instead_of.push(before.memory.id.clone());
            }
        }
        let gone: Vec<&String> = pending.iter().flat_map(|before| &before.instead_of).collect();
        for (known, similarity) in self.neighbours(&content).await? {
            if gone.contains(&&known.id) {
                continue;
            }
            if is_duplicate(&content, &known.content, similarity) {
                return Err(Refusal::Duplicate(known.id).into());
            }
            // What was said earlier never takes the place of what was said later.
            if known.at <= candidate.at && supersedes(&content, &known.content, similarity) {
                instead_of.push(known.id);
            }
        }
        let Candidate { kind, about, origin, at, session, turn, sources, .. } = candidate;
        let created_at = Timestamp::now();
        let id = fresh_id('m');
        let memory = StoredMemory {
            id,
            kind,
            content,
            about: crate::text::cut(&crate::text::one_line(&about), 100),
            origin,
            superseded_by: None,
            at,
            created_at,
            session,
            turn,
            sources,
        };
        Ok(Admitted { memory, instead_of })
    }

    /// The statements that write it.
    pub(crate) async fn admission(
        &self,
        admitted: &Admitted,
    ) -> Result<Vec<Statement>, ChroniclerError> {
        let mut statements = self.insertion(&admitted.memory).await?;
        for old in &admitted.instead_of {
            statements.extend(self.supersession(old, &admitted.memory.id));
        }
        Ok(statements)
    }

    /// Memories that hold and are like a text.
    async fn neighbours(
        &self,
        text: &str,
    ) -> Result<Vec<(StoredMemory, Option<f32>)>, ChroniclerError> {
        let search = Search { mode: Mode::Hybrid, ..memories_like(text, NEIGHBOURS) };
        let found = self.retrieval.search(&search).await?;
        let mut memories = Vec::with_capacity(found.hits.len());
        for hit in found.hits {
            if let Some(memory) = self.memory(&hit.entry.key).await?
                && memory.superseded_by.is_none()
            {
                memories.push((memory, hit.similarity));
            }
        }
        Ok(memories)
    }

    /// What the user said in a session, and what came from elsewhere, up to now.
    pub(crate) async fn evidence(&self, session: &SessionId) -> Result<Evidence, ChroniclerError> {
        // What was said longer ago is out of what an agent sees anyway.
        let mut after = self.journal.position_before(session, EVIDENCE).await?;
        let mut evidence = Evidence::default();
        loop {
            let events = self.journal.events(session, after, 500).await?;
            let Some(last) = events.last() else { return Ok(evidence) };
            after = last.seq;
            for event in &events {
                match &event.body {
                    EventBody::UserMessage { text, attachment, sender, .. } => {
                        // What somebody else sent is not the user's word.
                        match sender {
                            None => evidence.said(text),
                            Some(_) => evidence.read(text),
                        }
                        if let Some(text) = attachment {
                            evidence.read(text);
                        }
                    }
                    // The chronicler's own results hold what the user said, and what it refused.
                    EventBody::ToolResult { tool, output, .. } if !is_own(tool) => {
                        evidence.read(output);
                    }
                    _ => {}
                }
            }
        }
    }
}

fn is_own(tool: &str) -> bool {
    ["memory_", "observe_", "reflect_"].iter().any(|prefix| tool.starts_with(prefix))
}

impl Memory {
    /// Stores what an agent was asked to remember, if the user said it in this session.
    pub(crate) async fn store(
        &self,
        candidate: Candidate,
        session: &SessionId,
    ) -> Result<Admitted, ChroniclerError> {
        let stores = self.stores();
        // The form first: a secret must not be named in a reason.
        gate::statement(&candidate.content)?;
        stores.evidence(session).await?.supports(&candidate.content)?;
        self.write(candidate).await
    }

    /// Stores a candidate whose origin was checked.
    async fn write(&self, candidate: Candidate) -> Result<Admitted, ChroniclerError> {
        let stores = self.stores();
        let mut attempt = 0;
        loop {
            let admitted = stores.admit(candidate.clone(), &[]).await?;
            let mut batch = Batch::new();
            for statement in stores.admission(&admitted).await? {
                batch.push(statement);
            }
            match stores.database.write(batch).await {
                Ok(_) => return Ok(admitted),
                // Somebody else took the place of the same memory; look again.
                Err(StoreError::Conflict { .. }) if attempt < 3 => attempt += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Puts other words in the place of a memory. The user does this; the old words are kept as
    /// superseded.
    pub async fn edit(&self, id: &str, content: &str) -> Result<StoredMemory, ChroniclerError> {
        let stores = self.stores();
        let known = stores.memory(id).await?.filter(|memory| memory.superseded_by.is_none());
        let Some(old) = known else { return Err(ChroniclerError::Unknown(id.to_owned())) };
        let content = gate::statement(content)?;
        let now = Timestamp::now();
        let memory = StoredMemory {
            id: fresh_id('m'),
            content,
            origin: MemoryOrigin::Edited,
            at: now,
            created_at: now,
            ..old.clone()
        };
        let mut batch = Batch::new();
        for statement in stores.insertion(&memory).await? {
            batch.push(statement);
        }
        for statement in stores.supersession(&old.id, &memory.id) {
            batch.push(statement);
        }
        stores.database.write(batch).await?;
        Ok(memory)
    }

    /// Finds memories by words and meaning, the best first.
    pub async fn search(
        &self,
        query: &str,
        limit: usize,
    ) -> Result<Vec<(StoredMemory, f64)>, ChroniclerError> {
        let stores = self.stores();
        let found = stores.retrieval.search(&memories_like(query, limit.min(100))).await?;
        let mut memories = Vec::with_capacity(found.hits.len());
        for hit in found.hits {
            if let Some(memory) = stores.memory(&hit.entry.key).await? {
                memories.push((memory, hit.score));
            }
        }
        Ok(memories)
    }
}

/// A search among memories alone.
pub(crate) fn memories_like(text: &str, limit: usize) -> Search {
    Search { collections: vec![COLLECTION.to_owned()], ..Search::new(Space::Memories, text, limit) }
}

/// The event of a message, as a source.
pub(crate) fn source(event: &lango_protocol::Event) -> SourceMessage {
    SourceMessage { event: event.id.to_string(), seq: event.seq }
}
