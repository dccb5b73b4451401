//! Builds parts of the reports that tell a person what a call did. The sentences themselves are
//! next to the tools.

use lango_protocol::CallReport;
use lango_text::{plural, to_one_line};

/// Limits the text of one memory.
pub(super) const MAX_CONTENT_CHARACTERS: usize = 600;
/// Limits a date.
pub(super) const MAX_DATE_CHARACTERS: usize = 60;

/// Returns one entry of a list: the day and the text.
pub(super) fn render_dated_line(date: &str, content: &str) -> String {
    let date = to_one_line(date, MAX_DATE_CHARACTERS);
    format!("- {date}: {}", to_one_line(content, MAX_CONTENT_CHARACTERS))
}

/// Reports the entries of a conversation, one line each.
pub(super) fn report_entries(lines: &[String], one: &str, several: &str) -> CallReport {
    if lines.is_empty() {
        return CallReport::new(format!("There are no {several} of this conversation."));
    }
    let number = plural(lines.len(), one, several);
    CallReport::new(format!("{number}:")).markdown(lines.join("\n"))
}
