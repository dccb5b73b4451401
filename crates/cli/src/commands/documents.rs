//! `lango documents`: the ingested documents.

use std::path::Path;
use std::time::Instant;

use lango_protocol::{Space, Timestamp};
use lango_retrieval::{EntryKey, EntryKind, EntrySummary, Retrieval, RetrievalError};
use lango_text::{plural, to_one_line};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::find::search_documents;
use super::ingest::{absolute_path_text, open};
use super::sessions::local_time;
use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::DocumentsCommand;
use lango_terminal::render_table;
use lango_terminal::{show_progress, stderr_is_terminal};

/// Sets how many documents are read at a time.
const PAGE_SIZE: u32 = 500;

#[derive(Serialize)]
struct ListView {
    collections: Vec<CollectionView>,
    documents: Vec<DocumentView>,
    more: bool,
}

#[derive(Serialize)]
struct CollectionView {
    collection: String,
    documents: u64,
    passages: u64,
}

#[derive(Serialize)]
struct DocumentView {
    collection: String,
    source: String,
    title: String,
    passages: u64,
    at: Timestamp,
}

#[derive(Serialize)]
struct PassageView {
    position: String,
    heading: String,
    text: String,
}

#[derive(Serialize)]
struct WholeDocumentView {
    #[serde(flatten)]
    document: DocumentView,
    text: Vec<PassageView>,
}

pub(crate) async fn documents(
    context: &CommandContext,
    command: DocumentsCommand,
    space: &Space,
) -> Result<ExitStatus, Failure> {
    let retrieval = open(context).await?.in_space(space);
    match command {
        DocumentsCommand::List { collection, limit, json } => {
            list(context.printer, &retrieval, collection.as_deref(), limit, json).await?;
        }
        DocumentsCommand::Show { source, collection, json } => {
            show(context.printer, &retrieval, &source, collection.as_deref(), json).await?;
        }
        DocumentsCommand::Search(arguments) => {
            search_documents(context.printer, context.config(), &retrieval, arguments).await?;
        }
        DocumentsCommand::Embed => embed_missing(context.printer, &retrieval).await?,
        DocumentsCommand::Remove { sources, collection, all } => {
            let sources = if all { vec![String::new()] } else { sources };
            remove(context.printer, &retrieval, &sources, collection.as_deref()).await?;
        }
    }
    Ok(ExitStatus::Success)
}

async fn embed_missing(printer: Printer, retrieval: &Retrieval) -> Result<(), Failure> {
    if retrieval.embedder().is_none() {
        return Err(RetrievalError::NoEmbedder.into());
    }
    let missing = retrieval.count_missing_vectors().await?;
    let shows = stderr_is_terminal();
    let began = Instant::now();
    let progress = |made: u64| {
        if shows {
            let rate = made * 1000 / u64::try_from(began.elapsed().as_millis()).unwrap_or(1).max(1);
            show_progress(&format!("{made}/{missing} passages, {rate} a second "));
        }
    };
    let made = retrieval.embed_missing(u64::MAX, &CancellationToken::new(), progress).await;
    if shows {
        show_progress("");
    }
    let made = made?;
    Ok(printer.print(&format!("{made} passages are now found by their meaning too\n"))?)
}

fn build_view(entry: EntrySummary) -> DocumentView {
    DocumentView {
        collection: entry.key.collection,
        source: entry.source,
        title: entry.title,
        passages: entry.passages,
        at: Timestamp::from_microseconds(entry.at),
    }
}

async fn list(
    printer: Printer,
    retrieval: &Retrieval,
    collection: Option<&str>,
    limit: u32,
    json: bool,
) -> Result<(), Failure> {
    let sizes = retrieval.list_collections(EntryKind::Documents).await?;
    let collections: Vec<CollectionView> = sizes
        .into_iter()
        .filter(|size| collection.is_none_or(|wanted| wanted == size.collection))
        .map(|size| CollectionView {
            collection: size.collection,
            documents: size.entries,
            passages: size.passages,
        })
        .collect();
    let found =
        retrieval.list_entries(EntryKind::Documents, collection, None, limit.saturating_add(1));
    let mut found = found.await?;
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = found.len() > shown;
    found.truncate(shown);
    let documents: Vec<DocumentView> = found.into_iter().map(build_view).collect();
    if json {
        return Ok(printer.json(&ListView { collections, documents, more })?);
    }
    if collections.is_empty() {
        return Ok(
            printer.print("There are no documents yet. Read some with: lango ingest PATH\n")?
        );
    }
    let row = |one: &DocumentView| {
        vec![
            one.collection.clone(),
            one.passages.to_string(),
            local_time(one.at),
            to_one_line(&one.title, 40),
            to_one_line(&one.source, 200),
        ]
    };
    let rows: Vec<Vec<String>> = documents.iter().map(row).collect();
    let mut text = render_table(&["COLLECTION", "PASSAGES", "WHEN", "TITLE", "SOURCE"], &rows);
    for size in &collections {
        let (documents, passages) = (
            plural(size.documents, "document", "documents"),
            plural(size.passages, "passage", "passages"),
        );
        text += &format!("{}: {documents}, {passages}\n", size.collection);
    }
    if more {
        text += &format!("Only the first {limit} are shown. More with: --limit N\n");
    }
    Ok(printer.print(&text)?)
}

/// Returns the keys that the user's input may mean.
fn possible_keys(given: &str) -> Vec<String> {
    let page = url_key(given);
    let path = absolute_path_text(Path::new(given));
    let mut keys: Vec<String> = page.into_iter().chain(path).collect();
    keys.push(given.to_owned());
    keys.dedup();
    keys
}

/// Normalizes an address to the spelling of document keys.
fn url_key(given: &str) -> Option<String> {
    match lango_librarian::documents::IngestSource::parse_address(given) {
        Ok(source) => Some(source.to_string()),
        Err(_) => None,
    }
}

async fn show(
    printer: Printer,
    retrieval: &Retrieval,
    given: &str,
    collection: Option<&str>,
    json: bool,
) -> Result<(), Failure> {
    let sizes = retrieval.list_collections(EntryKind::Documents).await?;
    let names = sizes.iter().map(|size| size.collection.as_str());
    let mut found: Vec<EntrySummary> = Vec::new();
    for name in names.filter(|name| collection.is_none_or(|wanted| wanted == *name)) {
        for key in possible_keys(given) {
            let key = EntryKey::new(EntryKind::Documents, name, key);
            if found.iter().all(|one| one.key != key) {
                found.extend(retrieval.find_entry(&key).await?);
            }
        }
    }
    let entry = match found.len() {
        1 => found.remove(0),
        0 => return Err(no_document_error(given)),
        _ => {
            let names: Vec<&str> = found.iter().map(|one| one.key.collection.as_str()).collect();
            return Err(Failure::usage(format!(
                "{given} is in several collections: {}. Name one with --collection",
                names.join(", ")
            )));
        }
    };
    let passages = retrieval.read_passages(&entry.key).await?;
    let text = passages.into_iter().map(|passage| PassageView {
        position: passage.position,
        heading: passage.heading,
        text: passage.text,
    });
    let whole = WholeDocumentView { document: build_view(entry), text: text.collect() };
    if json {
        return Ok(printer.json(&whole)?);
    }
    let document = &whole.document;
    let mut text = format!(
        "{}\n{} in {}, {}\n",
        document.title,
        document.source,
        document.collection,
        plural(document.passages, "passage", "passages")
    );
    for passage in &whole.text {
        text += &format!("\n[{}] {}\n{}\n", passage.position, passage.heading, passage.text);
    }
    Ok(printer.print(&text)?)
}

fn no_document_error(given: &str) -> Failure {
    Failure::usage(format!("there is no document {given:?}. See: lango documents list"))
}

/// Removes what was named, and what lies below it. An empty name means everything.
async fn remove(
    printer: Printer,
    retrieval: &Retrieval,
    sources: &[String],
    collection: Option<&str>,
) -> Result<(), Failure> {
    let mut removed = 0;
    for source in sources {
        let keys = possible_keys(source);
        let is_meant = |key: &str| {
            let below = |wanted: &String| {
                key.strip_prefix(wanted.trim_end_matches('/'))
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            source.is_empty() || keys.iter().any(below)
        };
        let before = removed;
        let mut after: Option<EntryKey> = None;
        loop {
            let found =
                retrieval.list_entries(EntryKind::Documents, collection, after.as_ref(), PAGE_SIZE);
            let found = found.await?;
            for entry in found.iter().filter(|entry| is_meant(&entry.key.key)) {
                removed += u64::from(retrieval.remove(&entry.key).await?);
            }
            match found.into_iter().last() {
                Some(last) => after = Some(last.key),
                None => break,
            }
        }
        if removed == before {
            return Err(no_document_error(if source.is_empty() {
                collection.unwrap_or("")
            } else {
                source
            }));
        }
    }
    Ok(printer.print(&format!("Removed {}.\n", plural(removed, "document", "documents")))?)
}
