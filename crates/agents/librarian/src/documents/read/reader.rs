//! Reads a file: checks its size, finds its format and encoding, and chooses the parser.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use lango_redaction::Scrubber;
use serde::{Deserialize, Serialize};

use super::super::confinement::FileAccess;
use super::super::passages::{Passage, cut_into_passages};
use super::document::{Document, DocumentKind};
use super::helper::ReaderProcess;
use super::kind::detect_kind;
use super::unreadable::UnreadableReason;
use super::{code, decode, docx, html, markdown, pdf, text};

/// Limits how much of a file is used to find its format.
const MAX_START_BYTES: usize = 8 * 1024;

/// Limits a text that is read in this process. Whatever it contains, it takes milliseconds and some
/// megabytes; a longer one has a helper with limits of its own.
const MAX_OWN_TEXT_BYTES: u64 = 32 * 1024;

/// Limits the passages of a document: 32 MiB of prose have fewer.
pub const MAX_PASSAGE_COUNT: usize = 60_000;

/// Limits how much is read.
#[derive(Debug, Clone, Copy)]
pub struct ReadLimits {
    /// The size of a file in bytes. A larger file is not read.
    pub max_file_bytes: u64,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { max_file_bytes: 32 * 1024 * 1024 }
    }
}

/// Holds the bytes of a file or page, with its name and media type.
#[derive(Debug, Clone)]
pub struct FileContent {
    /// The name of the file, or the address of the page.
    pub name: String,
    /// The media type that the server gives.
    pub content_type: Option<String>,
    /// All bytes.
    pub bytes: Vec<u8>,
}

/// Turns files into documents. Cheap to clone.
#[derive(Debug, Clone)]
pub struct DocumentReader {
    helper: ReaderProcess,
    limits: ReadLimits,
    scrubber: Scrubber,
}

impl DocumentReader {
    /// Creates a reader that starts `program` for files whose parsers need a process of their own. The program must call [`super::run_reader_if_requested`].
    pub fn new(program: PathBuf, limits: ReadLimits) -> Self {
        Self { helper: ReaderProcess::new(program), limits, scrubber: Scrubber::default() }
    }

    /// Replaces the values that a scrubber knows in what is read from now on, so that no copy of a
    /// secret gets into the index.
    #[must_use]
    pub fn with_scrubber(self, scrubber: Scrubber) -> Self {
        Self { scrubber, ..self }
    }

    /// Creates a reader that starts this very program.
    pub fn of_this_program(limits: ReadLimits) -> std::io::Result<Self> {
        Ok(Self::new(std::env::current_exe()?, limits))
    }

    /// Returns the bytes of a file, unless they are too many or clearly not text.
    pub fn load(&self, path: &Path) -> Result<FileContent, UnreadableReason> {
        let file = FileAccess::Anywhere.open(path)?;
        self.load_open(path, &file)
    }

    /// Does the same for a file that is open already.
    pub fn load_open(&self, path: &Path, file: &File) -> Result<FileContent, UnreadableReason> {
        let metadata = file.metadata()?;
        require_regular_file(&metadata)?;
        let most = self.limits.max_file_bytes;
        if metadata.len() > most {
            return Err(UnreadableReason::TooLarge { bytes: metadata.len(), most });
        }
        let name = path.to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        file.take(MAX_START_BYTES as u64).read_to_end(&mut bytes)?;
        let kind = detect_kind(&name, None, &bytes)?;
        if !is_packed(kind) && decode::is_binary(&bytes) {
            return Err(UnreadableReason::Binary);
        }
        // It may have grown since it was measured.
        let read = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        file.take((most + 1).saturating_sub(read)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(UnreadableReason::TooLarge { bytes: bytes.len() as u64, most });
        }
        Ok(FileContent { name, content_type: None, bytes })
    }

    /// Reads a file or page and cuts it into passages. Dropping the future ends the reading.
    pub async fn read(&self, content: FileContent) -> Result<CutDocument, UnreadableReason> {
        let FileContent { name, content_type, bytes } = content;
        let size = bytes.len() as u64;
        if size > self.limits.max_file_bytes {
            return Err(UnreadableReason::TooLarge {
                bytes: size,
                most: self.limits.max_file_bytes,
            });
        }
        let start = bytes.get(..MAX_START_BYTES).unwrap_or(&bytes);
        if start.trim_ascii().is_empty() && size <= MAX_START_BYTES as u64 {
            return Err(UnreadableReason::Empty);
        }
        let kind = detect_kind(&name, content_type.as_deref(), start)?;
        let failed =
            |error: tokio::task::JoinError| UnreadableReason::Failed { detail: error.to_string() };
        let document = if is_packed(kind) || size > MAX_OWN_TEXT_BYTES {
            self.helper.read(kind, content_type.as_deref(), bytes).await?
        } else {
            let reading = move || read_document(kind, content_type.as_deref(), bytes);
            tokio::task::spawn_blocking(reading).await.map_err(failed)??
        };
        let scrubber = self.scrubber.clone();
        tokio::task::spawn_blocking(move || document.scrub(&scrubber)).await.map_err(failed)
    }
}

/// Represents a file that was read and cut into passages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutDocument {
    /// The document's own title, if it has one.
    pub title: Option<String>,
    /// The format it was read as.
    pub kind: DocumentKind,
    /// Its passages, in order. Never empty.
    pub passages: Vec<Passage>,
    /// Remarks about how it was read, such as bytes that had to be replaced.
    pub notes: Vec<String>,
}

impl CutDocument {
    /// Replaces the values that a scrubber knows in all texts.
    fn scrub(mut self, scrubber: &Scrubber) -> Self {
        let texts = self.passages.iter_mut().flat_map(|one| [&mut one.heading, &mut one.text]);
        for text in texts.chain(&mut self.title).chain(&mut self.notes) {
            if let Cow::Owned(clean) = scrubber.scrub(text) {
                *text = clean;
            }
        }
        self
    }
}

/// Reads and cuts a file in this process.
pub(super) fn read_document(
    kind: DocumentKind,
    content_type: Option<&str>,
    bytes: Vec<u8>,
) -> Result<CutDocument, UnreadableReason> {
    let document = match kind {
        DocumentKind::Pdf => pdf::read_pdf(&bytes)?,
        DocumentKind::Docx => docx::read_docx(&bytes)?,
        kind => read_text(kind, content_type, bytes)?,
    };
    let passages = cut_into_passages(&document);
    if passages.is_empty() {
        return Err(UnreadableReason::Empty);
    }
    if passages.len() > MAX_PASSAGE_COUNT {
        return Err(UnreadableReason::TooManyPassages { most: MAX_PASSAGE_COUNT });
    }
    let Document { title, kind, notes, .. } = document;
    Ok(CutDocument { title, kind, passages, notes })
}

fn is_packed(kind: DocumentKind) -> bool {
    matches!(kind, DocumentKind::Pdf | DocumentKind::Docx)
}

fn require_regular_file(metadata: &Metadata) -> Result<(), UnreadableReason> {
    let kind = metadata.file_type();
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(UnreadableReason::NotAFile { what: what.to_owned() })
}

/// Makes a document of plain text. It has no blocks if the text is blank.
pub fn read_plain_text(text: &str) -> Document {
    Document {
        title: None,
        kind: DocumentKind::Text,
        blocks: text::split_paragraphs(text),
        notes: Vec::new(),
    }
}

/// Reads the formats that are text themselves.
pub(crate) fn read_text(
    kind: DocumentKind,
    content_type: Option<&str>,
    bytes: Vec<u8>,
) -> Result<Document, UnreadableReason> {
    let stated = content_type.and_then(|given| html::find_charset(given.as_bytes()));
    let label = stated.or_else(|| match kind {
        DocumentKind::Html => html::find_charset(&bytes),
        _ => None,
    });
    let decoded = decode::decode_text(bytes, label.as_deref())?;
    let (title, blocks) = match kind {
        DocumentKind::Markdown => markdown::read_markdown(&decoded.text),
        DocumentKind::Html => html::read_html(&decoded.text),
        DocumentKind::Code => (None, code::split_code(&decoded.text)),
        _ => (None, text::split_paragraphs(&decoded.text)),
    };
    Ok(Document { title, kind, blocks, notes: decoded.note.into_iter().collect() })
}
