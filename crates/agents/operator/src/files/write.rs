//! Implements `fs_write`, which replaces a whole file in one step.

use std::sync::Arc;

use lango_protocol::CallReport;
use lango_text::{code_span, plural};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::content::count_lines;
use super::difference::{LineChanges, compare_texts};
use super::planned_write::{PlannedWrite, WriteRequest};
use super::preview::{self, PresentContent, RenderedContent, read_present_content};
use super::report::FilesReport;
use crate::blocking::run_blocking;
use crate::sentence::{describe_activity, report_change};
use crate::workspace::{PathUse, Workspace};
use crate::{OperatorSettings, Records};

pub(crate) struct WriteFile {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    records: Records,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteArguments {
    /// Missing directories are made.
    path: String,
    content: String,
    /// Fail if the file exists.
    #[serde(default)]
    create_only: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct WriteResult {
    path: String,
    bytes: usize,
    created: bool,
    /// Unknown if the old content was not text or too large.
    changes: Option<LineChanges>,
}

impl WriteFile {
    pub(crate) fn new(
        workspace: Workspace,
        settings: Arc<OperatorSettings>,
        records: Records,
    ) -> Self {
        Self { workspace, settings, records }
    }

    /// Renders what would be in the file: for an existing one, what would change.
    fn render_new_content(&self, arguments: &WriteArguments) -> RenderedContent {
        let WriteArguments { path, content, create_only } = arguments;
        let max_bytes = self.settings.max_file_bytes;
        let (before, rendered) = match read_present_content(&self.workspace, path, max_bytes) {
            Some(_) if *create_only => {
                let text = "the file exists, so this will be refused".to_owned();
                return RenderedContent { text, not_shown: None };
            }
            Some(PresentContent::Text(old)) => (
                "This replaces the file that is there. What changes:\n".to_owned(),
                preview::render_difference(&old, content),
            ),
            Some(PresentContent::NotShown { size }) => (
                format!(
                    "This replaces the file that is there, {size} bytes that are not shown. The \
                     new content:\n"
                ),
                preview::render_content(content),
            ),
            None => (String::new(), preview::render_content(content)),
        };
        RenderedContent { text: before + &rendered.text, ..rendered }
    }
}

impl Tool for WriteFile {
    type Arguments = WriteArguments;
    type Output = WriteResult;
    const NAME: &'static str = "fs_write";
    const DESCRIPTION: &'static str =
        "Writes a whole file, creating or replacing it. To change a part of a file use fs_edit.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: WriteArguments,
        context: ToolContext,
    ) -> Result<WriteResult, ToolError> {
        let (workspace, max_bytes) = (self.workspace.clone(), self.settings.max_file_bytes);
        let (planned, result) =
            run_blocking(&context, move |_| plan_write(&workspace, arguments, max_bytes)).await?;
        self.records.record_changes(&context, &self.workspace, &planned.changes).await?;
        run_blocking(&context, move |_| planned.carry_out()).await?;
        Ok(result)
    }

    fn render(&self, output: &WriteResult) -> String {
        let WriteResult { path, bytes, created, changes } = output;
        let what = if *created { "created" } else { "replaced" };
        let mut text = format!("{what} {path}, {bytes} bytes");
        if let Some(changes) = changes {
            text.push_str(&format!(", {changes}"));
        }
        text
    }

    fn describe(&self, arguments: &WriteArguments) -> Option<String> {
        describe_activity("Writing", &arguments.path)
    }

    fn report(&self, arguments: &WriteArguments, output: &WriteResult) -> Option<CallReport> {
        let WriteResult { path, bytes, created, changes } = output;
        let done = if *created { "Created" } else { "Replaced the content of" };
        let bytes = plural(*bytes, "byte", "bytes");
        let changes = changes.map(|changes| format!(", {changes}")).unwrap_or_default();
        let summary = format!("{done} {}: {bytes}{changes}.", code_span(path));
        Some(
            report_change(summary)
                .data(&FilesReport::about(self.workspace.relative_path(&arguments.path), output)),
        )
    }

    fn propose(&self, arguments: &WriteArguments) -> Option<Proposal> {
        let WriteArguments { path, content, create_only } = arguments;
        let only = if *create_only { ", only if it does not exist" } else { "" };
        let RenderedContent { text, not_shown } = self.render_new_content(arguments);
        let summary = format!(
            "Write {} bytes, {} lines, to {}{only}\n{text}",
            content.len(),
            count_lines(content.as_bytes()),
            preview::describe_destination(&self.workspace, path),
        );
        let parts = [content.as_str(), only];
        let proposal =
            preview::build_change_proposal(&self.workspace, summary, path, PathUse::Target, &parts);
        Some(Proposal { not_shown, ..proposal })
    }
}

fn plan_write(
    workspace: &Workspace,
    arguments: WriteArguments,
    max_bytes: u64,
) -> Result<(PlannedWrite, WriteResult), ToolError> {
    let WriteArguments { path, content, create_only } = arguments;
    let bytes = content.len();
    if bytes as u64 > max_bytes {
        let shown = workspace.check_path(&path)?.shown().to_owned();
        return Err(ToolError::Failed(format!(
            "{shown}: the content is larger than {max_bytes} bytes; write it in parts"
        )));
    }
    let request = WriteRequest { path: &path, max_bytes, create_only };
    let mut changes = None;
    let planned = PlannedWrite::plan(workspace, &request, |shown, old, exists| {
        let old = if exists { old } else { Some(&b""[..]) };
        changes = old
            .and_then(|old| std::str::from_utf8(old).ok())
            .map(|old| compare_texts(shown, old, &content).changes);
        Ok(content.into_bytes())
    })?;
    let (path, created) = (planned.shown.clone(), planned.created);
    Ok((planned, WriteResult { path, bytes, created, changes }))
}
