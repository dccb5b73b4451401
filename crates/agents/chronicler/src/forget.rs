//! Forgets a memory, the memories that it superseded, what was derived from it, and its words in
//! the journal.

use std::collections::BTreeSet;

use lango_protocol::{EventBody, SessionId, Space, Timestamp};
use lango_runtime::find_session_space;
use lango_store::{Batch, Durability, Redaction, Statement};
use lango_text::word_coverage;

use crate::ChroniclerError;
use crate::memory::{Memory, MemoryStores, MemorySystem};
use crate::record::{SourceMessage, StoredMemory, generate_id};
use crate::rows::{corrupt_row_error, memory_key, observation_key, to_json};
use crate::text::{find_sentences, significant_words};
use crate::traces::TextTraces;

/// Lists the tables that may hold forgotten text.
const TABLES: &[&str] = &[
    "memories",
    "observations",
    "reflections",
    "redactions",
    "events",
    "outputs",
    "sessions",
    "retrieval_entries",
    "retrieval_passages",
    "retrieval_vectors",
];

/// Says what was forgotten, without its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetReport {
    /// The requested memory.
    pub memory: StoredMemory,
    /// The number of memories, including those that it superseded.
    pub memories: usize,
    /// The number of observations and reflections that were removed or rewritten.
    pub derived: usize,
    /// The number of journal texts that were changed.
    pub places: u64,
    /// True if a turn still runs; the rest is removed after it.
    pub pending: bool,
}

impl Memory {
    /// Forgets a memory. When this returns, it is in no index and in no later prompt, and in the
    /// journal only in turns that have not ended; [`MemorySystem::apply_redactions`] removes the rest.
    pub async fn forget_memory(&self, id: &str) -> Result<ForgetReport, ChroniclerError> {
        let stores = self.stores();
        let Some(memory) = stores.find_memory(id).await? else {
            return Err(ChroniclerError::Unknown(id.to_owned()));
        };
        let all = self.list_memories(true).await?;
        let family = with_ancestors(id, &all);
        let others: Vec<StoredMemory> = all
            .iter()
            .filter(|other| other.superseded_by.is_none() && !family.contains(&other.id))
            .cloned()
            .collect();
        let going: Vec<&StoredMemory> =
            all.iter().filter(|memory| family.contains(&memory.id)).collect();
        let mut texts: Vec<String> = Vec::new();
        for memory in &going {
            texts.push(memory.content.clone());
            texts.extend(stores.find_source_sentences(memory).await?);
        }
        let traces = TextTraces::new(&texts, &others);
        // The words to remove are stored until they are removed, so that a crash cannot stop the
        // rest.
        let mut batch = Batch::new().durability(Durability::PowerLoss).with(
            Statement::new(
                "INSERT INTO redactions (id, traces, created_at, client) VALUES ($1, $2, $3, $4)",
            )
            .bind(generate_id('f'))
            .bind(to_json(&traces)?)
            .bind(Timestamp::now().as_microseconds())
            .bind(stores.client()),
        );
        for memory in &going {
            for statement in stores.retrieval.build_removal(&memory_key(&memory.id)) {
                batch.push(statement);
            }
            batch.push(
                Statement::new("DELETE FROM memories WHERE id = $1 AND client = $2")
                    .bind(memory.id.as_str())
                    .bind(stores.client()),
            );
        }
        // The memory that superseded it stays and needs no link to it.
        let derived = self.forget_derived(&traces, &mut batch).await?;
        stores.database.write(batch).await?;
        self.system().context_cache.clear();
        stores.retrieval.forget_queries();
        let (places, pending) = self.system().apply_redactions().await?;
        Ok(ForgetReport { memory, memories: going.len(), derived, places, pending })
    }
}

/// Removes traces from the conversations of one space.
struct SpaceTraces<'a> {
    traces: &'a TextTraces,
    /// The sessions that a client started; none if all sessions are meant.
    sessions: Option<BTreeSet<String>>,
}

impl Redaction for SpaceTraces<'_> {
    fn concerns(&self, raw: &str) -> bool {
        self.traces.concerns(raw)
    }

    fn redact(&self, text: &str) -> Option<String> {
        self.traces.redact(text)
    }

    fn covers(&self, session: &str) -> bool {
        self.sessions.as_ref().is_none_or(|sessions| sessions.contains(session))
    }
}

impl MemorySystem {
    /// Returns the sessions in which words of a space are removed. What the owner wants forgotten
    /// goes from all of them; what a client wants forgotten goes from its own.
    async fn list_redacted_sessions(
        &self,
        space: &Space,
    ) -> Result<Option<BTreeSet<String>>, ChroniclerError> {
        if *space == Space::Owner {
            return Ok(None);
        }
        let mut sessions = BTreeSet::new();
        for session in self.journal().list_sessions(u32::MAX).await? {
            if find_session_space(self.journal(), &session.id).await?.as_ref() == Some(space) {
                sessions.insert(session.id.to_string());
            }
        }
        Ok(Some(sessions))
    }

    /// Removes forgotten words from the journal that a running turn or a crash left there. Returns
    /// how many texts changed and whether some must wait for a turn.
    pub async fn apply_redactions(&self) -> Result<(u64, bool), ChroniclerError> {
        let (database, journal) = (self.database(), self.journal());
        let rows = database
            .query(Statement::new(
                "SELECT id, traces, created_at, client FROM redactions ORDER BY created_at",
            ))
            .await?;
        if rows.is_empty() {
            return Ok((0, false));
        }
        let (mut places, mut pending) = (0, false);
        for row in &rows {
            let traces: TextTraces =
                serde_json::from_str(row.text(1)?).map_err(corrupt_row_error)?;
            let created_at = row.integer(2)?;
            let space = Space::from_stored(row.text(3)?).map_err(corrupt_row_error)?;
            let sessions = self.list_redacted_sessions(&space).await?;
            let space_traces = SpaceTraces { traces: &traces, sessions };
            // Running turns may have seen the words and may still write them.
            let open = journal.list_unfinished_turns(None).await?;
            let running = open.iter().any(|turn| turn.started_at.as_microseconds() <= created_at);
            let done = journal.redact(&space_traces).await?;
            places += done.places;
            // The words may have been observed since the request.
            let mut batch = Batch::new();
            let own = space.clone();
            let spaces = match space {
                Space::Owner => self.list_spaces().await?,
                client @ Space::Client(_) => vec![client],
            };
            for space in &spaces {
                let memory = self.in_space(space);
                memory.forget_derived(&traces, &mut batch).await?;
                if *space != own {
                    memory.forget_copies(&traces, &mut batch).await?;
                }
            }
            if running || done.open > 0 {
                pending = true;
            } else {
                batch.push(
                    Statement::new("DELETE FROM redactions WHERE id = $1").bind(row.text(0)?),
                );
            }
            database.write(batch).await?;
        }
        database.erase_traces(TABLES).await?;
        Ok((places, pending))
    }
}

impl Memory {
    /// Adds the statements that remove traces from observations and reflections; returns how many
    /// change.
    async fn forget_derived(
        &self,
        traces: &TextTraces,
        batch: &mut Batch,
    ) -> Result<usize, ChroniclerError> {
        let mut changed = 0;
        let mut gone = BTreeSet::new();
        let stores = self.stores();
        for observation in self.list_observations(None, u32::MAX).await? {
            if traces.is_about(&observation.content) {
                gone.insert(observation.id.clone());
                for statement in stores.retrieval.build_removal(&observation_key(&observation.id)) {
                    batch.push(statement);
                }
                batch.push(
                    Statement::new("DELETE FROM observations WHERE id = $1")
                        .bind(observation.id.as_str()),
                );
            } else if let Some(content) = traces.redact(&observation.content) {
                // The redacted rest is not worth finding.
                for statement in stores.retrieval.build_removal(&observation_key(&observation.id)) {
                    batch.push(statement);
                }
                batch.push(
                    Statement::new("UPDATE observations SET content = $2 WHERE id = $1")
                        .bind(observation.id.as_str())
                        .bind(content),
                );
            } else {
                continue;
            }
            changed += 1;
        }
        for reflection in self.list_reflections(None, u32::MAX).await? {
            let lines: Vec<&str> =
                reflection.content.lines().filter(|line| !traces.is_about(line)).collect();
            let content = lines.join("\n");
            let content = traces.redact(&content).unwrap_or(content);
            let about = traces.redact(&reflection.about).unwrap_or(reflection.about.clone());
            let mut sources = reflection.sources.clone();
            sources.retain(|id| !gone.contains(id));
            if content == reflection.content && sources == reflection.sources {
                continue;
            }
            changed += 1;
            let id = reflection.id.as_str();
            if content.trim().is_empty() {
                batch.push(Statement::new("DELETE FROM reflections WHERE id = $1").bind(id));
                // Its remaining observations are condensed again.
                batch.push(
                    Statement::new(
                        "UPDATE observations SET condensed_by = NULL WHERE condensed_by = $1",
                    )
                    .bind(id),
                );
            } else {
                batch.push(
                    Statement::new(
                        "UPDATE reflections SET content = $2, about = $3, sources = $4 WHERE id = $1",
                    )
                    .bind(id)
                    .bind(content)
                    .bind(about)
                    .bind(to_json(&sources)?),
                );
            }
        }
        Ok(changed)
    }
}

impl Memory {
    /// Adds the statements that remove memories of a client that say what the owner wants
    /// forgotten.
    async fn forget_copies(
        &self,
        traces: &TextTraces,
        batch: &mut Batch,
    ) -> Result<(), ChroniclerError> {
        let stores = self.stores();
        let all = self.list_memories(true).await?;
        let copies = all.iter().filter(|memory| traces.is_about(&memory.content));
        let family: BTreeSet<String> =
            copies.flat_map(|memory| with_ancestors(&memory.id, &all)).collect();
        for id in family {
            for statement in stores.retrieval.build_removal(&memory_key(&id)) {
                batch.push(statement);
            }
            let sql = "DELETE FROM memories WHERE id = $1 AND client = $2";
            batch.push(Statement::new(sql).bind(id).bind(stores.client()));
        }
        Ok(())
    }
}

/// Returns a memory and all memories that it superseded, directly or not.
fn with_ancestors(id: &str, all: &[StoredMemory]) -> BTreeSet<String> {
    let mut family: BTreeSet<String> = [id.to_owned()].into();
    loop {
        let before = family.len();
        for memory in all {
            if memory.superseded_by.as_ref().is_some_and(|newer| family.contains(newer)) {
                family.insert(memory.id.clone());
            }
        }
        if family.len() == before {
            return family;
        }
    }
}

impl MemoryStores {
    /// Returns the sentence of the memory in each of its source messages.
    async fn find_source_sentences(
        &self,
        memory: &StoredMemory,
    ) -> Result<Vec<String>, ChroniclerError> {
        let Some(session) = &memory.session else { return Ok(Vec::new()) };
        let wanted = significant_words(&memory.content);
        let mut found = Vec::new();
        for source in &memory.sources {
            let Some(text) = self.read_user_message(session, source).await? else { continue };
            let best = find_sentences(&text)
                .into_iter()
                .map(|(from, to)| {
                    (word_coverage(&wanted, &significant_words(&text[from..to])), &text[from..to])
                })
                .max_by(|one, other| one.0.total_cmp(&other.0));
            if let Some((share, sentence)) = best
                && share >= 0.3
            {
                found.push(sentence.to_owned());
            }
        }
        Ok(found)
    }

    async fn read_user_message(
        &self,
        session: &SessionId,
        source: &SourceMessage,
    ) -> Result<Option<String>, ChroniclerError> {
        let events = self.journal.read_events(session, source.seq.saturating_sub(1), 1).await?;
        Ok(events.into_iter().next().and_then(|event| match event.body {
            EventBody::UserMessage { text, .. } if event.seq == source.seq => Some(text),
            _ => None,
        }))
    }
}
