//! Checks that the stored data is consistent.

use lango_app::knowledge::{self, Embedding};
use lango_app::{AppError, Stores, memory_settings};
use lango_chronicler::{Chronicler, ChroniclerError, Memory, MemoryResources, MemorySettings};
use lango_retrieval::{Retrieval, Space};
use lango_store::Journal;

use super::{Check, State, check};
use crate::commands::CommandContext;

/// Limits the problems of one kind that are shown.
const MAX_SHOWN_PROBLEM_COUNT: usize = 5;

pub(super) async fn examine(
    context: &CommandContext,
    stores: &Result<Stores, AppError>,
    deep: bool,
    checks: &mut Vec<Check>,
) {
    let config = context.config();
    checks.push(match knowledge::embedding(config) {
        Embedding::Ready(embedder) => check(
            "embedding",
            Ok(format!("{}, so texts are found by meaning", embedder.model().name)),
        ),
        Embedding::Absent(why) => Check { what: "embedding", state: State::Note, detail: why },
    });
    let (retrieval, journal) = match open(context, stores).await {
        Ok(opened) => opened,
        Err(error) => {
            checks.push(check("knowledge", Err(error)));
            return;
        }
    };
    checks.push(check("knowledge", sizes(&retrieval).await));
    if deep {
        let problems = retrieval.check().await.map_err(|error| error.to_string());
        let problems = problems.map(|all| all.into_iter().map(|one| one.what).collect());
        checks.push(check("index", problems.and_then(agreement)));
        if let Some(settings) = memory_settings(config) {
            checks.push(check("memory", remembered(settings, &retrieval, journal).await));
        }
    }
}

async fn open(
    context: &CommandContext,
    stores: &Result<Stores, AppError>,
) -> Result<(Retrieval, Journal), String> {
    let Stores { database, journal } = stores.as_ref().map_err(ToString::to_string)?.clone();
    let retrieval = knowledge::open(context.config(), database).await;
    Ok((retrieval.map_err(|error| error.to_string())?, journal))
}

async fn remembered(
    settings: MemorySettings,
    retrieval: &Retrieval,
    journal: Journal,
) -> Result<String, String> {
    let told = |error: ChroniclerError| error.to_string();
    let resources = MemoryResources { journal, retrieval: retrieval.clone(), observer: None };
    let memory = Memory::open(settings, resources).await.map_err(told)?;
    let problems = Chronicler::new(memory).check().await.map_err(told)?;
    agreement(problems.into_iter().map(|one| one.what).collect())
        .map(|_| "memories, observations, index and journal agree".to_owned())
}

/// Describes how much is stored.
async fn sizes(retrieval: &Retrieval) -> Result<String, String> {
    let mut parts = Vec::new();
    for space in Space::ALL {
        let sizes = retrieval.collections(space).await.map_err(|error| error.to_string())?;
        let entries: u64 = sizes.iter().map(|size| size.entries).sum();
        parts.push(format!("{entries} {space}"));
    }
    let missing = retrieval.missing_vectors().await.map_err(|error| error.to_string())?;
    let missing = match missing {
        0 => String::new(),
        count => format!("; {count} passages are not yet found by meaning: lango documents embed"),
    };
    Ok(format!("{}{missing}", parts.join(", ")))
}

fn agreement(problems: Vec<String>) -> Result<String, String> {
    if problems.is_empty() {
        return Ok("texts, words and vectors agree".to_owned());
    }
    let more = problems.len().saturating_sub(MAX_SHOWN_PROBLEM_COUNT);
    let mut told: Vec<String> = problems.into_iter().take(MAX_SHOWN_PROBLEM_COUNT).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    Err(told.join("\n"))
}
