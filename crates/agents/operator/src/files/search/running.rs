//! Searches files, one after another.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;

use cap_std::fs::Dir;
use lango_text::{ellipsize_characters, make_visible};
use lango_tool::{ExcludedPaths, ToolError};
use regex::bytes::{Regex, RegexBuilder};
use tokio_util::sync::CancellationToken;

use super::{FoundFile, FoundLine, SearchArguments, SearchResult, SearchTarget};
use crate::OperatorSettings;
use crate::files::content::is_binary;
use crate::files::glob::PathGlob;
use crate::files::ignore_rules::IgnoreRules;
use crate::workspace::{EntryKind, Workspace, WorkspacePath, is_git, open_regular, read_entries};

/// Limits how many characters of a matching line are shown.
const MAX_SHOWN_LINE_CHARACTERS: usize = 300;

pub(super) struct RunningSearch<'a> {
    pattern: Regex,
    glob: Option<PathGlob>,
    settings: &'a OperatorSettings,
    token: &'a CancellationToken,
    excluded: ExcludedPaths,
    pub(super) result: SearchResult,
}

impl<'a> RunningSearch<'a> {
    pub(super) fn new(
        arguments: &SearchArguments,
        settings: &'a OperatorSettings,
        token: &'a CancellationToken,
        excluded: ExcludedPaths,
    ) -> Result<Self, ToolError> {
        let pattern = RegexBuilder::new(&arguments.pattern)
            .case_insensitive(arguments.ignore_case)
            .build()
            .map_err(|error| ToolError::Arguments(format!("the pattern is not valid: {error}")))?;
        Ok(Self {
            pattern,
            glob: arguments.glob.as_deref().map(PathGlob::new).transpose()?,
            settings,
            token,
            excluded,
            result: SearchResult { target: arguments.target(), ..SearchResult::default() },
        })
    }

    pub(super) fn run(
        &mut self,
        workspace: &Workspace,
        location: &WorkspacePath,
    ) -> Result<(), ToolError> {
        if EntryKind::of_file_type(workspace.read_metadata(location)?.file_type())
            != EntryKind::Directory
        {
            let (file, size) = workspace.open_file(location)?;
            self.search_file(location.path(), file, size);
            return Ok(());
        }
        let start = workspace.canonicalize(location)?;
        let mut pending = vec![(start.clone(), IgnoreRules::above(workspace, &start))];
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
                    && self.glob.as_ref().is_none_or(|glob| glob.is_match(&path, &start))
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
        let lines = content
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        match self.result.target {
            SearchTarget::Lines => self.collect_lines(path, lines),
            SearchTarget::Counts => {
                let counts = lines.map(|line| self.pattern.find_iter(line).count() as u64);
                let (mut matches, mut matching_lines) = (0, 0);
                for count in counts.filter(|count| *count > 0) {
                    matches += count;
                    matching_lines += 1;
                }
                if matches > 0 {
                    self.result.total_matches += matches;
                    self.result.total_lines += matching_lines;
                    self.add_file(path, matches);
                }
            }
            SearchTarget::FilesWithout => {
                let mut lines = lines;
                if !lines.any(|line| self.pattern.is_match(line)) {
                    self.add_file(path, 0);
                }
            }
        }
    }

    fn collect_lines<'b>(&mut self, path: &Path, lines: impl Iterator<Item = &'b [u8]>) {
        for (line, number) in lines.zip(1..) {
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
                file: path.to_string_lossy().into_owned(),
            });
        }
    }

    /// Adds a file. All are counted, also those that do not fit.
    fn add_file(&mut self, path: &Path, matches: u64) {
        self.result.total_files += 1;
        if self.result.files.len() < self.settings.max_search_matches {
            let file = path.to_string_lossy().into_owned();
            self.result.files.push(FoundFile { path: make_visible(&file), matches, file });
        }
    }
}

/// Returns the part of a line around a match.
fn cut_excerpt(line: &[u8], start: usize) -> String {
    let before = start.saturating_sub(MAX_SHOWN_LINE_CHARACTERS / 3);
    let first = if line.len() <= MAX_SHOWN_LINE_CHARACTERS { 0 } else { before };
    let text = String::from_utf8_lossy(&line[first..]);
    let shown = ellipsize_characters(&text, MAX_SHOWN_LINE_CHARACTERS);
    if first > 0 { format!("…{shown}") } else { shown }
}
