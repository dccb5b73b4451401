//! The ingest: sources in, documents in a collection, unchanged ones left alone.
//!
//! Each document is written on its own and whole, so an ingest that was stopped, by whatever means,
//! has done what it has done, and doing it again does the rest. Nothing else is remembered.

mod fetch;
mod prepare;
mod report;
mod source;

use std::path::{Path, PathBuf};

use lango_retrieval::{EntryKey, Put, Retrieval, RetrievalError, Space};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::confinement::Access;
use super::read::Reader;
use super::walk::{Step, walk};
use prepare::{Prepared, Producer, Ready, Seen, room};

pub use fetch::Fetch;
pub use report::{Note, Progress, Report, Skipped};
pub use source::{Source, SourceError};

/// The collection that is meant where none is named.
pub const DEFAULT_COLLECTION: &str = "documents";

/// Documents that are read ahead of the one that is being written.
const QUEUE: usize = 16;

/// Keys that are looked at at once for what has gone.
const PAGE: u32 = 500;

/// Why an ingest ended early. What was done stays done.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The index.
    #[error(transparent)]
    Retrieval(#[from] RetrievalError),
    /// Nobody: a part of this program broke.
    #[error("the ingest broke down: {0}. This is a bug in lango; please report it")]
    Broken(String),
    /// The user: a collection needs a name that can be typed.
    #[error("{0:?} is no name for a collection: use letters, digits, `-`, `_` and `.`, 64 at most")]
    Collection(String),
}

/// Reads sources into the index. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ingest {
    retrieval: Retrieval,
    reader: Reader,
    fetch: Option<Fetch>,
    access: Access,
}

impl Ingest {
    /// An ingest of any file that the user may read, and of pages where `fetch` is given.
    pub fn new(retrieval: Retrieval, reader: Reader, fetch: Option<Fetch>) -> Self {
        Self { retrieval, reader, fetch, access: Access::Anywhere }
    }

    /// The same, of files in `root` alone. Paths are relative to it.
    pub fn within(self, root: &Path) -> std::io::Result<Self> {
        Ok(Self { access: Access::within(root)?, ..self })
    }

    /// The index it writes to.
    pub fn retrieval(&self) -> &Retrieval {
        &self.retrieval
    }

    /// Reads sources into a collection. With `pretend`, nothing is written.
    ///
    /// What cannot be read is listed in the report and stops nothing. Of a directory, documents are
    /// removed whose files have gone, or are hidden or ignored by now.
    pub async fn run(
        &self,
        sources: &[Source],
        collection: &str,
        pretend: bool,
        progress: &mut (dyn FnMut(Progress<'_>) + Send),
        cancel: &CancellationToken,
    ) -> Result<Report, IngestError> {
        check_collection(collection)?;
        let total = self.count(sources, cancel).await?;
        let (out, ready) = mpsc::channel(QUEUE);
        let producer = Producer {
            retrieval: &self.retrieval,
            reader: &self.reader,
            fetch: self.fetch.as_ref(),
            access: &self.access,
            collection,
            cancel,
            out,
            room: room(),
        };
        let mut writer = Writer {
            retrieval: &self.retrieval,
            collection,
            pretend,
            done: 0,
            total,
            report: Report::default(),
        };
        let (seen, written) =
            tokio::join!(producer.run(sources), writer.run(ready, progress, cancel));
        written?;
        let seen = seen?;
        if cancel.is_cancelled() {
            writer.report.cancelled = true;
            return Ok(writer.report);
        }
        writer.remove_gone(&seen).await?;
        Ok(writer.report)
    }

    /// How many files and pages there are.
    async fn count(
        &self,
        sources: &[Source],
        cancel: &CancellationToken,
    ) -> Result<u64, IngestError> {
        let mut total = 0;
        let mut roots: Vec<PathBuf> = Vec::new();
        for source in sources {
            match source {
                Source::Page(_) => total += 1,
                Source::Path(path) => match self.access.resolve(path) {
                    Ok(root) => roots.push(root),
                    Err(_) => total += 1,
                },
            }
        }
        let cancel = cancel.clone();
        let counting = move || {
            let steps = roots.iter().flat_map(|root| walk(root));
            let steps = steps.take_while(|_| !cancel.is_cancelled());
            steps.filter(|step| matches!(step, Step::File { .. })).count() as u64
        };
        let counted = tokio::task::spawn_blocking(counting).await;
        Ok(total + counted.map_err(|error| IngestError::Broken(error.to_string()))?)
    }
}

/// Whether something can be the name of a collection.
pub fn check_collection(name: &str) -> Result<(), IngestError> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits = (1..=64).contains(&name.chars().count()) && name.chars().all(is_plain);
    if fits { Ok(()) } else { Err(IngestError::Collection(name.to_owned())) }
}

/// The second half: embedding and writing, one document after another.
struct Writer<'a> {
    retrieval: &'a Retrieval,
    collection: &'a str,
    pretend: bool,
    done: u64,
    total: u64,
    report: Report,
}

impl Writer<'_> {
    async fn run(
        &mut self,
        mut ready: mpsc::Receiver<Ready>,
        progress: &mut (dyn FnMut(Progress<'_>) + Send),
        cancel: &CancellationToken,
    ) -> Result<(), IngestError> {
        while let Some(ready) = ready.recv().await {
            if cancel.is_cancelled() {
                break;
            }
            let Some(current) = self.take(ready).await? else { continue };
            self.done += 1;
            progress(Progress {
                done: self.done,
                // Files may come while we look.
                total: self.total.max(self.done),
                passages: self.report.passages,
                bytes: self.report.bytes,
                skipped: self.report.skipped.len() as u64,
                current: &current,
            });
        }
        Ok(())
    }

    /// Does what is to be done with one, and says which it was if it counts as done.
    async fn take(&mut self, ready: Ready) -> Result<Option<String>, IngestError> {
        match ready {
            Ready::LeftOut(entries) => {
                self.report.left_out += entries;
                Ok(None)
            }
            Ready::Unchanged { key, bytes } => {
                self.report.unchanged += 1;
                self.report.bytes += bytes;
                Ok(Some(key))
            }
            Ready::Skipped { source, reason, stale, counts } => {
                if let Some(key) = stale {
                    self.remove(key).await?;
                }
                self.report.skipped.push(Skipped { source: source.clone(), reason });
                Ok(counts.then_some(source))
            }
            Ready::Entry(prepared) => self.put(*prepared).await.map(Some),
        }
    }

    async fn put(&mut self, prepared: Prepared) -> Result<String, IngestError> {
        let Prepared { entry, bytes, notes, permit } = prepared;
        let put = if self.pretend {
            let there = self.retrieval.entry_digest(&entry.key).await?;
            there.map_or(Put::Added, |_| Put::Replaced)
        } else {
            self.retrieval.put(&entry).await?
        };
        drop(permit);
        match put {
            Put::Added => self.report.added += 1,
            Put::Replaced => self.report.replaced += 1,
            // The same file was named twice.
            Put::Unchanged => self.report.unchanged += 1,
        }
        self.report.bytes += bytes;
        if put != Put::Unchanged {
            self.report.passages += entry.passages.len() as u64;
        }
        let source = entry.source;
        let notes = notes.into_iter().map(|note| Note { source: source.clone(), note });
        self.report.notes.extend(notes);
        Ok(source)
    }

    async fn remove(&mut self, key: String) -> Result<(), IngestError> {
        if !self.pretend {
            let entry = EntryKey::new(Space::Documents, self.collection, key.as_str());
            self.retrieval.remove(&entry).await?;
        }
        self.report.removed.push(key);
        Ok(())
    }

    /// Removes documents below the directories that were ingested as a whole and not found there.
    async fn remove_gone(&mut self, seen: &Seen) -> Result<(), IngestError> {
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
            let found =
                self.retrieval.entries(Space::Documents, collection, after.as_ref(), PAGE).await?;
            for entry in found.iter().filter(|entry| is_gone(&entry.key.key)) {
                // It may have been taken out already, because it is no document any more.
                if !self.report.removed.contains(&entry.key.key) {
                    self.remove(entry.key.key.clone()).await?;
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
