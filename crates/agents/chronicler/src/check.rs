//! Checks whether the tables agree with each other and with the index.

use std::collections::{BTreeMap, BTreeSet};

use lango_retrieval::EntryKind;
use lango_store::Statement;

use crate::ChroniclerError;
use crate::chronicler::Chronicler;
use crate::memory::{Memory, MemorySystem};
use crate::rows::OBSERVATION_COLLECTION;

/// Represents an inconsistency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryProblem {
    /// The description.
    pub what: String,
}

impl Chronicler {
    /// Reads everything and returns the inconsistencies: messages that were observed twice or left
    /// out, memories that the index lacks or still has, dangling references.
    pub async fn check(&self) -> Result<Vec<MemoryProblem>, ChroniclerError> {
        let memory = self.memory();
        let mut problems = Vec::new();
        check_runs(memory, &mut problems).await?;
        for space in memory.list_spaces().await? {
            let memory = memory.in_space(&space);
            check_index(&memory, &mut problems).await?;
            check_links(&memory, &mut problems).await?;
        }
        Ok(problems.into_iter().map(|what| MemoryProblem { what }).collect())
    }
}

/// Checks that the runs of each session are contiguous up to its watermark.
async fn check_runs(
    memory: &MemorySystem,
    problems: &mut Vec<String>,
) -> Result<(), ChroniclerError> {
    let database = memory.database();
    let statement = Statement::new(
        "SELECT session, first_seq, last_seq FROM observation_runs ORDER BY session, first_seq",
    );
    let mut covered: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    for row in database.query(statement).await? {
        covered
            .entry(row.text(0)?.to_owned())
            .or_default()
            .push((row.unsigned(1)?, row.unsigned(2)?));
    }
    let marks = Statement::new("SELECT session, observed_seq FROM watermarks");
    for row in database.query(marks).await? {
        let (session, observed) = (row.text(0)?, row.unsigned(1)?);
        let mut end = 0;
        for (first, last) in covered.remove(session).unwrap_or_default() {
            if first <= end {
                problems
                    .push(format!("messages {first} to {end} of {session} were observed twice"));
            }
            if first > end + 1 {
                problems
                    .push(format!("messages {} to {first} of {session} were left out", end + 1));
            }
            end = last;
        }
        if end != observed {
            problems.push(format!("{session} was observed up to {end}, its mark says {observed}"));
        }
    }
    for session in covered.keys() {
        problems.push(format!("{session} was observed and has no mark"));
    }
    let strays = Statement::new(
        "SELECT COUNT(*) FROM observations o WHERE o.last_seq > 0 AND (SELECT COUNT(*) \
         FROM observation_runs r WHERE r.session = o.session AND r.first_seq <= o.first_seq \
         AND r.last_seq >= o.last_seq) <> 1",
    );
    let strays = database.query(strays).await?.first().map_or(Ok(0), |row| row.unsigned(0))?;
    if strays > 0 {
        problems.push(format!("{strays} observations of messages that no run covers"));
    }
    Ok(())
}

/// Checks that the index has exactly the current memories, and no unknown observation.
async fn check_index(memory: &Memory, problems: &mut Vec<String>) -> Result<(), ChroniclerError> {
    let mut live: BTreeSet<String> =
        memory.list_memories(false).await?.into_iter().map(|memory| memory.id).collect();
    let observed: BTreeSet<String> =
        memory.list_observations(None, u32::MAX).await?.into_iter().map(|one| one.id).collect();
    let retrieval = &memory.stores().retrieval;
    let mut after = None;
    loop {
        let page = retrieval.list_entries(EntryKind::Memories, None, after.as_ref(), 500).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key.clone());
        for entry in &page {
            let id = &entry.key.key;
            let known = match entry.key.collection.as_str() {
                OBSERVATION_COLLECTION => observed.contains(id),
                _ => live.remove(id),
            };
            if !known {
                problems.push(format!("the index has {id}, which is not remembered"));
            }
        }
    }
    problems.extend(live.iter().map(|id| format!("the index does not have the memory {id}")));
    Ok(())
}

/// Checks that references lead to existing rows.
async fn check_links(memory: &Memory, problems: &mut Vec<String>) -> Result<(), ChroniclerError> {
    let all = memory.list_memories(true).await?;
    let ids: BTreeSet<&String> = all.iter().map(|memory| &memory.id).collect();
    for memory in &all {
        if memory.superseded_by.as_ref().is_some_and(|newer| !ids.contains(newer)) {
            problems.push(format!("{} was superseded by a memory that is not there", memory.id));
        }
    }
    let reflections = memory.list_reflections(None, u32::MAX).await?;
    let known: BTreeSet<&String> = reflections.iter().map(|reflection| &reflection.id).collect();
    let observations = memory.list_observations(None, u32::MAX).await?;
    for observation in &observations {
        if observation.condensed_by.as_ref().is_some_and(|id| !known.contains(id)) {
            problems.push(format!("{} is in a reflection that is not there", observation.id));
        }
    }
    let observed: BTreeSet<&String> = observations.iter().map(|o| &o.id).collect();
    for reflection in &reflections {
        if reflection.sources.iter().any(|id| !observed.contains(id)) {
            problems.push(format!("{} has a source that is not there", reflection.id));
        }
    }
    Ok(())
}
