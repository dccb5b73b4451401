//! Reads what an operation is about: text that was given, or a file, piece by piece.

use std::io::{Cursor, Read};

use lango_tool::{ToolContext, ToolError};

use crate::files::WorkspaceFiles;

/// Sets how much of a file is read at once.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;

/// What an operation is about.
#[derive(Debug, Clone)]
pub(crate) enum DataSource {
    Text(String),
    File(String),
}

impl DataSource {
    /// Takes the two parameters of a tool, of which exactly one must be given.
    pub(crate) fn choose(
        text: Option<String>,
        text_name: &str,
        path: Option<String>,
    ) -> Result<Self, ToolError> {
        match (text, path) {
            (Some(text), None) => Ok(Self::Text(text)),
            (None, Some(path)) => Ok(Self::File(path)),
            _ => Err(ToolError::Arguments(format!("give either {text_name} or path"))),
        }
    }

    /// Opens it, and returns the path of a file in the workspace.
    pub(crate) fn open(
        self,
        files: &WorkspaceFiles,
    ) -> Result<(Box<dyn Read + Send>, Option<String>), ToolError> {
        match self {
            Self::Text(text) => Ok((Box::new(Cursor::new(text.into_bytes())), None)),
            Self::File(path) => {
                let (file, path) = files.read(&path)?;
                Ok((Box::new(file), Some(path)))
            }
        }
    }
}

/// Reads until a buffer is full or the source ends, and returns how much was read.
pub(crate) fn read_piece(source: &mut dyn Read, buffer: &mut [u8]) -> Result<usize, ToolError> {
    let mut count = 0;
    while count < buffer.len() {
        match source.read(&mut buffer[count..]) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ToolError::Failed(format!("reading failed: {error}"))),
        }
    }
    Ok(count)
}

/// Runs work that takes long on a thread of its own. It checks `context.cancel` itself.
pub(crate) async fn run_blocking<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(&ToolContext) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let context = context.clone();
    let done = tokio::task::spawn_blocking(move || work(&context)).await;
    done.map_err(|error| ToolError::Failed(error.to_string()))?
}

/// Reads a source to its end, piece by piece.
pub(crate) fn for_each_piece(
    source: &mut dyn Read,
    context: &ToolContext,
    mut take: impl FnMut(&[u8]),
) -> Result<u64, ToolError> {
    let mut buffer = vec![0; PIECE_BYTES];
    let mut total = 0;
    loop {
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let count = read_piece(source, &mut buffer)?;
        take(&buffer[..count]);
        total += count as u64;
        if count < buffer.len() {
            return Ok(total);
        }
    }
}
