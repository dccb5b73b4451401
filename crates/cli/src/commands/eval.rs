//! `lango eval`: how good it is, measured.

mod calls;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use lango_librarian::documents;
use lango_retrieval::{
    Collection, CollectionError, CorpusDocument, EntryKey, Measures, Mode, NewEntry, NewPassage,
    Retrieval, Search, Space, measure,
};
use lango_store::{Database, DatabaseLocation};
use serde::Serialize;

use super::CommandContext;
use crate::arguments::EvalCommand;
use crate::failure::{ExitStatus, Failure};
use lango_app::knowledge::{self, Embedding};

pub(crate) async fn eval(
    context: &CommandContext,
    command: EvalCommand,
) -> Result<ExitStatus, Failure> {
    match command {
        EvalCommand::Retrieval { directory, json } => retrieval(context, &directory, json).await,
        EvalCommand::Calls(arguments) => calls::calls(context, &arguments).await,
    }
}

/// Passages that are looked at for one question, so that ten documents are among them.
const DEPTH: usize = 100;

const COLLECTION: &str = "collection";

#[derive(Serialize)]
struct Report {
    documents: u64,
    passages: u64,
    questions: usize,
    model: Option<String>,
    modes: Vec<ModeReport>,
}

#[derive(Serialize)]
struct ModeReport {
    mode: &'static str,
    recall_at_5: f64,
    ndcg_at_10: f64,
    milliseconds_per_question: f64,
}

async fn retrieval(
    context: &CommandContext,
    directory: &Path,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let collection = Collection::read(directory).map_err(|error| unusable(&error))?;
    let embedding = knowledge::embedding(context.config());
    if let Embedding::Absent(why) = &embedding {
        let _ = writeln!(io::stderr(), "{why}");
    }
    let place = tempfile::tempdir()?;
    let location = DatabaseLocation::Sqlite(place.path().join("collection.db"));
    let database = Database::open(&location).await?;
    let retrieval = Retrieval::open(database, embedding.ready()).await?;
    fill(&retrieval, &collection).await?;
    if let Some(error) = retrieval.take_failure() {
        return Err(Failure::provider(error.to_string()));
    }
    let sizes = retrieval.collections(Space::Documents).await?;
    let mut modes = vec![("words", Mode::Words)];
    if retrieval.embedder().is_some() {
        modes.extend([("vectors", Mode::Vectors), ("hybrid", Mode::Hybrid)]);
    }
    let mut reports = Vec::with_capacity(modes.len());
    for (name, mode) in modes {
        let (measures, each) = ask(&retrieval, &collection, mode).await?;
        reports.push(ModeReport {
            mode: name,
            recall_at_5: measures.recall_at_5,
            ndcg_at_10: measures.ndcg_at_10,
            milliseconds_per_question: each.as_secs_f64() * 1000.0,
        });
    }
    let report = Report {
        documents: sizes.iter().map(|size| size.entries).sum(),
        passages: sizes.iter().map(|size| size.passages).sum(),
        questions: collection.questions.len(),
        model: retrieval.embedder().map(|embedder| embedder.model().name.clone()),
        modes: reports,
    };
    if json {
        context.printer.json(&report)?;
    } else {
        context.printer.print(&table(&report))?;
    }
    Ok(ExitStatus::Success)
}

fn table(report: &Report) -> String {
    let Report { documents, passages, questions, model, modes } = report;
    let model = model.as_deref().unwrap_or("none");
    let mut text = format!(
        "{documents} documents, {passages} passages, {questions} questions, model {model}\n\n\
         {:<8}  {:>8}  {:>7}  {:>11}\n",
        "mode", "recall@5", "nDCG@10", "ms/question"
    );
    for ModeReport { mode, recall_at_5, ndcg_at_10, milliseconds_per_question } in modes {
        text.push_str(&format!(
            "{mode:<8}  {recall_at_5:>8.3}  {ndcg_at_10:>7.3}  {milliseconds_per_question:>11.1}\n"
        ));
    }
    text
}

/// Puts the documents in, cut as ingested ones are.
async fn fill(retrieval: &Retrieval, collection: &Collection) -> Result<(), Failure> {
    let progress = io::stderr().is_terminal();
    let began = Instant::now();
    let mut done = 0_u32;
    for document in collection.documents().map_err(|error| unusable(&error))? {
        let document = document.map_err(|error| unusable(&error))?;
        retrieval.put(&entry(document)).await?;
        done += 1;
        if progress && done.is_multiple_of(20) {
            let rate = f64::from(done) / began.elapsed().as_secs_f64().max(0.001);
            let _ = write!(io::stderr(), "\r{done} documents, {rate:.0} a second ");
        }
    }
    if progress {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    Ok(())
}

fn entry(document: CorpusDocument) -> NewEntry {
    let CorpusDocument { id, title, text } = document;
    let passages: Vec<NewPassage> = documents::passages(&documents::plain(&text))
        .into_iter()
        .map(|passage| NewPassage {
            heading: passage.heading,
            text: passage.text,
            position: passage.span.to_string(),
        })
        .collect();
    // A document that is a title and nothing else can be found by it.
    let only_title =
        NewPassage { heading: String::new(), text: title.clone(), position: String::new() };
    NewEntry {
        key: EntryKey::new(Space::Documents, COLLECTION, id.as_str()),
        title,
        source: id.clone(),
        digest: id,
        passages: if passages.is_empty() { vec![only_title] } else { passages },
    }
}

async fn ask(
    retrieval: &Retrieval,
    collection: &Collection,
    mode: Mode,
) -> Result<(Measures, Duration), Failure> {
    let began = Instant::now();
    let mut rankings = Vec::with_capacity(collection.questions.len());
    for question in &collection.questions {
        let search =
            Search { mode, ..Search::new(Space::Documents, question.text.as_str(), DEPTH) };
        let found = retrieval.search(&search).await?;
        if let Some(error) = found.words_only.filter(|_| mode == Mode::Hybrid) {
            return Err(Failure::provider(error.to_string()));
        }
        let ids: Vec<String> = found.hits.into_iter().map(|hit| hit.entry.key).collect();
        rankings.push((question.id.as_str(), ids));
    }
    let each = began.elapsed() / u32::try_from(rankings.len().max(1)).unwrap_or(u32::MAX);
    let rankings = rankings.iter().map(|(question, ids)| (*question, ids.as_slice()));
    Ok((measure(collection, rankings), each))
}

fn unusable(error: &CollectionError) -> Failure {
    Failure::usage(error.to_string())
}
