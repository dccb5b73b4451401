//! Reports to users what was found.

use lango_protocol::{CallReport, ReportedFiles};
use lango_text::{code_span, make_visible, plural};
use serde::Serialize;

use super::{FindResult, FoundEntry, SortKey};
use crate::files::report::FilesReport;
use crate::files::size::format_size;
use crate::files::time::format_time;
use crate::sentence::{code, to_sentence};
use crate::workspace::EntryKind;

/// Reports to programs what was found.
#[derive(Serialize)]
struct FoundFacts<'a> {
    total: usize,
    total_bytes: Option<u64>,
    entries: &'a [FoundEntry],
}

impl FindResult {
    /// Returns "12 files found, 4567 bytes in all; the first 10 are shown".
    pub(super) fn describe_total(&self) -> String {
        let size = |bytes: u64| plural(bytes, "byte", "bytes");
        self.describe_total_with(size)
    }

    fn describe_total_with(&self, size: impl Fn(u64) -> String) -> String {
        let (one, several) = self.kind.nouns();
        let mut text = format!("{} found", plural(self.total, one, several));
        if let Some(bytes) = self.total_bytes.filter(|_| self.total > 0) {
            text.push_str(&format!(", {} in all", size(bytes)));
        }
        if !self.entries.is_empty() && self.entries.len() < self.total {
            text.push_str(&format!("; the first {} are shown", self.entries.len()));
        }
        if self.left_out > 0 {
            text.push_str(&format!("; {} left out by a rule", self.left_out));
        }
        if let Some(why) = &self.ended {
            text.push_str(&format!("; {why}"));
        }
        text
    }

    pub(super) fn report(&self) -> CallReport {
        let place = match self.path.as_str() {
            "." => "the workspace".to_owned(),
            path => code(path),
        };
        let total =
            self.describe_total_with(format_size).replacen(" found", &format!(" in {place}"), 1);
        let paths = self.entries.iter().map(|entry| entry.path.to_string_lossy().into_owned());
        let files = ReportedFiles::new(paths);
        let entries = &self.entries[..files.paths.len()];
        let (total_found, total_bytes) = (self.total, self.total_bytes);
        let facts = FoundFacts { total: total_found, total_bytes, entries };
        let report = if self.entries.is_empty() {
            CallReport::new(to_sentence(&total))
        } else {
            let items: Vec<String> =
                self.entries.iter().map(|entry| entry.render_item(self.sort)).collect();
            CallReport::new(format!("{total}:")).markdown(items.join("\n"))
        };
        report.data(&FilesReport { files, details: facts })
    }
}

impl FoundEntry {
    /// Returns the entry as an item of a Markdown list.
    fn render_item(&self, sort: SortKey) -> String {
        let Self { path, kind, size, changed } = self;
        let slash = if *kind == EntryKind::Directory { "/" } else { "" };
        let path = code_span(&format!("{}{slash}", make_visible(&path.to_string_lossy())));
        let mut item = format!("- {path}, {}", format_size(*size));
        if let (SortKey::Changed, Some(time)) = (sort, changed) {
            item.push_str(&format!(", changed {}", format_time(*time)));
        }
        item
    }
}
