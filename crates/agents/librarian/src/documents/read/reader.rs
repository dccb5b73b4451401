//! Reads a file: checks its size, finds its format and encoding, and chooses the parser.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::super::confinement::Access;
use super::document::{Document, DocumentKind};
use super::helper::Helper;
use super::kind::kind_of;
use super::unreadable::Unreadable;
use super::{code, decode, html, markdown, text};

/// Limits how much of a file is used to find its format.
const MAX_START_BYTES: usize = 8 * 1024;

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
pub struct Content {
    /// The name of the file, or the address of the page.
    pub name: String,
    /// The media type that the server gives.
    pub content_type: Option<String>,
    /// All bytes.
    pub bytes: Vec<u8>,
}

/// Turns files into documents. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Reader {
    helper: Helper,
    limits: ReadLimits,
}

impl Reader {
    /// Creates a reader that starts `program` for formats whose parsers need a process of their
    /// own. The program must call [`super::run_reader_if_requested`].
    pub fn new(program: PathBuf, limits: ReadLimits) -> Self {
        Self { helper: Helper::new(program), limits }
    }

    /// Creates a reader that starts this very program.
    pub fn of_this_program(limits: ReadLimits) -> std::io::Result<Self> {
        Ok(Self::new(std::env::current_exe()?, limits))
    }

    /// Returns the bytes of a file, unless they are too many or clearly not text.
    pub fn load(&self, path: &Path) -> Result<Content, Unreadable> {
        let file = Access::Anywhere.open(path)?;
        self.load_open(path, &file)
    }

    /// Does the same for a file that is open already.
    pub fn load_open(&self, path: &Path, file: &File) -> Result<Content, Unreadable> {
        let metadata = file.metadata()?;
        require_regular_file(&metadata)?;
        let most = self.limits.max_file_bytes;
        if metadata.len() > most {
            return Err(Unreadable::TooLarge { bytes: metadata.len(), most });
        }
        let name = path.to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        file.take(MAX_START_BYTES as u64).read_to_end(&mut bytes)?;
        let kind = kind_of(&name, None, &bytes)?;
        if !is_packed(kind) && decode::is_binary(&bytes) {
            return Err(Unreadable::Binary);
        }
        // It may have grown since it was measured.
        let read = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        file.take((most + 1).saturating_sub(read)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(Unreadable::TooLarge { bytes: bytes.len() as u64, most });
        }
        Ok(Content { name, content_type: None, bytes })
    }

    /// Makes a document of bytes.
    pub async fn read(&self, content: Content) -> Result<Document, Unreadable> {
        let Content { name, content_type, bytes } = content;
        let size = bytes.len() as u64;
        if size > self.limits.max_file_bytes {
            return Err(Unreadable::TooLarge { bytes: size, most: self.limits.max_file_bytes });
        }
        let start = bytes.get(..MAX_START_BYTES).unwrap_or(&bytes);
        if start.trim_ascii().is_empty() && size <= MAX_START_BYTES as u64 {
            return Err(Unreadable::Empty);
        }
        let kind = kind_of(&name, content_type.as_deref(), start)?;
        let document = if is_packed(kind) {
            self.helper.read(kind, bytes).await?
        } else {
            // A large page takes a while and must not block other tasks.
            tokio::task::spawn_blocking(move || read_text(kind, content_type.as_deref(), bytes))
                .await
                .map_err(|error| Unreadable::Failed { detail: error.to_string() })??
        };
        if document.blocks.is_empty() {
            return Err(Unreadable::Empty);
        }
        Ok(document)
    }
}

fn is_packed(kind: DocumentKind) -> bool {
    matches!(kind, DocumentKind::Pdf | DocumentKind::Docx)
}

fn require_regular_file(metadata: &Metadata) -> Result<(), Unreadable> {
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
    Err(Unreadable::NotAFile { what: what.to_owned() })
}

/// Makes a document of plain text. It has no blocks if the text is blank.
pub fn read_plain_text(text: &str) -> Document {
    Document {
        title: None,
        kind: DocumentKind::Text,
        blocks: text::blocks(text),
        notes: Vec::new(),
    }
}

/// Reads the formats that are text themselves.
pub(crate) fn read_text(
    kind: DocumentKind,
    content_type: Option<&str>,
    bytes: Vec<u8>,
) -> Result<Document, Unreadable> {
    let stated = content_type.and_then(|given| html::charset(given.as_bytes()));
    let label = stated.or_else(|| match kind {
        DocumentKind::Html => html::charset(&bytes),
        _ => None,
    });
    let decoded = decode::decode(bytes, label.as_deref())?;
    let (title, blocks) = match kind {
        DocumentKind::Markdown => markdown::read(&decoded.text),
        DocumentKind::Html => html::read(&decoded.text),
        DocumentKind::Code => (None, code::blocks(&decoded.text)),
        _ => (None, text::blocks(&decoded.text)),
    };
    Ok(Document { title, kind, blocks, notes: decoded.note.into_iter().collect() })
}
