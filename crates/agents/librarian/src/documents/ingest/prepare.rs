//! Is the first half of an ingest: it finds, reads and cuts documents, a few ahead of the second
//! half, which embeds and writes them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lango_retrieval::{EntryKey, EntryKind, NewEntry, NewPassage, Retrieval, RetrievalError};
use lango_text::hex;
use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::super::confinement::FileAccess;
use super::super::passages::Passage;
use super::super::read::{CutDocument, DocumentReader, FileContent, UnreadableReason};
use super::super::walk::{WalkStep, walk_files};
use super::fetch::{FetchFailure, PageFetcher};
use super::{IngestError, IngestSource};

/// Precedes the digest of the content. A change in reading or cutting gets a new number, so that
/// documents of the old version are read again.
const FORMAT_VERSION: &str = "1";

/// Limits how much is read but not yet written, in KiB. A larger file is read alone.
const MAX_READ_AHEAD_KIB: u32 = 8 * 1024;

/// The outcome of one file or page.
pub(super) enum SourceOutcome {
    /// A document to write.
    Entry(Box<PreparedDocument>),
    /// The stored document is up to date.
    Unchanged { key: String, bytes: u64 },
    /// The source has no document to write.
    Skipped { source: String, reason: UnreadableReason, stale: Option<String>, counts: bool },
    /// The number of hidden or ignored entries of a directory.
    LeftOut(u64),
}

pub(super) struct PreparedDocument {
    pub(super) entry: NewEntry,
    pub(super) bytes: u64,
    pub(super) notes: Vec<String>,
    /// Held until the document is written, to limit what is read ahead.
    pub(super) permit: OwnedSemaphorePermit,
}

/// Records the paths that a walk has seen, to find the removed ones.
#[derive(Default)]
pub(super) struct SeenPaths {
    /// Directories that were ingested as a whole.
    pub(super) roots: Vec<PathBuf>,
    pub(super) keys: std::collections::HashSet<String>,
    /// Directories that could not be read.
    pub(super) closed: Vec<PathBuf>,
}

pub(super) struct DocumentProducer<'a> {
    pub(super) retrieval: &'a Retrieval,
    pub(super) reader: &'a DocumentReader,
    pub(super) fetch: Option<&'a PageFetcher>,
    pub(super) access: &'a FileAccess,
    pub(super) collection: &'a str,
    pub(super) cancel: &'a CancellationToken,
    pub(super) out: mpsc::Sender<SourceOutcome>,
    pub(super) read_ahead: Arc<Semaphore>,
}

/// Returns the permits for reading ahead, one for each KiB.
pub(super) fn read_ahead() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(MAX_READ_AHEAD_KIB as usize))
}

impl DocumentProducer<'_> {
    /// Goes through all sources. Ends early when it is cancelled or the receiver is closed.
    pub(super) async fn run(self, sources: &[IngestSource]) -> Result<SeenPaths, IngestError> {
        let mut seen = SeenPaths::default();
        for source in sources {
            match source {
                IngestSource::Page(url) => {
                    // Reading has no effect, so it can be dropped at any point.
                    tokio::select! {
                        () = self.cancel.cancelled() => break,
                        ready = self.prepare_page(url) => self.send_outcome(ready?).await,
                    }
                }
                IngestSource::Path(path) => self.prepare_path(path, &mut seen).await?,
            }
            if self.is_stopped() {
                break;
            }
        }
        Ok(seen)
    }

    fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled() || self.out.is_closed()
    }

    async fn send_outcome(&self, ready: SourceOutcome) {
        // The receiver is closed once the other half has failed; `stopped` notices.
        let _ = self.out.send(ready).await;
    }

    async fn prepare_path(&self, path: &Path, seen: &mut SeenPaths) -> Result<(), IngestError> {
        let root = match self.access.resolve(path) {
            Ok(root) => root,
            Err(reason) => {
                let stale = self.find_removed_key(path).await?;
                let source = path.display().to_string();
                self.send_outcome(SourceOutcome::Skipped { source, reason, stale, counts: true })
                    .await;
                return Ok(());
            }
        };
        if root.is_dir() {
            seen.roots.push(root.clone());
        }
        // The walk reads the disk, so it has a thread, which stops when its receiver is dropped.
        let (steps, mut found) = mpsc::channel(64);
        let walking = tokio::task::spawn_blocking(move || {
            walk_files(&root).all(|step| steps.blocking_send(step).is_ok());
        });
        while let Some(step) = found.recv().await {
            if self.is_stopped() {
                break;
            }
            let ready = match step {
                WalkStep::LeftOut { entries } => SourceOutcome::LeftOut(entries),
                WalkStep::Skipped { path, reason, hides_more } => {
                    if hides_more {
                        seen.closed.push(path.clone());
                    }
                    let source = path.display().to_string();
                    SourceOutcome::Skipped { source, reason, stale: None, counts: false }
                }
                WalkStep::File { path, bytes } => tokio::select! {
                    () = self.cancel.cancelled() => break,
                    ready = self.prepare_file(path, bytes, seen) => ready?,
                },
            };
            self.send_outcome(ready).await;
        }
        drop(found);
        walking.await.map_err(|error| IngestError::Broken(error.to_string()))
    }

    /// Returns the key of a named file that does not exist but was ingested before.
    async fn find_removed_key(&self, path: &Path) -> Result<Option<String>, RetrievalError> {
        let absolute = match self.access {
            FileAccess::Anywhere => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            FileAccess::Within { root, .. } => root.join(path),
        };
        let Some(key) = absolute.to_str().filter(|_| !absolute.exists()) else { return Ok(None) };
        let there = self.retrieval.find_entry_digest(&self.entry_key(key)).await?;
        Ok(there.map(|_| key.to_owned()))
    }

    fn entry_key(&self, key: &str) -> EntryKey {
        EntryKey::new(EntryKind::Documents, self.collection, key)
    }

    async fn prepare_file(
        &self,
        path: PathBuf,
        size: u64,
        seen: &mut SeenPaths,
    ) -> Result<SourceOutcome, IngestError> {
        let Some(key) = path.to_str().map(str::to_owned) else {
            let source = path.display().to_string();
            let reason = UnreadableReason::Name;
            return Ok(SourceOutcome::Skipped { source, reason, stale: None, counts: true });
        };
        seen.keys.insert(key.clone());
        let permit = self.acquire_permit(size).await?;
        let (access, reader) = (self.access.clone(), self.reader.clone());
        let loading = move || {
            let file = access.open(&path)?;
            let content = reader.load_open(&path, &file)?;
            let digest = sha256_hex(&content.bytes);
            Ok::<_, UnreadableReason>((content, digest))
        };
        let loaded = tokio::task::spawn_blocking(loading).await;
        match loaded.map_err(|error| IngestError::Broken(error.to_string()))? {
            Ok((content, digest)) => self.prepare_document(key, content, digest, permit).await,
            Err(reason) => self.skip_source(key, reason).await,
        }
    }

    async fn prepare_page(&self, url: &Url) -> Result<SourceOutcome, IngestError> {
        let key = url.to_string();
        let Some(fetch) = self.fetch else {
            let detail = "pages are not fetched here".to_owned();
            return self.skip_source(key, UnreadableReason::Unreachable { detail }).await;
        };
        match fetch.fetch_page(url).await {
            Ok(content) => {
                let permit = self.acquire_permit(content.bytes.len() as u64).await?;
                let digest = sha256_hex(&content.bytes);
                self.prepare_document(key, content, digest, permit).await
            }
            Err(FetchFailure::Gone(reason)) => {
                let there = self.retrieval.find_entry_digest(&self.entry_key(&key)).await?;
                let stale = there.map(|_| key.clone());
                Ok(SourceOutcome::Skipped { source: key, reason, stale, counts: true })
            }
            Err(FetchFailure::Other(reason)) => self.skip_source(key, reason).await,
        }
    }

    async fn acquire_permit(&self, bytes: u64) -> Result<OwnedSemaphorePermit, IngestError> {
        let wanted = u32::try_from(bytes / 1024).unwrap_or(u32::MAX).clamp(1, MAX_READ_AHEAD_KIB);
        let permit = Arc::clone(&self.read_ahead).acquire_many_owned(wanted).await;
        permit.map_err(|error| IngestError::Broken(error.to_string()))
    }

    async fn prepare_document(
        &self,
        key: String,
        content: FileContent,
        digest: String,
        permit: OwnedSemaphorePermit,
    ) -> Result<SourceOutcome, IngestError> {
        let entry_key = self.entry_key(&key);
        let bytes = content.bytes.len() as u64;
        if self.retrieval.find_entry_digest(&entry_key).await?.as_deref() == Some(&digest) {
            return Ok(SourceOutcome::Unchanged { key, bytes });
        }
        let CutDocument { title, passages, notes, .. } = match self.reader.read(content).await {
            Ok(document) => document,
            Err(reason) => return self.skip_source(key, reason).await,
        };
        let title = title.unwrap_or_else(|| last_path_segment(&key));
        let passages = passages.into_iter().map(|passage| without_title(&title, passage)).collect();
        let entry = NewEntry { key: entry_key, title, source: key, digest, passages };
        Ok(SourceOutcome::Entry(Box::new(PreparedDocument { entry, bytes, notes, permit })))
    }

    /// Returns the outcome for a source that is no document. The document it was before is stale.
    async fn skip_source(
        &self,
        key: String,
        reason: UnreadableReason,
    ) -> Result<SourceOutcome, IngestError> {
        let there = if reason.is_final() {
            self.retrieval.find_entry_digest(&self.entry_key(&key)).await?
        } else {
            None
        };
        let stale = there.map(|_| key.clone());
        Ok(SourceOutcome::Skipped { source: key, reason, stale, counts: true })
    }
}

fn sha256_hex(bytes: &[u8]) -> String {
    format!("{FORMAT_VERSION}:{}", hex(Sha256::digest(bytes)))
}

/// Returns the last part of a path or an address.
fn last_path_segment(key: &str) -> String {
    let path = key.split(['?', '#']).next().unwrap_or(key).trim_end_matches('/');
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(key).to_owned()
}

/// Removes the title from a passage's headings, since it is stored with the document.
fn without_title(title: &str, passage: Passage) -> NewPassage {
    let heading = match passage.heading.strip_prefix(title) {
        Some("") => String::new(),
        Some(rest) => rest.strip_prefix(" > ").map_or(passage.heading.clone(), str::to_owned),
        None => passage.heading,
    };
    NewPassage { heading, text: passage.text, position: passage.span.to_string() }
}
