//! Reports a search to users.

use lango_protocol::{CallReport, ReportedFiles};
use lango_text::plural;
use serde::Serialize;

use super::{FoundFile, FoundLine, SearchResult, SearchTarget};
use crate::files::report::FilesReport;
use crate::sentence::code;

/// Reports to programs where the matches are.
#[derive(Serialize)]
struct MatchFacts<'a> {
    files_searched: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    matches: Vec<MatchPosition<'a>>,
    #[serde(skip_serializing_if = "<[FoundFile]>::is_empty")]
    files: &'a [FoundFile],
}

#[derive(Serialize)]
struct MatchPosition<'a> {
    path: &'a str,
    line: u64,
}

impl SearchResult {
    /// Returns "7 matches in 5 lines of 2 files", or "2 files without a match".
    pub(super) fn describe_files(&self) -> String {
        let files = plural(self.total_files, "file", "files");
        if self.target == SearchTarget::FilesWithout {
            return format!("{files} without a match");
        }
        let matches = plural(self.total_matches, "match", "matches");
        let lines = plural(self.total_lines, "line", "lines");
        format!("{matches} in {lines} of {files}")
    }

    /// Returns what was left out, to be added to a sentence.
    pub(super) fn describe_rest(&self) -> String {
        let mut text = String::new();
        if self.skipped_large > 0 {
            text.push_str(&format!("; {} too large to search", self.skipped_large));
        }
        if self.left_out > 0 {
            text.push_str(&format!("; {} left out by a rule", self.left_out));
        }
        if self.files.len() < self.total_files {
            text.push_str(&format!("; the first {} are shown", self.files.len()));
        }
        if let Some(why) = &self.ended {
            text.push_str(&format!("; {why}"));
        }
        text
    }

    pub(super) fn render_file(&self, file: &FoundFile) -> String {
        match self.target {
            SearchTarget::FilesWithout => file.path.clone(),
            _ => format!("{}: {}", file.path, file.matches),
        }
    }

    pub(super) fn report(&self, pattern: &str) -> CallReport {
        let pattern = code(pattern);
        let searched = plural(self.files_searched, "file", "files");
        let extent = format!("{searched} searched{}", self.describe_rest());
        let lines: Vec<String> = match self.target {
            SearchTarget::Lines => {
                let line = |found: &FoundLine| {
                    let FoundLine { path, line, text, .. } = found;
                    format!("{path}:{line}: {text}")
                };
                self.matches.iter().map(line).collect()
            }
            _ => self.files.iter().map(|file| self.render_file(file)).collect(),
        };
        let end = if lines.is_empty() { "." } else { ":" };
        let summary = match (self.target, self.matches.len()) {
            (SearchTarget::FilesWithout, _) => {
                let has = if self.total_files == 1 { "has" } else { "have" };
                let files = plural(self.total_files, "file", "files");
                format!("{files} {has} no match for {pattern} ({extent}){end}")
            }
            (SearchTarget::Counts, _) if !lines.is_empty() => {
                format!("{pattern} has {} ({extent}){end}", self.describe_files())
            }
            (SearchTarget::Lines, 1) => format!("1 line matches {pattern} ({extent}){end}"),
            (SearchTarget::Lines, number @ 2..) => {
                format!("{number} lines match {pattern} ({extent}){end}")
            }
            _ => format!("Nothing was found for {pattern} ({extent})."),
        };
        let report = CallReport::new(summary).data(&self.facts());
        if lines.is_empty() { report } else { report.verbatim(lines.join("\n")) }
    }

    fn facts(&self) -> FilesReport<MatchFacts<'_>> {
        let mut found: Vec<String> = self.matches.iter().map(|found| found.file.clone()).collect();
        // The lines of a file are found together.
        found.dedup();
        let files = found.into_iter().chain(self.files.iter().map(|file| file.file.clone()));
        let position = |found| {
            let FoundLine { path, line, .. }: &FoundLine = found;
            MatchPosition { path, line: *line }
        };
        let details = MatchFacts {
            files_searched: self.files_searched,
            matches: self.matches.iter().map(position).collect(),
            files: &self.files,
        };
        FilesReport { files: ReportedFiles::new(files), details }
    }
}
