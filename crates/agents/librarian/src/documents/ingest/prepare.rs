//! The first half of an ingest: finding, reading and cutting. It runs ahead of the second half, which
//! embeds and writes, by a few documents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lango_retrieval::{EntryKey, NewEntry, NewPassage, Retrieval, RetrievalError, Space};
use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::super::confinement::Access;
use super::super::passages::{Passage, passages};
use super::super::read::{Content, Document, Reader, Unreadable};
use super::super::walk::{Step, walk};
use super::fetch::{Fetch, NotFetched};
use super::{IngestError, Source};

/// Stands before the digest of the content. A new way of reading or cutting gets a new number, and
/// what was ingested the old way is read again.
const WAY: &str = "1";

/// Kibibytes of files that are read but not yet written. A larger file has this to itself.
const AHEAD: u32 = 8 * 1024;

/// What comes of one file or page.
pub(super) enum Ready {
    /// A document, to be put in.
    Entry(Box<Prepared>),
    /// It is there as it is.
    Unchanged { key: String, bytes: u64 },
    /// There is nothing to put in.
    Skipped { source: String, reason: Unreadable, stale: Option<String>, counts: bool },
    /// Entries of a directory that are hidden or ignored.
    LeftOut(u64),
}

pub(super) struct Prepared {
    pub(super) entry: NewEntry,
    pub(super) bytes: u64,
    pub(super) notes: Vec<String>,
    /// Held until it is written, so that what is read ahead has a limit.
    pub(super) permit: OwnedSemaphorePermit,
}

/// What a walk through directories has seen, to tell what has gone.
#[derive(Default)]
pub(super) struct Seen {
    /// Directories that were ingested as a whole.
    pub(super) roots: Vec<PathBuf>,
    pub(super) keys: std::collections::HashSet<String>,
    /// Directories that could not be looked into.
    pub(super) closed: Vec<PathBuf>,
}

pub(super) struct Producer<'a> {
    pub(super) retrieval: &'a Retrieval,
    pub(super) reader: &'a Reader,
    pub(super) fetch: Option<&'a Fetch>,
    pub(super) access: &'a Access,
    pub(super) collection: &'a str,
    pub(super) cancel: &'a CancellationToken,
    pub(super) out: mpsc::Sender<Ready>,
    pub(super) room: Arc<Semaphore>,
}

/// As much room as there is for reading ahead.
pub(super) fn room() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(AHEAD as usize))
}

impl Producer<'_> {
    /// Goes through all sources. Ends early when it is cancelled or nobody listens any more.
    pub(super) async fn run(self, sources: &[Source]) -> Result<Seen, IngestError> {
        let mut seen = Seen::default();
        for source in sources {
            match source {
                Source::Page(url) => {
                    // Reading has no effect, so it can be dropped at any point.
                    tokio::select! {
                        () = self.cancel.cancelled() => break,
                        ready = self.page(url) => self.give(ready?).await,
                    }
                }
                Source::Path(path) => self.path(path, &mut seen).await?,
            }
            if self.stopped() {
                break;
            }
        }
        Ok(seen)
    }

    fn stopped(&self) -> bool {
        self.cancel.is_cancelled() || self.out.is_closed()
    }

    async fn give(&self, ready: Ready) {
        // Nobody listens once the other half has failed; `stopped` notices.
        let _ = self.out.send(ready).await;
    }

    async fn path(&self, path: &Path, seen: &mut Seen) -> Result<(), IngestError> {
        let root = match self.access.resolve(path) {
            Ok(root) => root,
            Err(reason) => {
                let stale = self.gone(path).await?;
                let source = path.display().to_string();
                self.give(Ready::Skipped { source, reason, stale, counts: true }).await;
                return Ok(());
            }
        };
        if root.is_dir() {
            seen.roots.push(root.clone());
        }
        // The walk touches the disk, so it has a thread, which stops when nobody takes its steps.
        let (steps, mut found) = mpsc::channel(64);
        let walking = tokio::task::spawn_blocking(move || {
            walk(&root).all(|step| steps.blocking_send(step).is_ok());
        });
        while let Some(step) = found.recv().await {
            if self.stopped() {
                break;
            }
            let ready = match step {
                Step::LeftOut { entries } => Ready::LeftOut(entries),
                Step::Skipped { path, reason, hides_more } => {
                    if hides_more {
                        seen.closed.push(path.clone());
                    }
                    let source = path.display().to_string();
                    Ready::Skipped { source, reason, stale: None, counts: false }
                }
                Step::File { path, bytes } => tokio::select! {
                    () = self.cancel.cancelled() => break,
                    ready = self.file(path, bytes, seen) => ready?,
                },
            };
            self.give(ready).await;
        }
        drop(found);
        walking.await.map_err(|error| IngestError::Broken(error.to_string()))
    }

    /// The key of a file that was named, is not there, and was ingested once.
    async fn gone(&self, path: &Path) -> Result<Option<String>, RetrievalError> {
        let absolute = match self.access {
            Access::Anywhere => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            Access::Within { root, .. } => root.join(path),
        };
        let Some(key) = absolute.to_str().filter(|_| !absolute.exists()) else { return Ok(None) };
        let there = self.retrieval.entry_digest(&self.key(key)).await?;
        Ok(there.map(|_| key.to_owned()))
    }

    fn key(&self, key: &str) -> EntryKey {
        EntryKey::new(Space::Documents, self.collection, key)
    }

    async fn file(&self, path: PathBuf, size: u64, seen: &mut Seen) -> Result<Ready, IngestError> {
        let Some(key) = path.to_str().map(str::to_owned) else {
            let source = path.display().to_string();
            let reason = Unreadable::Name;
            return Ok(Ready::Skipped { source, reason, stale: None, counts: true });
        };
        seen.keys.insert(key.clone());
        let permit = self.permit(size).await?;
        let (access, reader) = (self.access.clone(), self.reader.clone());
        let loading = move || {
            let file = access.open(&path)?;
            let content = reader.load_open(&path, &file)?;
            let digest = digest(&content.bytes);
            Ok::<_, Unreadable>((content, digest))
        };
        let loaded = tokio::task::spawn_blocking(loading).await;
        match loaded.map_err(|error| IngestError::Broken(error.to_string()))? {
            Ok((content, digest)) => self.document(key, content, digest, permit).await,
            Err(reason) => self.skipped(key, reason).await,
        }
    }

    async fn page(&self, url: &Url) -> Result<Ready, IngestError> {
        let key = url.to_string();
        let Some(fetch) = self.fetch else {
            let detail = "pages are not fetched here".to_owned();
            return self.skipped(key, Unreadable::Unreachable { detail }).await;
        };
        match fetch.get(url).await {
            Ok(content) => {
                let permit = self.permit(content.bytes.len() as u64).await?;
                let digest = digest(&content.bytes);
                self.document(key, content, digest, permit).await
            }
            Err(NotFetched::Gone(reason)) => {
                let there = self.retrieval.entry_digest(&self.key(&key)).await?;
                let stale = there.map(|_| key.clone());
                Ok(Ready::Skipped { source: key, reason, stale, counts: true })
            }
            Err(NotFetched::Other(reason)) => self.skipped(key, reason).await,
        }
    }

    async fn permit(&self, bytes: u64) -> Result<OwnedSemaphorePermit, IngestError> {
        let wanted = u32::try_from(bytes / 1024).unwrap_or(u32::MAX).clamp(1, AHEAD);
        let permit = Arc::clone(&self.room).acquire_many_owned(wanted).await;
        permit.map_err(|error| IngestError::Broken(error.to_string()))
    }

    async fn document(
        &self,
        key: String,
        content: Content,
        digest: String,
        permit: OwnedSemaphorePermit,
    ) -> Result<Ready, IngestError> {
        let entry_key = self.key(&key);
        let bytes = content.bytes.len() as u64;
        if self.retrieval.entry_digest(&entry_key).await?.as_deref() == Some(&digest) {
            return Ok(Ready::Unchanged { key, bytes });
        }
        let document = match self.reader.read(content).await {
            Ok(document) => document,
            Err(reason) => return self.skipped(key, reason).await,
        };
        let cutting = tokio::task::spawn_blocking(move || {
            let passages = passages(&document);
            (document, passages)
        });
        let (document, passages) =
            cutting.await.map_err(|error| IngestError::Broken(error.to_string()))?;
        if passages.is_empty() {
            return self.skipped(key, Unreadable::Empty).await;
        }
        let Document { title, notes, .. } = document;
        let title = title.unwrap_or_else(|| name(&key));
        let passages = passages.into_iter().map(|passage| below(&title, passage)).collect();
        let entry = NewEntry { key: entry_key, title, source: key, digest, passages };
        Ok(Ready::Entry(Box::new(Prepared { entry, bytes, notes, permit })))
    }

    /// Something that is no document. If it was one, that one does not hold any more.
    async fn skipped(&self, key: String, reason: Unreadable) -> Result<Ready, IngestError> {
        let there = if reason.is_final() {
            self.retrieval.entry_digest(&self.key(&key)).await?
        } else {
            None
        };
        let stale = there.map(|_| key.clone());
        Ok(Ready::Skipped { source: key, reason, stale, counts: true })
    }
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{WAY}:{hex}")
}

/// The last part of a path or an address.
fn name(key: &str) -> String {
    let path = key.split(['?', '#']).next().unwrap_or(key).trim_end_matches('/');
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(key).to_owned()
}

/// A passage with the headings below the title, which is kept with the document.
fn below(title: &str, passage: Passage) -> NewPassage {
    let heading = match passage.heading.strip_prefix(title) {
        Some("") => String::new(),
        Some(rest) => rest.strip_prefix(" > ").map_or(passage.heading.clone(), str::to_owned),
        None => passage.heading,
    };
    NewPassage { heading, text: passage.text, position: passage.span.to_string() }
}
