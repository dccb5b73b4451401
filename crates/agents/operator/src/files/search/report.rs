//! Reports a search to users.

use lango_protocol::CallReport;
use lango_text::plural;
use serde::Serialize;

use super::{FoundLine, SearchResult};
use crate::sentence::code;

/// Reports to programs where the matching lines are.
#[derive(Serialize)]
struct MatchPositions<'a> {
    files_searched: usize,
    matches: Vec<MatchPosition<'a>>,
}

#[derive(Serialize)]
struct MatchPosition<'a> {
    path: &'a str,
    line: u64,
}

impl SearchResult {
    pub(super) fn report(&self, pattern: &str) -> CallReport {
        let pattern = code(pattern);
        let mut extent = format!("{} searched", plural(self.files_searched, "file", "files"));
        if self.skipped_large > 0 {
            extent.push_str(&format!("; {} too large to search", self.skipped_large));
        }
        if self.left_out > 0 {
            extent.push_str(&format!("; {} left out by a rule", self.left_out));
        }
        if let Some(why) = &self.ended {
            extent.push_str(&format!("; {why}"));
        }
        let summary = match self.matches.len() {
            0 => format!("Nothing was found for {pattern} ({extent})."),
            1 => format!("1 line matches {pattern} ({extent}):"),
            number => format!("{number} lines match {pattern} ({extent}):"),
        };
        let report = CallReport::new(summary).data(&self.match_positions());
        if self.matches.is_empty() {
            return report;
        }
        let line = |FoundLine { path, line, text }: &FoundLine| format!("{path}:{line}: {text}");
        let lines: Vec<String> = self.matches.iter().map(line).collect();
        report.verbatim(lines.join("\n"))
    }

    fn match_positions(&self) -> MatchPositions<'_> {
        let place = |found| {
            let FoundLine { path, line, .. }: &FoundLine = found;
            MatchPosition { path, line: *line }
        };
        MatchPositions {
            files_searched: self.files_searched,
            matches: self.matches.iter().map(place).collect(),
        }
    }
}
