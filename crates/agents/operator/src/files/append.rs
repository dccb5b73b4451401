//! Implements `fs_append`, which adds lines at the end of a file.

use std::sync::Arc;

use lango_protocol::CallReport;
use lango_text::code_span;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::content::{count_lines, is_binary};
use super::difference::compare_texts;
use super::planned_write::{PlannedWrite, WriteRequest};
use super::preview::{self, PresentContent};
use super::report::FilesReport;
use crate::blocking::run_blocking;
use crate::sentence::{count_with_noun, describe_activity, report_change};
use crate::workspace::{PathUse, Workspace};
use crate::{OperatorSettings, Records};

pub(crate) struct AppendFile {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    records: Records,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppendArguments {
    path: String,
    content: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct AppendResult {
    path: String,
    created: bool,
    /// The number of lines that were added.
    lines: u64,
    #[serde(skip)]
    diff: String,
}

impl AppendFile {
    pub(crate) fn new(
        workspace: Workspace,
        settings: Arc<OperatorSettings>,
        records: Records,
    ) -> Self {
        Self { workspace, settings, records }
    }
}

impl Tool for AppendFile {
    type Arguments = AppendArguments;
    type Output = AppendResult;
    const NAME: &'static str = "fs_append";
    const DESCRIPTION: &'static str = "Adds lines at the end of a file, or makes it.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: AppendArguments,
        context: ToolContext,
    ) -> Result<AppendResult, ToolError> {
        let (workspace, max_bytes) = (self.workspace.clone(), self.settings.max_file_bytes);
        let (planned, result) =
            run_blocking(&context, move |_| plan_append(&workspace, &arguments, max_bytes)).await?;
        self.records.record_changes(&context, &self.workspace, &planned.changes).await?;
        run_blocking(&context, move |_| planned.carry_out()).await?;
        Ok(result)
    }

    fn render(&self, output: &AppendResult) -> String {
        let AppendResult { path, created, lines, diff } = output;
        let created = if *created { " (new)" } else { "" };
        format!("added {lines} lines to {path}{created}\n{diff}")
    }

    fn describe(&self, arguments: &AppendArguments) -> Option<String> {
        describe_activity("Adding to", &arguments.path)
    }

    fn report(&self, arguments: &AppendArguments, output: &AppendResult) -> Option<CallReport> {
        let AppendResult { path, created, lines, diff } = output;
        let lines = count_with_noun(*lines, "line", "lines");
        let name = code_span(path);
        let summary = match created {
            true => format!("Created {name} with {lines}:"),
            false => format!("Added {lines} to {name}:"),
        };
        let facts = FilesReport::about(self.workspace.relative_path(&arguments.path), output);
        Some(report_change(summary).verbatim(diff.as_str()).data(&facts))
    }

    fn propose(&self, arguments: &AppendArguments) -> Option<Proposal> {
        let AppendArguments { path, content } = arguments;
        let lines = count_with_noun(count_lines(content.as_bytes()), "line", "lines");
        let place = preview::describe_destination(&self.workspace, path);
        let max_bytes = self.settings.max_file_bytes;
        let old = preview::read_present_content(&self.workspace, path, max_bytes);
        let (what, rendered) = match old {
            Some(PresentContent::Text(old)) => {
                let new = append_lines(old.as_bytes(), content);
                let new = String::from_utf8_lossy(&new);
                (
                    format!("Add {lines} at the end of {place}"),
                    preview::render_difference(&old, &new),
                )
            }
            Some(PresentContent::NotShown { .. }) => {
                (format!("Add {lines} at the end of {place}"), preview::render_content(content))
            }
            None => (format!("Make {place} with {lines}"), preview::render_content(content)),
        };
        let summary = format!("{what}\n{}", rendered.text);
        let (usage, parts) = (PathUse::Target, [content.as_str()]);
        let proposal =
            preview::build_change_proposal(&self.workspace, summary, path, usage, &parts);
        Some(Proposal { not_shown: rendered.not_shown, ..proposal })
    }
}

fn plan_append(
    workspace: &Workspace,
    arguments: &AppendArguments,
    max_bytes: u64,
) -> Result<(PlannedWrite, AppendResult), ToolError> {
    let AppendArguments { path, content } = arguments;
    if content.is_empty() {
        return Err(ToolError::Arguments("content is empty; there is nothing to add".to_owned()));
    }
    let request = WriteRequest { path, max_bytes, create_only: false };
    let (mut lines, mut diff) = (0, String::new());
    let planned = PlannedWrite::plan(workspace, &request, |shown, old, exists| {
        let old = match old {
            Some(old) if is_binary(old) => {
                return Err(ToolError::Failed(format!("{shown} is not text; use a command")));
            }
            None if exists => {
                return Err(ToolError::Failed(format!(
                    "{shown} is larger than {max_bytes} bytes; add to it with a command"
                )));
            }
            old => old.unwrap_or_default(),
        };
        let new = append_lines(old, content);
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        diff = compare_texts(shown, &text(old), &text(&new)).unified;
        lines = count_lines(content.as_bytes());
        Ok(new)
    })?;
    let result =
        AppendResult { path: planned.shown.clone(), created: planned.created, lines, diff };
    Ok((planned, result))
}

/// Returns a text with lines added. A last line without an end gets one first.
fn append_lines(old: &[u8], added: &str) -> Vec<u8> {
    let line_end: &[u8] = if old.windows(2).any(|pair| pair == b"\r\n") { b"\r\n" } else { b"\n" };
    let mut new = old.to_vec();
    if !old.is_empty() && !old.ends_with(b"\n") {
        new.extend_from_slice(line_end);
    }
    new.extend_from_slice(added.as_bytes());
    if !added.ends_with('\n') {
        new.extend_from_slice(line_end);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_after_a_whole_last_line() {
        for (old, added, new) in [
            ("", "a", "a\n"),
            ("a\n", "b\n", "a\nb\n"),
            ("a", "b", "a\nb\n"),
            ("a\r\nb", "c", "a\r\nb\r\nc\r\n"),
            ("a\n", "\n", "a\n\n"),
        ] {
            assert_eq!(append_lines(old.as_bytes(), added), new.as_bytes(), "{old:?} {added:?}");
        }
    }
}
