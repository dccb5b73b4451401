//! Implements `fs_search`, which finds lines that match a pattern.

mod report;
mod running;

use std::sync::Arc;

use lango_protocol::CallReport;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::running::RunningSearch;
use super::preview;
use crate::OperatorSettings;
use crate::blocking::run_blocking;
use crate::sentence::describe_activity;
use crate::workspace::Workspace;

pub(crate) struct SearchFiles {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArguments {
    /// Regular expression, matched line by line.
    pattern: String,
    /// File or directory.
    #[serde(default = "default_path")]
    path: String,
    /// Only files as "*.rs" or "src/**/*.md".
    #[serde(default)]
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    /// Numbers instead of lines.
    #[serde(default)]
    count: bool,
    /// Files without a match.
    #[serde(default)]
    files_without: bool,
}

fn default_path() -> String {
    ".".to_owned()
}

/// Selects what a search returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SearchTarget {
    /// The matching lines.
    #[default]
    Lines,
    /// The number of matches in each file that has some.
    Counts,
    /// The files that have none.
    FilesWithout,
}

impl SearchArguments {
    fn target(&self) -> SearchTarget {
        match self {
            Self { files_without: true, .. } => SearchTarget::FilesWithout,
            Self { count: true, .. } => SearchTarget::Counts,
            _ => SearchTarget::Lines,
        }
    }
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct SearchResult {
    target: SearchTarget,
    matches: Vec<FoundLine>,
    /// The files, unless lines were asked for.
    files: Vec<FoundFile>,
    /// The number of all such files, also of those that do not fit.
    total_files: usize,
    /// The number of all matches and of the lines that have some, if they were to be counted.
    total_matches: u64,
    total_lines: u64,
    files_searched: usize,
    /// Files that are too large to search.
    skipped_large: usize,
    /// Files and directories that a rule keeps from being searched.
    left_out: usize,
    /// The reason why the search ended early.
    ended: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct FoundLine {
    path: String,
    line: u64,
    text: String,
    /// The path as a tool takes it.
    #[serde(skip)]
    file: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct FoundFile {
    path: String,
    matches: u64,
    /// The path as a tool takes it.
    #[serde(skip)]
    file: String,
}

impl SearchFiles {
    pub(crate) fn new(workspace: Workspace, settings: Arc<OperatorSettings>) -> Self {
        Self { workspace, settings }
    }
}

impl Tool for SearchFiles {
    type Arguments = SearchArguments;
    type Output = SearchResult;
    const NAME: &'static str = "fs_search";
    const DESCRIPTION: &'static str = "Finds lines matching a regular expression in text files. \
        Skips binary files and what .gitignore names.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: SearchArguments,
        context: ToolContext,
    ) -> Result<SearchResult, ToolError> {
        let (workspace, settings) = (self.workspace.clone(), Arc::clone(&self.settings));
        let excluded = context.excluded.clone();
        run_blocking(&context, move |token| {
            let location = workspace.check_path(&arguments.path)?;
            let mut search = RunningSearch::new(&arguments, &settings, token, excluded)?;
            search.run(&workspace, &location)?;
            Ok(search.result)
        })
        .await
    }

    fn render(&self, output: &SearchResult) -> String {
        let mut text = match output.target {
            SearchTarget::Lines => {
                let (lines, files) = (output.matches.len(), output.files_searched);
                format!("{lines} matching lines in {files} files searched")
            }
            SearchTarget::Counts | SearchTarget::FilesWithout => {
                format!("{}, {} files searched", output.describe_files(), output.files_searched)
            }
        };
        text.push_str(&output.describe_rest());
        for FoundLine { path, line, text: found, .. } in &output.matches {
            text.push_str(&format!("\n{path}:{line}: {found}"));
        }
        for file in &output.files {
            text.push_str(&format!("\n{}", output.render_file(file)));
        }
        text
    }

    fn describe(&self, arguments: &SearchArguments) -> Option<String> {
        describe_activity("Searching files for", &arguments.pattern)
    }

    fn report(&self, arguments: &SearchArguments, output: &SearchResult) -> Option<CallReport> {
        Some(output.report(&arguments.pattern))
    }

    fn propose(&self, arguments: &SearchArguments) -> Option<Proposal> {
        Some(preview::build_reading_proposal(&self.workspace, "Search", &arguments.path))
    }
}
