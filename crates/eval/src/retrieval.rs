//! Measures how well texts are found, on a collection of documents and questions.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lango_librarian::documents;
use lango_protocol::Space;
use lango_retrieval::{
    CorpusDocument, Embedder, EntryKey, EntryKind, NewEntry, NewPassage, QuestionCollection,
    RankingQuality, Retrieval, RetrievalIndex, RetrievalMode, SearchQuery, measure_rankings,
};
use lango_store::{Database, DatabaseLocation};
use serde::Serialize;

use crate::EvalError;

/// Limits the passages that are read for one question; they include at least ten documents.
const MAX_PASSAGE_COUNT: usize = 100;

const COLLECTION: &str = "collection";

/// The figures of a collection.
#[derive(Debug, Serialize)]
pub struct RetrievalReport {
    /// The number of documents.
    pub documents: u64,
    /// The number of their passages.
    pub passages: u64,
    /// The number of questions.
    pub questions: usize,
    /// The embedding model, if there is one.
    pub model: Option<String>,
    /// The figures of each search mode.
    pub modes: Vec<ModeReport>,
}

/// The figures of one search mode.
#[derive(Debug, Serialize)]
pub struct ModeReport {
    /// The name of the mode.
    pub mode: &'static str,
    /// Of the documents that answer a question, the share among the first five.
    pub recall_at_5: f64,
    /// The quality of the order of the first ten.
    pub ndcg_at_10: f64,
    /// The mean time of one question.
    pub milliseconds_per_question: f64,
}

/// Measures how well the documents of a collection are found. Calls `progress` with the number of
/// documents added so far.
pub async fn measure_retrieval(
    directory: &Path,
    embedder: Option<Arc<dyn Embedder>>,
    progress: impl FnMut(u32),
) -> Result<RetrievalReport, EvalError> {
    let collection = QuestionCollection::read(directory)?;
    let temporary = tempfile::tempdir()?;
    let location = DatabaseLocation::Sqlite(temporary.path().join("collection.db"));
    let database = Database::open(&location).await?;
    let index = RetrievalIndex::open(database, embedder).await?;
    let retrieval = index.in_space(&Space::Owner);
    add_documents(&retrieval, &collection, progress).await?;
    if let Some(error) = retrieval.take_failure() {
        return Err(EvalError::Embedding(error.to_string()));
    }
    let sizes = retrieval.list_collections(EntryKind::Documents).await?;
    let mut modes = vec![("words", RetrievalMode::Words)];
    if retrieval.embedder().is_some() {
        modes.extend([("vectors", RetrievalMode::Vectors), ("hybrid", RetrievalMode::Hybrid)]);
    }
    let mut reports = Vec::with_capacity(modes.len());
    for (name, mode) in modes {
        let (measures, each) = ask_questions(&retrieval, &collection, mode).await?;
        reports.push(ModeReport {
            mode: name,
            recall_at_5: measures.recall_at_5,
            ndcg_at_10: measures.ndcg_at_10,
            milliseconds_per_question: each.as_secs_f64() * 1000.0,
        });
    }
    Ok(RetrievalReport {
        documents: sizes.iter().map(|size| size.entries).sum(),
        passages: sizes.iter().map(|size| size.passages).sum(),
        questions: collection.questions.len(),
        model: retrieval.embedder().map(|embedder| embedder.model().name.clone()),
        modes: reports,
    })
}

/// Adds the documents, split into passages as ingested ones are.
async fn add_documents(
    retrieval: &Retrieval,
    collection: &QuestionCollection,
    mut progress: impl FnMut(u32),
) -> Result<(), EvalError> {
    let documents = collection.documents()?;
    for (document, done) in documents.zip(1..) {
        retrieval.put_entry(&build_entry(document?)).await?;
        progress(done);
    }
    Ok(())
}

fn build_entry(document: CorpusDocument) -> NewEntry {
    let CorpusDocument { id, title, text } = document;
    let passages: Vec<NewPassage> =
        documents::cut_into_passages(&documents::read_plain_text(&text))
            .into_iter()
            .map(|passage| NewPassage {
                heading: passage.heading,
                text: passage.text,
                position: passage.span.to_string(),
            })
            .collect();
    // A document that has only a title can be found by it.
    let only_title =
        NewPassage { heading: String::new(), text: title.clone(), position: String::new() };
    NewEntry {
        key: EntryKey::new(EntryKind::Documents, COLLECTION, id.as_str()),
        title,
        source: id.clone(),
        digest: id,
        passages: if passages.is_empty() { vec![only_title] } else { passages },
    }
}

async fn ask_questions(
    retrieval: &Retrieval,
    collection: &QuestionCollection,
    mode: RetrievalMode,
) -> Result<(RankingQuality, Duration), EvalError> {
    let began = Instant::now();
    let mut rankings = Vec::with_capacity(collection.questions.len());
    for question in &collection.questions {
        let search = SearchQuery {
            mode,
            ..SearchQuery::new(EntryKind::Documents, question.text.as_str(), MAX_PASSAGE_COUNT)
        };
        let found = retrieval.search(&search).await?;
        if let Some(error) = found.words_only.filter(|_| mode == RetrievalMode::Hybrid) {
            return Err(EvalError::Embedding(error.to_string()));
        }
        let ids: Vec<String> = found.hits.into_iter().map(|hit| hit.entry.key).collect();
        rankings.push((question.id.as_str(), ids));
    }
    let each = began.elapsed() / u32::try_from(rankings.len().max(1)).unwrap_or(u32::MAX);
    let rankings = rankings.iter().map(|(question, ids)| (*question, ids.as_slice()));
    Ok((measure_rankings(collection, rankings), each))
}
