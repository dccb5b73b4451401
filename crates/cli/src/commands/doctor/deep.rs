//! Checks that the stored data is consistent.

use lango_app::knowledge::{self, EmbeddingChoice};
use lango_app::{AppError, Stores, build_memory_settings};
use lango_chronicler::{
    Chronicler, ChroniclerError, MemoryResources, MemorySettings, MemorySystem,
};
use lango_protocol::Space;
use lango_retrieval::{EntryKind, RetrievalIndex};
use lango_store::Journal;

use super::{CheckState, DoctorCheck, build_check};
use crate::commands::CommandContext;

/// Limits the problems of one kind that are shown.
const MAX_SHOWN_PROBLEM_COUNT: usize = 5;

pub(super) async fn examine(
    context: &CommandContext,
    stores: &Result<Stores, AppError>,
    deep: bool,
    checks: &mut Vec<DoctorCheck>,
) {
    let config = context.config();
    checks.push(match knowledge::choose_embedding(config) {
        EmbeddingChoice::Ready(embedder) => build_check(
            "embedding",
            Ok(format!("{}, so texts are found by meaning", embedder.model().name)),
        ),
        EmbeddingChoice::Absent(why) => {
            DoctorCheck { what: "embedding", state: CheckState::Note, detail: why }
        }
    });
    if deep && let Ok(stores) = stores {
        checks.push(build_check("storage", check_storage(stores).await));
    }
    let (retrieval, journal) = match open(context, stores).await {
        Ok(opened) => opened,
        Err(error) => {
            checks.push(build_check("knowledge", Err(error)));
            return;
        }
    };
    checks.push(build_check("knowledge", describe_sizes(&retrieval).await));
    if deep {
        let problems = retrieval.check().await.map_err(|error| error.to_string());
        let problems = problems.map(|all| all.into_iter().map(|one| one.what).collect());
        checks.push(build_check("index", problems.and_then(report_problems)));
        if let Some(settings) = build_memory_settings(config) {
            checks.push(build_check("memory", check_memory(settings, &retrieval, journal).await));
        }
    }
}

async fn open(
    context: &CommandContext,
    stores: &Result<Stores, AppError>,
) -> Result<(RetrievalIndex, Journal), String> {
    let Stores { database, journal } = stores.as_ref().map_err(ToString::to_string)?.clone();
    let retrieval = knowledge::open(context.config(), database).await;
    Ok((retrieval.map_err(|error| error.to_string())?, journal))
}

/// Checks the pages of the database and the rows of the journal.
async fn check_storage(stores: &Stores) -> Result<String, String> {
    let damage = stores.database.find_damage().await.map_err(|error| error.to_string())?;
    let rows = if damage.is_empty() { stores.journal.check().await } else { Ok(Vec::new()) };
    let rows = rows.map_err(|error| error.to_string())?;
    report_problems(damage.into_iter().chain(rows).collect()).map_err(|problems| {
        format!(
            "{problems}\nRestore a backup: lango backup restore FILE --force\n\
             Without one, keep what can be read: lango doctor --repair"
        )
    })?;
    Ok("every page and every event is as it was written".to_owned())
}

async fn check_memory(
    settings: MemorySettings,
    retrieval: &RetrievalIndex,
    journal: Journal,
) -> Result<String, String> {
    let told = |error: ChroniclerError| error.to_string();
    let resources = MemoryResources { journal, retrieval: retrieval.clone(), observer: None };
    let memory = MemorySystem::open(settings, resources).await.map_err(told)?;
    let problems = Chronicler::new(memory).check().await.map_err(told)?;
    report_problems(problems.into_iter().map(|one| one.what).collect())
        .map(|_| "memories, observations, index and journal agree".to_owned())
}

/// Describes how much is stored.
async fn describe_sizes(retrieval: &RetrievalIndex) -> Result<String, String> {
    let mut parts = Vec::new();
    let own = retrieval.in_space(&Space::Owner);
    for kind in EntryKind::ALL {
        let sizes = own.list_collections(kind).await.map_err(|error| error.to_string())?;
        let entries: u64 = sizes.iter().map(|size| size.entries).sum();
        parts.push(format!("{entries} {kind}"));
    }
    let missing = retrieval.count_missing_vectors().await.map_err(|error| error.to_string())?;
    let missing = match missing {
        0 => String::new(),
        count => format!("; {count} passages are not yet found by meaning: lango documents embed"),
    };
    Ok(format!("{}{missing}", parts.join(", ")))
}

fn report_problems(problems: Vec<String>) -> Result<String, String> {
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
