//! What is kept, and whether it agrees.

use lango_retrieval::{Problem, Retrieval, Space};

use super::{Check, State, check};
use crate::commands::Setting;
use crate::failure::Failure;
use crate::knowledge::{self, Embedding};
use crate::wiring;

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
    let retrieval = match open(setting).await {
        Ok(retrieval) => retrieval,
        Err(failure) => {
            checks.push(check("knowledge", Err(failure.message)));
            return;
        }
    };
    checks.push(check("knowledge", sizes(&retrieval).await));
    if deep {
        let problems = retrieval.check().await.map_err(|error| error.to_string());
        checks.push(check("index", problems.and_then(|problems| agreement(&problems))));
    }
}

async fn open(setting: &Setting) -> Result<Retrieval, Failure> {
    let (database, _) = wiring::open_store(setting.config(), &setting.home).await?;
    knowledge::open(setting.config(), database).await
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

fn agreement(problems: &[Problem]) -> Result<String, String> {
    if problems.is_empty() {
        return Ok("texts, words and vectors agree".to_owned());
    }
    let told: Vec<&str> = problems.iter().take(TOLD).map(|one| one.what.as_str()).collect();
    Err(told.join("\n"))
}
