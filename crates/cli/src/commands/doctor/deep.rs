//! What is kept, and whether it agrees.

use lango_chronicler::{Chronicler, ChroniclerError, Memory};
use lango_retrieval::{Retrieval, Space};
use lango_store::Journal;

use super::{Check, State, check};
use crate::commands::Setting;
use crate::failure::Failure;
use crate::knowledge::{self, Embedding};
use crate::{memory, wiring};

/// Problems of one kind that are told.
const TOLD: usize = 5;

pub(super) async fn examine(setting: &Setting, deep: bool, checks: &mut Vec<Check>) {
    let config = setting.config();
    checks.push(match knowledge::embedding(config) {
        Embedding::Ready(embedder) => check(
            "embedding",
            Ok(format!("{}, so texts are found by meaning", embedder.model().name)),
        ),
        Embedding::Absent(why) => Check { what: "embedding", state: State::Note, detail: why },
    });
    let (retrieval, journal) = match open(setting).await {
        Ok(opened) => opened,
        Err(failure) => {
            checks.push(check("knowledge", Err(failure.message)));
            return;
        }
    };
    checks.push(check("knowledge", sizes(&retrieval).await));
    if deep {
        let problems = retrieval.check().await.map_err(|error| error.to_string());
        let problems = problems.map(|all| all.into_iter().map(|one| one.what).collect());
        checks.push(check("index", problems.and_then(agreement)));
        if let Some(memory) = memory::configured(config) {
            checks.push(check("memory", remembered(&memory, &retrieval, journal).await));
        }
    }
}

async fn open(setting: &Setting) -> Result<(Retrieval, Journal), Failure> {
    let (database, journal) = wiring::open_store(setting.config(), &setting.home).await?;
    Ok((knowledge::open(setting.config(), database).await?, journal))
}

async fn remembered(
    memory: &Memory,
    retrieval: &Retrieval,
    journal: Journal,
) -> Result<String, String> {
    let database = retrieval.database().clone();
    let told = |error: ChroniclerError| error.to_string();
    memory.connect(database, journal, retrieval.clone()).await.map_err(told)?;
    let problems = Chronicler::new(memory.clone()).check().await.map_err(told)?;
    agreement(problems.into_iter().map(|one| one.what).collect())
        .map(|_| "memories, observations, index and journal agree".to_owned())
}

/// How much there is.
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
    let more = problems.len().saturating_sub(TOLD);
    let mut told: Vec<String> = problems.into_iter().take(TOLD).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    Err(told.join("\n"))
}
