//! Implements `fs_read`, which reads a range of a text file's lines.

mod end;
mod report;

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _};
use std::sync::Arc;

use lango_protocol::CallReport;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::content::{SNIFFED_BYTES, count_lines, describe_binary, is_binary};
use super::line_window::LineWindow;
use super::preview;
use crate::OperatorSettings;
use crate::blocking::inspect_path;
use crate::sentence::describe_activity;
use crate::workspace::Workspace;

/// Says that the text is not what the file has.
const REPLACED_BYTES: &str = ", not UTF-8: some bytes shown as �";

pub(crate) struct ReadFile {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadArguments {
    path: String,
    /// First line, counted from 1.
    #[serde(default)]
    offset: Option<u64>,
    /// Lines, 2000 unless given.
    #[serde(default)]
    limit: Option<u64>,
    /// Only so many lines at the end.
    #[serde(default)]
    last: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "content", rename_all = "snake_case")]
pub(crate) enum ReadResult {
    Text {
        path: String,
        text: String,
        first_line: u64,
        last_line: u64,
        /// Unknown for a large file that was not read to its end.
        total_lines: Option<u64>,
        /// True if some bytes are not UTF-8 and were replaced.
        replaced_bytes: bool,
        /// Bytes left out of the one line that was returned.
        cut_bytes: u64,
    },
    /// The end of a file whose lines were not counted.
    End {
        path: String,
        text: String,
        lines: u64,
        replaced_bytes: bool,
        /// True if the first line is not whole, or fewer lines were returned than were asked for.
        is_cut: bool,
    },
    Binary {
        path: String,
        size: u64,
        kind: &'static str,
    },
}

impl ReadFile {
    pub(crate) fn new(workspace: Workspace, settings: Arc<OperatorSettings>) -> Self {
        Self { workspace, settings }
    }
}

impl Tool for ReadFile {
    type Arguments = ReadArguments;
    type Output = ReadResult;
    const NAME: &'static str = "fs_read";
    const DESCRIPTION: &'static str = "Reads a text file, or a range of its lines. The first line \
        names the range.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: ReadArguments,
        context: ToolContext,
    ) -> Result<ReadResult, ToolError> {
        let (workspace, settings) = (self.workspace.clone(), Arc::clone(&self.settings));
        let path = arguments.path.clone();
        let work = move |token: &_| read_lines(&workspace, &settings, &arguments, token);
        inspect_path(&context, &self.workspace, &path, work).await
    }

    fn render(&self, output: &ReadResult) -> String {
        match output {
            ReadResult::Binary { path, size, kind } => {
                format!("{path}: {kind}, {size} bytes, not shown because it is not text")
            }
            ReadResult::End { path, text, lines, replaced_bytes, is_cut } => {
                let replaced = if *replaced_bytes { REPLACED_BYTES } else { "" };
                let cut = if *is_cut { ", no more fit" } else { "" };
                format!("{path}: last {lines} lines{cut}{replaced}\n{text}")
            }
            ReadResult::Text { path, total_lines: Some(0), .. } => format!("{path}: empty file"),
            ReadResult::Text {
                path,
                text,
                first_line,
                last_line,
                total_lines,
                replaced_bytes,
                cut_bytes,
            } => {
                let total = match total_lines {
                    Some(total) => format!(" of {total}"),
                    None => ", more follow".to_owned(),
                };
                let replaced = if *replaced_bytes { REPLACED_BYTES } else { "" };
                let next = if total_lines.is_none_or(|total| *last_line < total) {
                    format!(", continue with offset={}", last_line + 1)
                } else {
                    String::new()
                };
                let cut = if *cut_bytes > 0 {
                    format!("\n(line {last_line} cut: {cut_bytes} more bytes)")
                } else {
                    String::new()
                };
                format!(
                    "{path}: lines {first_line}-{last_line}{total}{replaced}{next}\n{text}{cut}"
                )
            }
        }
    }

    fn describe(&self, arguments: &ReadArguments) -> Option<String> {
        describe_activity("Reading", &arguments.path)
    }

    fn report(&self, arguments: &ReadArguments, output: &ReadResult) -> Option<CallReport> {
        let file = self.workspace.relative_path(&arguments.path);
        Some(output.report(file))
    }

    fn propose(&self, arguments: &ReadArguments) -> Option<Proposal> {
        Some(preview::build_reading_proposal(&self.workspace, "Read", &arguments.path))
    }
}

fn read_lines(
    workspace: &Workspace,
    settings: &OperatorSettings,
    arguments: &ReadArguments,
    token: &CancellationToken,
) -> Result<ReadResult, ToolError> {
    let location = workspace.check_path(&arguments.path)?;
    let (mut file, size) = workspace.open_file(&location)?;
    let path = location.shown().to_owned();
    let is_large = size > settings.max_file_bytes;
    let mut first = arguments.offset.unwrap_or(1).max(1);
    let mut limit = arguments.limit.unwrap_or(settings.default_lines).max(1);
    if let Some(last) = arguments.last {
        if arguments.offset.is_some() || arguments.limit.is_some() {
            return Err(ToolError::Arguments("give last, or offset and limit".to_owned()));
        }
        let problem = |error| location.describe_error("read", &error);
        if is_large {
            return end::read_end(&file, size, last.max(1), settings.max_returned_bytes)
                .map(|end| end.into_result(path))
                .map_err(problem);
        }
        limit = last.max(1);
        first = count_file_lines(&file, settings.max_file_bytes).map_err(problem)?;
        first = first.saturating_sub(limit) + 1;
        file.rewind().map_err(problem)?;
    }
    let mut window = LineWindow::new(first, limit, settings.max_returned_bytes);
    let mut buffer = vec![0; 64 * 1024];
    let mut read = 0;
    loop {
        if token.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let count = match file.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(location.describe_error("read", &error)),
        };
        if count == 0 {
            window.end();
            break;
        }
        let chunk = &buffer[..count];
        if read == 0 && is_binary(&chunk[..count.min(SNIFFED_BYTES)]) {
            return Ok(ReadResult::Binary { path, size, kind: describe_binary(chunk) });
        }
        read += count as u64;
        let is_whole = arguments.offset.is_none() && arguments.limit.is_none();
        if is_large && is_whole {
            return Err(ToolError::Failed(format!(
                "{path} has {size} bytes, too many to read whole; give offset and limit, or use \
                 fs_search"
            )));
        }
        window.add(chunk);
        // Counting the lines of a small file is cheap; for a file that grows it would not end.
        if window.is_full() && (is_large || read > settings.max_file_bytes) {
            break;
        }
    }
    let total_lines = window.total_lines();
    if let Some(total) = total_lines.filter(|total| first > (*total).max(1)) {
        return Err(ToolError::Failed(format!(
            "offset {first} is past the end: {path} has {total} lines"
        )));
    }
    let (bytes, last_line, cut_bytes) = window.into_lines();
    let (text, replaced_bytes) = match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        // A line that was cut may end within a character; the file itself is still UTF-8.
        Err(error) if cut_bytes > 0 && error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            (String::from_utf8_lossy(&error.as_bytes()[..end]).into_owned(), false)
        }
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    };
    Ok(ReadResult::Text {
        path,
        text,
        first_line: first,
        last_line,
        total_lines,
        replaced_bytes,
        cut_bytes,
    })
}

/// Counts the lines of a file that is not large.
fn count_file_lines(file: &File, max_bytes: u64) -> std::io::Result<u64> {
    let mut content = Vec::new();
    file.take(max_bytes).read_to_end(&mut content)?;
    Ok(count_lines(&content))
}
