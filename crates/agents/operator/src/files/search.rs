//! Implements `fs_search`, which finds lines that match a pattern.

mod report;

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use globset::{GlobBuilder, GlobMatcher};
use lango_protocol::CallReport;
use lango_text::{ellipsize_characters, make_visible};
use lango_tool::{ExcludedPaths, Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::content::is_binary;
use super::ignore_rules::IgnoreRules;
use super::preview;
use crate::OperatorSettings;
use crate::blocking::run_blocking;
use crate::sentence::describe_activity;
use crate::workspace::{EntryKind, Workspace, WorkspacePath, is_git, open_regular, read_entries};

/// Limits how many characters of a matching line are shown.
const MAX_SHOWN_LINE_CHARACTERS: usize = 300;

pub(crate) struct SearchFiles {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArguments {
    /// Regular expression, matched line by line; (?i) ignores case.
    pattern: String,
    /// File or directory to search.
    #[serde(default = "default_path")]
    path: String,
    /// Only files whose name or path matches, e.g. "*.rs" or "src/**/*.md".
    #[serde(default)]
    glob: Option<String>,
}

fn default_path() -> String {
    ".".to_owned()
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct SearchResult {
    matches: Vec<FoundLine>,
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
            let mut search = RunningSearch {
                pattern: compile_pattern(&arguments.pattern)?,
                glob: arguments.glob.as_deref().map(compile_glob).transpose()?,
                settings,
                token,
                excluded,
                result: SearchResult::default(),
            };
            search.run(&workspace, &location)?;
            Ok(search.result)
        })
        .await
    }

    fn render(&self, output: &SearchResult) -> String {
        let mut text = format!(
            "{} matching lines in {} files searched",
            output.matches.len(),
            output.files_searched
        );
        if output.skipped_large > 0 {
            text.push_str(&format!("; {} too large to search", output.skipped_large));
        }
        if output.left_out > 0 {
            text.push_str(&format!("; {} left out by a rule", output.left_out));
        }
        if let Some(why) = &output.ended {
            text.push_str(&format!("; {why}"));
        }
        for FoundLine { path, line, text: found } in &output.matches {
            text.push_str(&format!("\n{path}:{line}: {found}"));
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

struct RunningSearch<'a> {
    pattern: Regex,
    glob: Option<GlobMatcher>,
    settings: Arc<OperatorSettings>,
    token: &'a CancellationToken,
    excluded: ExcludedPaths,
    result: SearchResult,
}

impl RunningSearch<'_> {
    fn run(&mut self, workspace: &Workspace, location: &WorkspacePath) -> Result<(), ToolError> {
        if EntryKind::of_file_type(workspace.read_metadata(location)?.file_type())
            != EntryKind::Directory
        {
            let (file, size) = workspace.open_file(location)?;
            self.search_file(location.path(), file, size);
            return Ok(());
        }
        let start = workspace.canonicalize(location)?;
        let mut pending = vec![(start.clone(), read_rules_above(workspace, &start))];
        while let Some((path, above)) = pending.pop() {
            let opened = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
            let directory = match workspace.open_walked(opened) {
                Ok(directory) => directory,
                Err(error) if path == start => {
                    return Err(location.describe_error("search", &error));
                }
                Err(_) => continue,
            };
            let rules = above.with_directory(&directory, &path);
            let Ok(names) = read_entries(&directory) else { continue };
            let mut below = Vec::new();
            for (name, kind) in names {
                let path = path.join(&name);
                let is_directory = kind == EntryKind::Directory;
                if is_git(&name) || rules.is_ignored(&path, is_directory) {
                    continue;
                }
                if self.excluded.contains(&path) {
                    self.result.left_out += 1;
                    continue;
                }
                if is_directory {
                    below.push((path, rules.clone()));
                } else if kind == EntryKind::File
                    && self.includes_path(&path, &start)
                    && !workspace.is_hidden(&path)
                {
                    self.open_and_search(&directory, &name, &path)?;
                }
                if self.result.ended.is_some() {
                    return Ok(());
                }
            }
            pending.extend(below.into_iter().rev());
        }
        Ok(())
    }

    fn includes_path(&self, path: &Path, start: &Path) -> bool {
        let Some(glob) = &self.glob else { return true };
        glob.is_match(path)
            || path.strip_prefix(start).is_ok_and(|path| glob.is_match(path))
            || (!glob.glob().glob().contains('/')
                && path.file_name().is_some_and(|name| glob.is_match(name)))
    }

    fn open_and_search(
        &mut self,
        directory: &Dir,
        name: &OsStr,
        path: &Path,
    ) -> Result<(), ToolError> {
        if self.token.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        // A file that cannot be read has no matches to show.
        if let Ok(Some((file, size))) = open_regular(directory, Path::new(name)) {
            self.search_file(path, file, size);
        }
        if self.result.files_searched == self.settings.max_search_files {
            let limit = self.settings.max_search_files;
            self.result.ended = Some(format!("stopped after {limit} files; name a path or a glob"));
        }
        Ok(())
    }

    fn search_file(&mut self, path: &Path, file: std::fs::File, size: u64) {
        if size > self.settings.max_file_bytes {
            self.result.skipped_large += 1;
            return;
        }
        let mut content = Vec::new();
        if file.take(self.settings.max_file_bytes).read_to_end(&mut content).is_err() {
            return;
        }
        self.result.files_searched += 1;
        if is_binary(&content) {
            return;
        }
        let content = content.strip_suffix(b"\n").unwrap_or(&content);
        for (line, number) in content.split(|byte| *byte == b'\n').zip(1..) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Some(found) = self.pattern.find(line) else { continue };
            if self.result.matches.len() == self.settings.max_search_matches {
                let limit = self.settings.max_search_matches;
                self.result.ended = Some(format!(
                    "stopped after {limit} matches, there are more; narrow the pattern, path or \
                     glob"
                ));
                return;
            }
            self.result.matches.push(FoundLine {
                path: make_visible(&path.to_string_lossy()),
                line: number,
                text: cut_excerpt(line, found.start()),
            });
        }
    }
}

/// Returns the rules of the directories above `start`, from the workspace down.
fn read_rules_above(workspace: &Workspace, start: &Path) -> IgnoreRules {
    let mut above: Vec<PathBuf> = start.ancestors().skip(1).map(Path::to_owned).collect();
    above.reverse();
    above.iter().fold(IgnoreRules::default(), |rules, path| {
        let opened = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        match workspace.open_walked(opened) {
            Ok(directory) => rules.with_directory(&directory, path),
            Err(_) => rules,
        }
    })
}

/// Returns the part of a line around a match.
fn cut_excerpt(line: &[u8], start: usize) -> String {
    let before = start.saturating_sub(MAX_SHOWN_LINE_CHARACTERS / 3);
    let first = if line.len() <= MAX_SHOWN_LINE_CHARACTERS { 0 } else { before };
    let text = String::from_utf8_lossy(&line[first..]);
    let shown = ellipsize_characters(&text, MAX_SHOWN_LINE_CHARACTERS);
    if first > 0 { format!("…{shown}") } else { shown }
}

fn compile_pattern(pattern: &str) -> Result<Regex, ToolError> {
    RegexBuilder::new(pattern)
        .build()
        .map_err(|error| ToolError::Arguments(format!("the pattern is not valid: {error}")))
}

fn compile_glob(glob: &str) -> Result<GlobMatcher, ToolError> {
    let built = GlobBuilder::new(glob.trim_start_matches("./")).literal_separator(true).build();
    let glob =
        built.map_err(|error| ToolError::Arguments(format!("the glob is not valid: {error}")))?;
    Ok(glob.compile_matcher())
}
