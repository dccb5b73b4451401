//! Implements `fs_stat`, which describes a path without showing its content.

use std::io::Read as _;
use std::sync::Arc;

use cap_std::fs::MetadataExt as _;
use lango_protocol::CallReport;
use lango_text::{code_span, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::content::{count_lines, describe_binary, is_binary};
use super::preview;
use super::report::FilesReport;
use super::time::format_modified_time;
use crate::OperatorSettings;
use crate::blocking::inspect_path;
use crate::sentence::{count_with_noun, describe_activity};
use crate::workspace::{EntryKind, Workspace};

pub(crate) struct StatFile {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatArguments {
    path: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct FileStatus {
    path: String,
    kind: EntryKind,
    /// The target of the link, if the path is one.
    link: Option<String>,
    size: u64,
    /// The number of lines, of text files that are not too large.
    lines: Option<u64>,
    /// The kind of content of a binary file.
    content: Option<&'static str>,
    modified: String,
    mode: u32,
}

impl StatFile {
    pub(crate) fn new(workspace: Workspace, settings: Arc<OperatorSettings>) -> Self {
        Self { workspace, settings }
    }
}

impl Tool for StatFile {
    type Arguments = StatArguments;
    type Output = FileStatus;
    const NAME: &'static str = "fs_stat";
    const DESCRIPTION: &'static str =
        "Tells kind, size, line count, time of change and mode of a file or directory.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: StatArguments,
        context: ToolContext,
    ) -> Result<FileStatus, ToolError> {
        let (workspace, max_bytes) = (self.workspace.clone(), self.settings.max_file_bytes);
        let path = arguments.path.clone();
        let work = move |_: &_| read_status(&workspace, &arguments.path, max_bytes);
        inspect_path(&context, &self.workspace, &path, work).await
    }

    fn render(&self, output: &FileStatus) -> String {
        let mut text = format!("{}: {}, {} bytes", output.path, output.kind, output.size);
        // Writing to a string cannot fail.
        if let Some(lines) = output.lines {
            text.push_str(&format!(", {lines} lines"));
        }
        if let Some(content) = output.content {
            text.push_str(&format!(", {content}"));
        }
        text.push_str(&format!(", modified {}, mode {:04o}", output.modified, output.mode));
        if let Some(link) = &output.link {
            text.push_str(&format!(", through a link to {link}"));
        }
        text
    }

    fn describe(&self, arguments: &StatArguments) -> Option<String> {
        describe_activity("Looking at", &arguments.path)
    }

    fn report(&self, arguments: &StatArguments, output: &FileStatus) -> Option<CallReport> {
        let mut facts = vec![count_with_noun(output.size, "byte", "bytes")];
        facts.extend(output.lines.map(|lines| count_with_noun(lines, "line", "lines")));
        facts.extend(output.content.map(str::to_owned));
        if !output.modified.is_empty() {
            facts.push(format!("modified {}", output.modified));
        }
        facts.push(format!("mode {:04o}", output.mode));
        facts.extend(output.link.as_ref().map(|link| format!("through a link to {link}")));
        let (name, kind) = (code_span(&output.path), output.kind);
        let summary = format!("{name} is a {kind}: {}.", facts.join(", "));
        Some(
            CallReport::new(summary)
                .data(&FilesReport::about(self.workspace.relative_path(&arguments.path), output)),
        )
    }

    fn propose(&self, arguments: &StatArguments) -> Option<Proposal> {
        Some(preview::build_reading_proposal(&self.workspace, "Look at", &arguments.path))
    }
}

fn read_status(workspace: &Workspace, path: &str, max_bytes: u64) -> Result<FileStatus, ToolError> {
    let location = workspace.check_path(path)?;
    let metadata = workspace.read_metadata(&location)?;
    let kind = EntryKind::of_file_type(metadata.file_type());
    let (mut lines, mut content) = (None, None);
    if kind == EntryKind::File && metadata.len() <= max_bytes {
        // A file that can be seen but not read still has a status.
        if let Ok((file, _)) = workspace.open_file(&location) {
            let mut bytes = Vec::new();
            if file.take(max_bytes).read_to_end(&mut bytes).is_ok() {
                if is_binary(&bytes) {
                    content = Some(describe_binary(&bytes));
                } else {
                    lines = Some(count_lines(&bytes));
                }
            }
        }
    }
    Ok(FileStatus {
        path: location.shown().to_owned(),
        kind,
        link: workspace.read_link(&location).map(|target| make_visible(&target.to_string_lossy())),
        size: metadata.len(),
        lines,
        content,
        modified: format_modified_time(&metadata),
        mode: metadata.mode() & 0o7777,
    })
}
