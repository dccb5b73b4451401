//! Implements `fs_edit`, which replaces exact text by exact text.

mod expected;

use std::io::Read as _;
use std::sync::Arc;

use lango_protocol::CallReport;
use lango_text::{code_span, make_lines_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::expected::ExpectedMatches;
use super::content::is_binary;
use super::difference::{LineChanges, compare_texts};
use super::edit_hint::explain_missing_text;
use super::preview;
use super::report::FilesReport;
use crate::blocking::run_blocking;
use crate::changes::FileChange;
use crate::sentence::{describe_activity, report_change};
use crate::workspace::{PathUse, Workspace, WriteTarget};
use crate::{OperatorSettings, Records};

pub(crate) struct EditFile {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    records: Records,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditArguments {
    path: String,
    /// Exact text, with enough around it to be unique.
    old_text: String,
    new_text: String,
    /// How often `old_text` must occur, or all.
    #[serde(default)]
    expected_matches: ExpectedMatches,
}

#[derive(Debug, Serialize)]
pub(crate) struct EditResult {
    path: String,
    matches: usize,
    changes: LineChanges,
    diff: String,
}

/// Reports an edit to programs.
#[derive(Serialize)]
struct EditFacts<'a> {
    path: &'a str,
    matches: usize,
    changes: LineChanges,
}

impl EditResult {
    /// Returns " in 3 places"; empty for one match.
    fn describe_places(&self) -> String {
        match self.matches {
            1 => String::new(),
            matches => format!(" in {matches} places"),
        }
    }
}

impl EditFile {
    pub(crate) fn new(
        workspace: Workspace,
        settings: Arc<OperatorSettings>,
        records: Records,
    ) -> Self {
        Self { workspace, settings, records }
    }

    /// Returns how often the text occurs now, so that a question can say it.
    fn count_matches(&self, arguments: &EditArguments) -> Option<usize> {
        // What cannot be read is refused when it is edited.
        let location = self.workspace.check_path(&arguments.path).ok()?;
        let (file, size) = self.workspace.open_file(&location).ok()?;
        let max_bytes = self.settings.max_file_bytes;
        let mut content = Vec::new();
        file.take(max_bytes).read_to_end(&mut content).ok()?;
        let is_whole = size <= max_bytes && !arguments.old_text.is_empty();
        is_whole.then(|| EditableText::new(&content).count(&arguments.old_text))
    }
}

impl Tool for EditFile {
    type Arguments = EditArguments;
    type Output = EditResult;
    const NAME: &'static str = "fs_edit";
    const DESCRIPTION: &'static str = "Replaces exact text in a file, if it occurs as often as \
        expected.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: EditArguments,
        context: ToolContext,
    ) -> Result<EditResult, ToolError> {
        if arguments.old_text.is_empty() {
            return Err(ToolError::Arguments(
                "old_text is empty; to write a whole file use fs_write".to_owned(),
            ));
        }
        let (workspace, max_bytes) = (self.workspace.clone(), self.settings.max_file_bytes);
        let planned =
            run_blocking(&context, move |_| plan_edit(&workspace, &arguments, max_bytes)).await?;
        self.records
            .record_changes(&context, &self.workspace, std::slice::from_ref(&planned.change))
            .await?;
        run_blocking(&context, move |_| planned.carry_out()).await
    }

    fn render(&self, output: &EditResult) -> String {
        let EditResult { path, changes, diff, .. } = output;
        format!("edited {path}{}, {changes}\n{diff}", output.describe_places())
    }

    fn describe(&self, arguments: &EditArguments) -> Option<String> {
        describe_activity("Editing", &arguments.path)
    }

    fn report(&self, arguments: &EditArguments, output: &EditResult) -> Option<CallReport> {
        let EditResult { path, matches, changes, diff } = output;
        let summary = format!("Edited {}{}, {changes}:", code_span(path), output.describe_places());
        let facts = EditFacts { path, matches: *matches, changes: *changes };
        let facts = FilesReport::about(self.workspace.relative_path(&arguments.path), facts);
        Some(report_change(summary).verbatim(diff.as_str()).data(&facts))
    }

    fn propose(&self, arguments: &EditArguments) -> Option<Proposal> {
        let EditArguments { path, old_text, new_text, expected_matches } = arguments;
        let times = match expected_matches {
            ExpectedMatches::Exactly(1) => "once (1 expected)".to_owned(),
            ExpectedMatches::Exactly(number) => format!("every time ({number} expected)"),
            ExpectedMatches::All => match self.count_matches(arguments) {
                Some(found) => format!("every time ({found} now)"),
                None => "every time".to_owned(),
            },
        };
        let summary = format!(
            "Edit {}: replace, {times},\n{}\nwith\n{}",
            preview::describe_destination(&self.workspace, path),
            make_lines_visible(old_text, "  - "),
            make_lines_visible(new_text, "  + ")
        );
        let times = expected_matches.to_string();
        let parts = [old_text.as_str(), new_text.as_str(), &times];
        let usage = PathUse::Target;
        Some(preview::build_change_proposal(&self.workspace, summary, path, usage, &parts))
    }
}

/// Holds an edit that has been checked and not been made yet.
struct PlannedEdit {
    target: WriteTarget,
    edited: Vec<u8>,
    change: FileChange,
    result: EditResult,
}

impl PlannedEdit {
    fn carry_out(self) -> Result<EditResult, ToolError> {
        self.target.replace(&self.edited, false)?;
        Ok(self.result)
    }
}

fn plan_edit(
    workspace: &Workspace,
    arguments: &EditArguments,
    max_bytes: u64,
) -> Result<PlannedEdit, ToolError> {
    let EditArguments { path, old_text, new_text, expected_matches } = arguments;
    let location = workspace.check_path(path)?;
    let shown = location.shown();
    // An edit of a missing file must not create its parent directories.
    workspace.resolve_for_writing(&location)?;
    workspace.read_metadata(&location)?;
    let target = workspace.write_target(&location)?;
    let Some(content) = target.read_current(max_bytes)? else {
        return Err(ToolError::Failed(format!(
            "{shown} is larger than {max_bytes} bytes; edit it with a command"
        )));
    };
    if is_binary(&content) {
        return Err(ToolError::Failed(format!("{shown} is not text; edit it with a command")));
    }
    let text = EditableText::new(&content);
    let found = text.count(old_text);
    let is_expected = match expected_matches {
        ExpectedMatches::Exactly(number) => found == *number,
        ExpectedMatches::All => found > 0,
    };
    if !is_expected {
        let why = if found == 0 {
            format!(
                "old_text does not occur in {shown}. {}",
                explain_missing_text(&content, old_text)
            )
        } else {
            format!(
                "old_text occurs {found} times in {shown}, not {expected_matches}; add the lines \
                 around it, or set expected_matches to {found} or all"
            )
        };
        return Err(ToolError::Failed(format!("{why} Nothing was written.")));
    }
    if old_text == new_text {
        return Err(ToolError::Failed(format!(
            "old_text and new_text are the same; nothing to change in {shown}"
        )));
    }
    let grown = content.len() as u128 + found as u128 * new_text.len() as u128;
    if grown > u128::from(max_bytes) + found as u128 * old_text.len() as u128 {
        return Err(ToolError::Failed(format!(
            "{shown} would grow past {max_bytes} bytes; nothing was written"
        )));
    }
    let edited = text.replace(old_text, new_text);
    let difference =
        compare_texts(shown, &String::from_utf8_lossy(&content), &String::from_utf8_lossy(&edited));
    let result = EditResult {
        path: shown.to_owned(),
        matches: found,
        changes: difference.changes,
        diff: difference.unified,
    };
    let change = target.describe_change(&edited, Some(content));
    Ok(PlannedEdit { target, edited, change, result })
}

/// Holds a file's content in a form that the linear text search of the standard library accepts, so
/// that the bytes that are not edited stay as they are even if they are not UTF-8.
enum EditableText<'a> {
    Utf8(&'a str),
    /// One character per byte.
    Widened(String),
}

impl<'a> EditableText<'a> {
    fn new(content: &'a [u8]) -> Self {
        std::str::from_utf8(content)
            .map_or_else(|_| Self::Widened(bytes_to_chars(content)), Self::Utf8)
    }

    fn count(&self, text: &str) -> usize {
        match self {
            Self::Utf8(content) => content.matches(text).count(),
            Self::Widened(content) => content.matches(&bytes_to_chars(text.as_bytes())).count(),
        }
    }

    fn replace(&self, old: &str, new: &str) -> Vec<u8> {
        match self {
            Self::Utf8(content) => content.replace(old, new).into_bytes(),
            Self::Widened(content) => content
                .replace(&bytes_to_chars(old.as_bytes()), &bytes_to_chars(new.as_bytes()))
                .chars()
                .filter_map(|character| u8::try_from(character).ok())
                .collect(),
        }
    }
}

fn bytes_to_chars(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
