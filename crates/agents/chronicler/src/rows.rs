//! Reads and writes the rows of memories, observations and reflections.

use lango_protocol::{SessionId, Timestamp};
use lango_retrieval::{EntryKey, EntryKind, NewEntry, NewPassage};
use lango_store::{Row, Statement, StoreError};

use crate::ChroniclerError;
use crate::memory::{Memory, MemoryStores};
use crate::record::{Observation, Reflection, StoredMemory};

/// Names the collection of memories in the index.
pub(crate) const MEMORY_COLLECTION: &str = "user";

/// Names the collection of observations in the index.
pub(crate) const OBSERVATION_COLLECTION: &str = "observations";

const MEMORY_COLUMNS: &str =
    "id, kind, content, about, origin, superseded_by, at, created_at, session, turn, sources";
const OBSERVATION_COLUMNS: &str = "id, session, content, priority, at, created_at, extractive, first_seq, last_seq, sources, condensed_by";
const REFLECTION_COLUMNS: &str =
    "id, session, content, about, generation, extractive, created_at, sources";

impl Memory {
    /// Returns the current memories, with `all` also the superseded ones, the latest first.
    pub async fn list_memories(&self, all: bool) -> Result<Vec<StoredMemory>, ChroniclerError> {
        let only = if all { "" } else { "AND superseded_by IS NULL " };
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memories WHERE client = $1 {only}\
             ORDER BY created_at DESC, id"
        );
        let statement = Statement::new(sql).bind(self.stores().client());
        let rows = self.stores().database.query(statement).await?;
        Ok(rows.iter().map(read_memory).collect::<Result<_, _>>()?)
    }

    /// Returns a memory by its id.
    pub async fn find_memory(&self, id: &str) -> Result<Option<StoredMemory>, ChroniclerError> {
        self.stores().find_memory(id).await
    }

    /// Returns the observations of a session, or of all, the latest first.
    pub async fn list_observations(
        &self,
        session: Option<&SessionId>,
        limit: u32,
    ) -> Result<Vec<Observation>, ChroniclerError> {
        let sql = format!(
            "SELECT {OBSERVATION_COLUMNS} FROM observations \
             WHERE client = $4 AND (session = $1 OR $2 = 1) \
             ORDER BY created_at DESC, last_seq DESC, id LIMIT $3"
        );
        let statement = Statement::new(sql)
            .bind(session.map(SessionId::as_str))
            .bind(i64::from(session.is_none()))
            .bind(limit)
            .bind(self.stores().client());
        let rows = self.stores().database.query(statement).await?;
        Ok(rows.iter().map(read_observation).collect::<Result<_, _>>()?)
    }

    /// Returns the reflections of a session, or of all, the latest first.
    pub async fn list_reflections(
        &self,
        session: Option<&SessionId>,
        limit: u32,
    ) -> Result<Vec<Reflection>, ChroniclerError> {
        let sql = format!(
            "SELECT {REFLECTION_COLUMNS} FROM reflections \
             WHERE client = $4 AND (session = $1 OR $2 = 1) \
             ORDER BY created_at DESC, id LIMIT $3"
        );
        let statement = Statement::new(sql)
            .bind(session.map(SessionId::as_str))
            .bind(i64::from(session.is_none()))
            .bind(limit)
            .bind(self.stores().client());
        let rows = self.stores().database.query(statement).await?;
        Ok(rows.iter().map(read_reflection).collect::<Result<_, _>>()?)
    }
}

impl MemoryStores {
    pub(crate) async fn find_memory(
        &self,
        id: &str,
    ) -> Result<Option<StoredMemory>, ChroniclerError> {
        let sql = format!("SELECT {MEMORY_COLUMNS} FROM memories WHERE id = $1 AND client = $2");
        let rows = self.database.query(Statement::new(sql).bind(id).bind(self.client())).await?;
        Ok(rows.first().map(read_memory).transpose()?)
    }

    pub(crate) async fn find_observation(
        &self,
        id: &str,
    ) -> Result<Option<Observation>, ChroniclerError> {
        let sql =
            format!("SELECT {OBSERVATION_COLUMNS} FROM observations WHERE id = $1 AND client = $2");
        let rows = self.database.query(Statement::new(sql).bind(id).bind(self.client())).await?;
        Ok(rows.first().map(read_observation).transpose()?)
    }

    /// Returns the observations that are in no reflection, the oldest first.
    pub(crate) async fn list_uncondensed(
        &self,
        session: &SessionId,
    ) -> Result<Vec<Observation>, ChroniclerError> {
        let sql = format!(
            "SELECT {OBSERVATION_COLUMNS} FROM observations \
             WHERE session = $1 AND client = $2 AND condensed_by IS NULL \
             ORDER BY last_seq, created_at, id"
        );
        let statement = Statement::new(sql).bind(session.as_str()).bind(self.client());
        let rows = self.database.query(statement).await?;
        Ok(rows.iter().map(read_observation).collect::<Result<_, _>>()?)
    }

    /// Returns the statements that write a memory and its index entry.
    pub(crate) async fn build_memory_insertion(
        &self,
        memory: &StoredMemory,
    ) -> Result<Vec<Statement>, ChroniclerError> {
        let mut statements = vec![
            Statement::new(
                "INSERT INTO memories (id, kind, content, about, origin, superseded_by, at, \
                 created_at, session, turn, sources, client) \
                 VALUES ($1, $2, $3, $4, $5, NULL, $6, $7, $8, $9, $10, $11)",
            )
            .bind(memory.id.as_str())
            .bind(memory.kind.as_str())
            .bind(replace_nul(&memory.content))
            .bind(replace_nul(&memory.about))
            .bind(memory.origin.as_str())
            .bind(memory.at.as_microseconds())
            .bind(memory.created_at.as_microseconds())
            .bind(memory.session.as_ref().map(SessionId::as_str))
            .bind(memory.turn.map(|turn| turn.to_string()))
            .bind(to_json(&memory.sources)?)
            .bind(self.client()),
        ];
        statements
            .extend(self.retrieval.prepare(&build_index_entry(memory)).await?.into_statements());
        Ok(statements)
    }

    /// Returns the statements that let one memory supersede another: the old one stays but is not
    /// found any more.
    pub(crate) fn build_supersession(&self, old: &str, new: &str) -> Vec<Statement> {
        let mut statements = self.retrieval.build_removal(&memory_key(old));
        statements.push(
            Statement::new(
                "UPDATE memories SET superseded_by = $2 \
                 WHERE id = $1 AND superseded_by IS NULL AND client = $3",
            )
            .bind(old)
            .bind(new)
            .bind(self.client())
            .expect_rows(1),
        );
        statements
    }
}

/// Returns the index key of a memory.
pub(crate) fn memory_key(id: &str) -> EntryKey {
    EntryKey::new(EntryKind::Memories, MEMORY_COLLECTION, id)
}

/// Returns the index key of an observation.
pub(crate) fn observation_key(id: &str) -> EntryKey {
    EntryKey::new(EntryKind::Memories, OBSERVATION_COLLECTION, id)
}

impl MemoryStores {
    /// Returns the statements that write an observation and its index entry.
    pub(crate) async fn build_observation_insertion(
        &self,
        observation: &Observation,
    ) -> Result<Vec<Statement>, ChroniclerError> {
        let passage = NewPassage {
            heading: String::new(),
            text: observation.content.clone(),
            position: String::new(),
        };
        let entry = NewEntry {
            key: observation_key(&observation.id),
            title: String::new(),
            source: observation.id.clone(),
            digest: observation.created_at.as_microseconds().to_string(),
            passages: vec![passage],
        };
        let mut statements = vec![insert_observation(self.client(), observation)?];
        statements.extend(self.retrieval.prepare(&entry).await?.into_statements());
        Ok(statements)
    }
}

fn build_index_entry(memory: &StoredMemory) -> NewEntry {
    let passage = NewPassage {
        heading: String::new(),
        text: memory.content.clone(),
        position: String::new(),
    };
    NewEntry {
        key: memory_key(&memory.id),
        title: memory.about.clone(),
        source: memory.id.clone(),
        digest: memory.created_at.as_microseconds().to_string(),
        passages: vec![passage],
    }
}

fn insert_observation(client: &str, observation: &Observation) -> Result<Statement, StoreError> {
    Ok(Statement::new(
        "INSERT INTO observations (id, session, content, priority, at, created_at, extractive, \
         first_seq, last_seq, sources, condensed_by, client) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL, $11)",
    )
    .bind(observation.id.as_str())
    .bind(observation.session.as_str())
    .bind(replace_nul(&observation.content))
    .bind(observation.priority.as_str())
    .bind(observation.at.as_microseconds())
    .bind(observation.created_at.as_microseconds())
    .bind(observation.extractive)
    .bind(position_to_sql(observation.range.0))
    .bind(position_to_sql(observation.range.1))
    .bind(to_json(&observation.sources)?)
    .bind(client))
}

pub(crate) fn insert_reflection(
    client: &str,
    reflection: &Reflection,
) -> Result<Statement, StoreError> {
    Ok(Statement::new(
        "INSERT INTO reflections (id, session, content, about, generation, extractive, created_at, \
         sources, client) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(reflection.id.as_str())
    .bind(reflection.session.as_str())
    .bind(replace_nul(&reflection.content))
    .bind(replace_nul(&reflection.about))
    .bind(position_to_sql(reflection.generation))
    .bind(reflection.extractive)
    .bind(reflection.created_at.as_microseconds())
    .bind(to_json(&reflection.sources)?)
    .bind(client))
}

/// Replaces NUL, which PostgreSQL does not accept in text.
pub(crate) fn replace_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(crate) fn position_to_sql(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Query { reason: error.to_string() })
}

/// Returns the error for a value that this program cannot have written.
pub(crate) fn corrupt_row_error(reason: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt {
        location: "the chronicler's tables".to_owned(),
        reason: reason.to_string(),
    }
}

fn parse_json_list<T: serde::de::DeserializeOwned>(text: &str) -> Result<Vec<T>, StoreError> {
    serde_json::from_str(text).map_err(corrupt_row_error)
}

fn read_memory(row: &Row) -> Result<StoredMemory, StoreError> {
    Ok(StoredMemory {
        id: row.text(0)?.to_owned(),
        kind: row.text(1)?.parse().map_err(corrupt_row_error)?,
        content: row.text(2)?.to_owned(),
        about: row.text(3)?.to_owned(),
        origin: row.text(4)?.parse().map_err(corrupt_row_error)?,
        superseded_by: row.optional_text(5)?.map(str::to_owned),
        at: Timestamp::from_microseconds(row.integer(6)?),
        created_at: Timestamp::from_microseconds(row.integer(7)?),
        session: row.optional_text(8)?.map(str::parse).transpose().map_err(corrupt_row_error)?,
        turn: row.optional_text(9)?.map(str::parse).transpose().map_err(corrupt_row_error)?,
        sources: parse_json_list(row.text(10)?)?,
    })
}

fn read_observation(row: &Row) -> Result<Observation, StoreError> {
    Ok(Observation {
        id: row.text(0)?.to_owned(),
        session: row.text(1)?.parse().map_err(corrupt_row_error)?,
        content: row.text(2)?.to_owned(),
        priority: row.text(3)?.parse().map_err(corrupt_row_error)?,
        at: Timestamp::from_microseconds(row.integer(4)?),
        created_at: Timestamp::from_microseconds(row.integer(5)?),
        extractive: row.boolean(6)?,
        range: (row.unsigned(7)?, row.unsigned(8)?),
        sources: parse_json_list(row.text(9)?)?,
        condensed_by: row.optional_text(10)?.map(str::to_owned),
    })
}

fn read_reflection(row: &Row) -> Result<Reflection, StoreError> {
    Ok(Reflection {
        id: row.text(0)?.to_owned(),
        session: row.text(1)?.parse().map_err(corrupt_row_error)?,
        content: row.text(2)?.to_owned(),
        about: row.text(3)?.to_owned(),
        generation: row.unsigned(4)?,
        extractive: row.boolean(5)?,
        created_at: Timestamp::from_microseconds(row.integer(6)?),
        sources: parse_json_list(row.text(7)?)?,
    })
}
