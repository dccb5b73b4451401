//! Builds parts of the reports that tell a person what a call did. The sentences themselves are
//! next to the tools.

use lango_protocol::CallReport;
use lango_text::{code_span, plural, to_one_line};

/// Limits a name, a key or a source within a sentence, in characters.
pub(crate) const MAX_NAME_CHARACTERS: usize = 200;
/// Limits a remark, in characters.
pub(crate) const MAX_REMARK_CHARACTERS: usize = 300;
/// Limits the words of one entry of a list, in characters.
pub(crate) const MAX_ENTRY_CHARACTERS: usize = 600;

/// Says what a call does: "Searching the web for `tomatoes`". Returns none if the argument is
/// blank.
pub(crate) fn describe_activity(doing: &str, argument: &str) -> Option<String> {
    (!argument.trim().is_empty()).then(|| format!("{doing} {}", code_span(argument)))
}

/// Reports the entries that a search found, one line each.
pub(crate) fn report_found_entries(
    query: &str,
    lines: &[String],
    note: Option<&str>,
) -> CallReport {
    let query = code_span(query);
    if lines.is_empty() {
        return CallReport::new(format!("Nothing was found for {query}.")).found_nothing();
    }
    let entries = plural(lines.len(), "entry", "entries");
    let report =
        CallReport::new(format!("{entries} found for {query}:")).markdown(lines.join("\n"));
    with_remark(report, note)
}

/// Adds a remark in parentheses, where there is one.
pub(crate) fn with_remark(report: CallReport, remark: Option<&str>) -> CallReport {
    match remark {
        Some(remark) => report.note(format!("({})", to_one_line(remark, MAX_REMARK_CHARACTERS))),
        None => report,
    }
}
