//! `lango ingest`: reads files, directories and pages into a collection of documents.

use std::io;
use std::path::Path;

use lango_app::Stores;
use lango_app::knowledge::{self, EmbeddingChoice};
use lango_librarian::documents::{IngestReport, IngestSource, check_collection};
use lango_protocol::Space;
use lango_retrieval::{EntryKey, EntryKind, Retrieval, RetrievalIndex};
use lango_text::plural;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::CommandContext;
use super::meter::ProgressMeter;
use super::turn::StopSignals;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::IngestArguments;
use lango_terminal::write_stderr;

/// Limits the files that the summary names one by one.
const MAX_NAMED_FILE_COUNT: usize = 50;

#[derive(Serialize)]
struct IngestView<'a> {
    collection: &'a str,
    dry_run: bool,
    #[serde(flatten)]
    report: &'a IngestReport,
    /// True if they are found by their meaning, too.
    embedded: bool,
}

pub(crate) async fn ingest(
    context: &CommandContext,
    arguments: IngestArguments,
) -> Result<ExitStatus, Failure> {
    let IngestArguments { sources, collection, dry_run, json, quiet } = arguments;
    check_collection(&collection)?;
    let sources: Result<Vec<IngestSource>, _> =
        sources.iter().map(|text| IngestSource::parse(text)).collect();
    let sources = sources?;
    let Stores { database, .. } = context.app.open_stores().await?;
    // A document can have a copy of a secret in it.
    if let Some(notice) = context.app.teach_secrets(&database).await? {
        context.printer.note(&notice);
    }
    let index = knowledge::open(context.config(), database).await?;
    let retrieval = index.in_space(&Space::Owner);
    for source in &sources {
        check_source(&retrieval, &collection, source).await?;
    }
    let scrubber = context.app.scrubber.clone();
    let ingest = knowledge::build_ingester(context.config(), index, scrubber)?;
    let cancel = CancellationToken::new();
    let mut signals = StopSignals::new()?;
    let mut stopped = None;
    let mut meter = ProgressMeter::new(quiet);
    let report = {
        let mut show =
            |progress: lango_librarian::documents::IngestProgress<'_>| meter.show(&progress);
        let running = ingest.run(&Space::Owner, &sources, &collection, dry_run, &mut show, &cancel);
        tokio::pin!(running);
        loop {
            tokio::select! {
                report = &mut running => break report,
                code = signals.next() => {
                    stopped = Some(code);
                    // The document that is being written stays as it was.
                    cancel.cancel();
                }
            }
        }
    };
    meter.clear();
    let report = report?;
    let embedded = retrieval.embedder().is_some();
    if let Some(error) = retrieval.take_failure() {
        write_stderr(&format!("{error}. Until then, texts are found by their words.\n"));
    }
    if json {
        context.printer.json(&IngestView {
            collection: &collection,
            dry_run,
            report: &report,
            embedded,
        })?;
    } else {
        let mut text = describe_report(&report, &collection, dry_run);
        if let (EmbeddingChoice::Absent(why), 1..) =
            (knowledge::choose_embedding(context.config()), report.documents())
        {
            text += &format!("{why}.\n");
        }
        context.printer.print(&text)?;
    }
    Ok(match stopped {
        Some(code) if report.cancelled => code,
        _ if report.failed() => ExitStatus::Failure,
        _ => ExitStatus::Success,
    })
}

/// Opens the index.
pub(super) async fn open(context: &CommandContext) -> Result<RetrievalIndex, Failure> {
    let Stores { database, .. } = context.app.open_stores().await?;
    Ok(knowledge::open(context.config(), database).await?)
}

/// Refuses a path that does not exist, unless its document is to be removed.
async fn check_source(
    retrieval: &Retrieval,
    collection: &str,
    source: &IngestSource,
) -> Result<(), Failure> {
    let IngestSource::Path(path) = source else { return Ok(()) };
    let Err(error) = path.symlink_metadata() else { return Ok(()) };
    let known = match absolute_path_text(path) {
        Some(key) => {
            let key = EntryKey::new(EntryKind::Documents, collection, key);
            retrieval.find_entry_digest(&key).await?.is_some()
        }
        None => false,
    };
    if known && error.kind() == io::ErrorKind::NotFound {
        return Ok(());
    }
    let shown = path.display();
    Err(Failure::usage(format!(
        "{shown} cannot be read: {error}. If documents below it should go: \
         lango documents remove {shown}"
    )))
}

/// Returns the path that names a document; none if it is no text, as every name in the index is.
pub(super) fn absolute_path_text(path: &Path) -> Option<String> {
    let absolute = path.canonicalize().or_else(|_| std::path::absolute(path)).ok()?;
    absolute.to_str().map(str::to_owned)
}

fn describe_report(report: &IngestReport, collection: &str, dry_run: bool) -> String {
    let would = if dry_run { " (nothing was written)" } else { "" };
    let mut text = format!(
        "{} in {collection}: {} new, {} changed, {} unchanged, {} removed; {}{would}\n",
        plural(report.documents(), "document", "documents"),
        report.added,
        report.replaced,
        report.unchanged,
        report.removed.len(),
        plural(report.passages, "new passage", "new passages"),
    );
    if report.left_out > 0 {
        text += &format!(
            "Files and directories left out, because hidden or named in .gitignore: {}\n",
            report.left_out
        );
    }
    let removed = report.removed.iter().map(|key| format!("  {key}\n"));
    append_list(&mut text, "Removed, because they are not there any more:", removed);
    let notes = report.notes.iter().map(|one| format!("  {}: {}\n", one.source, one.note));
    append_list(&mut text, "Worth knowing:", notes);
    let skipped = report.skipped.iter().map(|one| format!("  {}: {}\n", one.source, one.reason));
    append_list(&mut text, "Not read:", skipped);
    if report.cancelled {
        text += "Stopped before the end. The same command goes on from here.\n";
    }
    text
}

fn append_list(text: &mut String, title: &str, lines: impl ExactSizeIterator<Item = String>) {
    let count = lines.len();
    if count == 0 {
        return;
    }
    *text += &format!("{title}\n");
    lines.take(MAX_NAMED_FILE_COUNT).for_each(|line| text.push_str(&line));
    if count > MAX_NAMED_FILE_COUNT {
        *text += &format!("  … and {} more; --json lists all\n", count - MAX_NAMED_FILE_COUNT);
    }
}
