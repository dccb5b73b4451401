//! Stores memories: asks the gate, finds duplicates, and supersedes older memories.

use lango_protocol::{EventBody, SessionId, Timestamp, TurnId};
use lango_retrieval::{EntryKind, RetrievalMode, SearchQuery};
use lango_store::{Batch, Statement, StoreError};
use lango_text::to_one_line;

use crate::ChroniclerError;
use crate::gate::{self, MemoryRefusal, SessionEvidence, is_duplicate};
use crate::memory::{Memory, MemoryStores};
use crate::record::{MemoryKind, MemoryOrigin, SourceMessage, StoredMemory, generate_id};
use crate::rows::MEMORY_COLLECTION;
use crate::subject::supersedes;

/// Limits the similar memories that are compared with a new one.
const MAX_NEIGHBOUR_COUNT: usize = 12;

/// Limits the turns that evidence is taken from, counted back from the end of a session.
const EVIDENCE_TURN_COUNT: u32 = 300;

/// Represents a text that may become a memory.
#[derive(Debug, Clone)]
pub(crate) struct MemoryCandidate {
    pub(crate) kind: MemoryKind,
    pub(crate) content: String,
    pub(crate) about: String,
    pub(crate) origin: MemoryOrigin,
    pub(crate) at: Timestamp,
    pub(crate) session: Option<SessionId>,
    pub(crate) turn: Option<TurnId>,
    pub(crate) sources: Vec<SourceMessage>,
}

/// Represents a memory with the memories that it supersedes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AdmittedMemory {
    pub(crate) memory: StoredMemory,
    pub(crate) instead_of: Vec<String>,
}

impl MemoryStores {
    /// Asks the gate, and finds the memories that a candidate supersedes. Nothing is written.
    /// `pending` are memories that will be written together with it.
    pub(crate) async fn admit_candidate(
        &self,
        candidate: MemoryCandidate,
        pending: &[AdmittedMemory],
    ) -> Result<AdmittedMemory, ChroniclerError> {
        let content = gate::check_statement(&candidate.content)?;
        let mut instead_of = Vec::new();
        for before in pending {
            if is_duplicate(&content, &before.memory.content, None) {
                return Err(MemoryRefusal::Duplicate(before.memory.id.clone()).into());
            }
            if supersedes(&content, &before.memory.content, None) {
                instead_of.push(before.memory.id.clone());
            }
        }
        let gone: Vec<&String> = pending.iter().flat_map(|before| &before.instead_of).collect();
        for (known, similarity) in self.find_similar_memories(&content).await? {
            if gone.contains(&&known.id) {
                continue;
            }
            if is_duplicate(&content, &known.content, similarity) {
                return Err(MemoryRefusal::Duplicate(known.id).into());
            }
            // An earlier statement never supersedes a later one.
            if known.at <= candidate.at && supersedes(&content, &known.content, similarity) {
                instead_of.push(known.id);
            }
        }
        let MemoryCandidate { kind, about, origin, at, session, turn, sources, .. } = candidate;
        let created_at = Timestamp::now();
        let id = generate_id('m');
        let memory = StoredMemory {
            id,
            kind,
            content,
            about: to_one_line(&about, 100),
            origin,
            superseded_by: None,
            at,
            created_at,
            session,
            turn,
            sources,
        };
        Ok(AdmittedMemory { memory, instead_of })
    }

    /// Returns the statements that write an admitted memory.
    pub(crate) async fn build_admission(
        &self,
        admitted: &AdmittedMemory,
    ) -> Result<Vec<Statement>, ChroniclerError> {
        let mut statements = self.build_memory_insertion(&admitted.memory).await?;
        for old in &admitted.instead_of {
            statements.extend(self.build_supersession(old, &admitted.memory.id));
        }
        Ok(statements)
    }

    /// Returns the current memories that are similar to a text.
    async fn find_similar_memories(
        &self,
        text: &str,
    ) -> Result<Vec<(StoredMemory, Option<f32>)>, ChroniclerError> {
        let search = SearchQuery {
            mode: RetrievalMode::Hybrid,
            ..build_memory_search(text, MAX_NEIGHBOUR_COUNT)
        };
        let found = self.retrieval.search(&search).await?;
        let mut memories = Vec::with_capacity(found.hits.len());
        for hit in found.hits {
            if let Some(memory) = self.find_memory(&hit.entry.key).await?
                && memory.superseded_by.is_none()
            {
                memories.push((memory, hit.similarity));
            }
        }
        Ok(memories)
    }

    /// Returns the words of the user in a session, and those from tools and other senders.
    pub(crate) async fn collect_evidence(
        &self,
        session: &SessionId,
    ) -> Result<SessionEvidence, ChroniclerError> {
        // Agents do not see older messages anyway.
        let mut after = self.journal.find_position_before(session, EVIDENCE_TURN_COUNT).await?;
        let mut evidence = SessionEvidence::default();
        loop {
            let events = self.journal.read_events(session, after, 500).await?;
            let Some(last) = events.last() else { return Ok(evidence) };
            after = last.seq;
            for event in &events {
                match &event.body {
                    EventBody::UserMessage { text, attachment, sender, .. } => {
                        // A message of another sender is not the user's.
                        if self.space().is_own_message(sender.as_ref()) {
                            evidence.add_user_text(text);
                        } else {
                            evidence.add_foreign_text(text);
                        }
                        if let Some(text) = attachment {
                            evidence.add_foreign_text(text);
                        }
                    }
                    // The chronicler's own results contain the user's words, and what it refused.
                    EventBody::ToolResult { tool, output, .. } if !is_own(tool) => {
                        evidence.add_foreign_text(output);
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
    /// Stores a memory on request of an agent, if the user said it in this session.
    pub(crate) async fn store_if_said(
        &self,
        candidate: MemoryCandidate,
        session: &SessionId,
    ) -> Result<AdmittedMemory, ChroniclerError> {
        let stores = self.stores();
        // The form is checked first: a secret must not appear in a refusal.
        gate::check_statement(&candidate.content)?;
        stores.collect_evidence(session).await?.check_support(&candidate.content)?;
        self.store_candidate(candidate).await
    }

    /// Stores a candidate whose origin was checked.
    async fn store_candidate(
        &self,
        candidate: MemoryCandidate,
    ) -> Result<AdmittedMemory, ChroniclerError> {
        let stores = self.stores();
        let mut attempt = 0;
        loop {
            let admitted = stores.admit_candidate(candidate.clone(), &[]).await?;
            let mut batch = Batch::new();
            for statement in stores.build_admission(&admitted).await? {
                batch.push(statement);
            }
            match stores.database.write(batch).await {
                Ok(_) => return Ok(admitted),
                // Another writer superseded the same memory; try again.
                Err(StoreError::Conflict { .. }) if attempt < 3 => attempt += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Replaces the text of a memory on the user's command. The old memory is kept as superseded.
    pub async fn edit_memory(
        &self,
        id: &str,
        content: &str,
    ) -> Result<StoredMemory, ChroniclerError> {
        let stores = self.stores();
        let known = stores.find_memory(id).await?.filter(|memory| memory.superseded_by.is_none());
        let Some(old) = known else { return Err(ChroniclerError::Unknown(id.to_owned())) };
        let content = gate::check_statement(content)?;
        let now = Timestamp::now();
        let memory = StoredMemory {
            id: generate_id('m'),
            content,
            origin: MemoryOrigin::Edited,
            at: now,
            created_at: now,
            ..old.clone()
        };
        let mut batch = Batch::new();
        for statement in stores.build_memory_insertion(&memory).await? {
            batch.push(statement);
        }
        for statement in stores.build_supersession(&old.id, &memory.id) {
            batch.push(statement);
        }
        stores.database.write(batch).await?;
        Ok(memory)
    }

    /// Finds memories by words and meaning, the best first.
    pub async fn search_memories(
        &self,
        query: &str,
        limit: usize,
    ) -> Result<Vec<(StoredMemory, f64)>, ChroniclerError> {
        let stores = self.stores();
        let found = stores.retrieval.search(&build_memory_search(query, limit.min(100))).await?;
        let mut memories = Vec::with_capacity(found.hits.len());
        for hit in found.hits {
            if let Some(memory) = stores.find_memory(&hit.entry.key).await? {
                memories.push((memory, hit.score));
            }
        }
        Ok(memories)
    }
}

/// Returns a search among memories only.
pub(crate) fn build_memory_search(text: &str, limit: usize) -> SearchQuery {
    SearchQuery {
        collections: vec![MEMORY_COLLECTION.to_owned()],
        ..SearchQuery::new(EntryKind::Memories, text, limit)
    }
}

/// Returns the event of a message as a source.
pub(crate) fn source_of_event(event: &lango_protocol::Event) -> SourceMessage {
    SourceMessage { event: event.id.to_string(), seq: event.seq }
}
