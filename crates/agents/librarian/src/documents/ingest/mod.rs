//! Reads sources into a collection; unchanged documents are skipped.
//!
//! Each document is written in one transaction, so an interrupted ingest keeps what it has written,
//! and running it again does the rest. No other progress is stored.

mod fetch;
mod prepare;
mod report;
mod source;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lango_egress::SiteCredential;
use lango_places::Places;
use lango_protocol::Space;
use lango_retrieval::{EntryKey, EntryKind, PutOutcome, Retrieval, RetrievalError, RetrievalIndex};
use lango_tool::ExcludedPaths;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::confinement::FileAccess;
use super::read::DocumentReader;
use super::walk::{WalkStep, walk_files};
use prepare::{DocumentProducer, PreparedDocument, SeenPaths, SourceOutcome, read_ahead};

pub use fetch::PageFetcher;
pub use report::{IngestProgress, IngestReport, SkippedSource, SourceNote};
pub use source::{IngestSource, SourceError};

/// Names the collection that is used if none is given.
pub const DEFAULT_COLLECTION: &str = "documents";

/// Limits how many documents are read ahead of the one being written.
const QUEUE_CAPACITY: usize = 16;

/// Limits how many keys are read at once to find removed files.
const ENTRIES_PER_PAGE: u32 = 500;

/// Says why an ingest ended early. Documents that were written stay.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The index failed.
    #[error(transparent)]
    Retrieval(#[from] RetrievalError),
    /// A defect of this program.
    #[error("the ingest failed: {0}. This is a bug in lango; please report it")]
    Broken(String),
    /// The user: a collection needs a name that can be typed.
    #[error(
        "{0:?} is not a valid collection name: use letters, digits, `-`, `_` and `.`, 64 at most"
    )]
    Collection(String),
}

/// Reads sources into the index. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ingester {
    index: RetrievalIndex,
    reader: DocumentReader,
    fetch: Option<PageFetcher>,
    access: FileAccess,
}

impl Ingester {
    /// Creates an ingest of any file that the user may read, and of pages if `fetch` is given.
    pub fn new(index: RetrievalIndex, reader: DocumentReader, fetch: Option<PageFetcher>) -> Self {
        Self { index, reader, fetch, access: FileAccess::Anywhere }
    }

    /// Limits the ingest to what a call of an agent may read: files in `root`, except for excluded
    /// ones, with paths relative to it, and pages of the site that was asked about.
    pub fn within(
        self,
        root: &Path,
        places: Arc<Places>,
        excluded: ExcludedPaths,
    ) -> std::io::Result<Self> {
        let access = FileAccess::within(root, places, excluded)?;
        Ok(Self { access, fetch: self.fetch.map(PageFetcher::within_site), ..self })
    }

    /// Sends a header along to its site.
    pub(super) fn with_credential(self, credential: SiteCredential) -> Self {
        Self { fetch: self.fetch.map(|fetch| fetch.with_credential(credential)), ..self }
    }

    /// Returns the index that documents are written to.
    pub fn index(&self) -> &RetrievalIndex {
        &self.index
    }

    /// Reads sources into a collection of a space. With `pretend`, nothing is written.
    ///
    /// Unreadable sources are listed in the report and stop nothing. Documents below an ingested
    /// directory are removed if their files no longer exist or are hidden or ignored now.
    pub async fn run(
        &self,
        space: &Space,
        sources: &[IngestSource],
        collection: &str,
        pretend: bool,
        progress: &mut (dyn FnMut(IngestProgress<'_>) + Send),
        cancel: &CancellationToken,
    ) -> Result<IngestReport, IngestError> {
        check_collection(collection)?;
        let retrieval = self.index.in_space(space);
        let total = self.count_sources(sources, cancel).await?;
        let (out, ready) = mpsc::channel(QUEUE_CAPACITY);
        let producer = DocumentProducer {
            retrieval: &retrieval,
            reader: &self.reader,
            fetch: self.fetch.as_ref(),
            access: &self.access,
            collection,
            cancel,
            out,
            read_ahead: read_ahead(),
        };
        let mut writer = DocumentWriter {
            retrieval: &retrieval,
            collection,
            pretend,
            done: 0,
            total,
            report: IngestReport::default(),
        };
        let (seen, written) =
            tokio::join!(producer.run(sources), writer.run(ready, progress, cancel));
        written?;
        let seen = seen?;
        if cancel.is_cancelled() {
            writer.report.cancelled = true;
            return Ok(writer.report);
        }
        writer.remove_gone(&seen, cancel).await?;
        writer.report.cancelled = cancel.is_cancelled();
        Ok(writer.report)
    }

    /// Counts the files and pages.
    async fn count_sources(
        &self,
        sources: &[IngestSource],
        cancel: &CancellationToken,
    ) -> Result<u64, IngestError> {
        let mut total = 0;
        let mut roots: Vec<PathBuf> = Vec::new();
        for source in sources {
            match source {
                IngestSource::Page(_) => total += 1,
                IngestSource::Path(path) => match self.access.resolve(path) {
                    Ok(root) => roots.push(root),
                    Err(_) => total += 1,
                },
            }
        }
        let cancel = cancel.clone();
        let counting = move || {
            let steps = roots.iter().flat_map(|root| walk_files(root));
            let steps = steps.take_while(|_| !cancel.is_cancelled());
            steps.filter(|step| matches!(step, WalkStep::File { .. })).count() as u64
        };
        let counted = tokio::task::spawn_blocking(counting).await;
        Ok(total + counted.map_err(|error| IngestError::Broken(error.to_string()))?)
    }
}

/// Checks that a text can be the name of a collection.
pub fn check_collection(name: &str) -> Result<(), IngestError> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits = (1..=64).contains(&name.chars().count()) && name.chars().all(is_plain);
    if fits { Ok(()) } else { Err(IngestError::Collection(name.to_owned())) }
}

/// The second half of an ingest: it embeds and writes one document after another.
struct DocumentWriter<'a> {
    retrieval: &'a Retrieval,
    collection: &'a str,
    pretend: bool,
    done: u64,
    total: u64,
    report: IngestReport,
}

impl DocumentWriter<'_> {
    async fn run(
        &mut self,
        mut ready: mpsc::Receiver<SourceOutcome>,
        progress: &mut (dyn FnMut(IngestProgress<'_>) + Send),
        cancel: &CancellationToken,
    ) -> Result<(), IngestError> {
        while let Some(ready) = ready.recv().await {
            if cancel.is_cancelled() {
                break;
            }
            let applied = match self.apply_outcome(ready, cancel).await {
                // The document is as it was before.
                Err(IngestError::Retrieval(RetrievalError::Cancelled)) => break,
                applied => applied?,
            };
            let Some(current) = applied else { continue };
            self.done += 1;
            progress(IngestProgress {
                done: self.done,
                // Files may be created meanwhile.
                total: self.total.max(self.done),
                passages: self.report.passages,
                bytes: self.report.bytes,
                skipped: self.report.skipped.len() as u64,
                current: &current,
            });
        }
        Ok(())
    }

    /// Applies one outcome. Returns the source if it counts as done.
    async fn apply_outcome(
        &mut self,
        ready: SourceOutcome,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, IngestError> {
        match ready {
            SourceOutcome::LeftOut(entries) => {
                self.report.left_out += entries;
                Ok(None)
            }
            SourceOutcome::Unchanged { key, bytes } => {
                self.report.unchanged += 1;
                self.report.bytes += bytes;
                Ok(Some(key))
            }
            SourceOutcome::Skipped { source, reason, stale, counts } => {
                if let Some(key) = stale {
                    self.remove_document(key).await?;
                }
                self.report.skipped.push(SkippedSource { source: source.clone(), reason });
                Ok(counts.then_some(source))
            }
            SourceOutcome::Entry(prepared) => self.put_document(*prepared, cancel).await.map(Some),
        }
    }

    async fn put_document(
        &mut self,
        prepared: PreparedDocument,
        cancel: &CancellationToken,
    ) -> Result<String, IngestError> {
        let PreparedDocument { entry, bytes, notes, permit } = prepared;
        let put = if self.pretend {
            let there = self.retrieval.find_entry_digest(&entry.key).await?;
            there.map_or(PutOutcome::Added, |_| PutOutcome::Replaced)
        } else {
            self.retrieval.put_entry_unless_cancelled(&entry, cancel).await?
        };
        drop(permit);
        match put {
            PutOutcome::Added => self.report.added += 1,
            PutOutcome::Replaced => self.report.replaced += 1,
            // The same file was named twice.
            PutOutcome::Unchanged => self.report.unchanged += 1,
        }
        self.report.bytes += bytes;
        if put != PutOutcome::Unchanged {
            self.report.passages += entry.passages.len() as u64;
        }
        let source = entry.source;
        let notes = notes.into_iter().map(|note| SourceNote { source: source.clone(), note });
        self.report.notes.extend(notes);
        Ok(source)
    }

    async fn remove_document(&mut self, key: String) -> Result<(), IngestError> {
        if !self.pretend {
            let entry = EntryKey::new(EntryKind::Documents, self.collection, key.as_str());
            self.retrieval.remove(&entry).await?;
        }
        self.report.removed.push(key);
        Ok(())
    }

    /// Removes the documents of ingested directories whose files were not found there.
    async fn remove_gone(
        &mut self,
        seen: &SeenPaths,
        cancel: &CancellationToken,
    ) -> Result<(), IngestError> {
        let is_gone = |key: &str| {
            let path = Path::new(key);
            let below = |directory: &PathBuf| path.starts_with(directory);
            seen.roots.iter().any(below)
                && !seen.closed.iter().any(below)
                && !seen.keys.contains(key)
        };
        let mut after: Option<EntryKey> = None;
        while !seen.roots.is_empty() {
            let collection = Some(self.collection);
            let found = self
                .retrieval
                .list_entries(EntryKind::Documents, collection, after.as_ref(), ENTRIES_PER_PAGE)
                .await?;
            for entry in found.iter().filter(|entry| is_gone(&entry.key.key)) {
                if cancel.is_cancelled() {
                    return Ok(());
                }
                // It may have been removed already because it is no document any more.
                if !self.report.removed.contains(&entry.key.key) {
                    self.remove_document(entry.key.key.clone()).await?;
                }
            }
            match found.into_iter().last() {
                Some(last) => after = Some(last.key),
                None => break,
            }
        }
        Ok(())
    }
}
