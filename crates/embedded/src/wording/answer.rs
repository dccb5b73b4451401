//! Renders a report as an answer, within its limits.

use std::borrow::Cow;

use lango_protocol::{CallReport, ReportDetails, marker};
use lango_text::{ellipsize, plural, truncate};

/// Limits a whole answer, with the note about the part that was left out.
pub(super) const MAX_ANSWER_BYTES: usize = 6 * 1024;
/// Limits the first line.
const MAX_SUMMARY_BYTES: usize = 1024;
/// Limits a note below.
const MAX_NOTE_BYTES: usize = 400;
/// Limits the notes below.
const MAX_NOTE_COUNT: usize = 4;
/// Reserves space for the note about the part that was left out, and for the marks around the
/// details.
const MARGIN_BYTES: usize = 400;
/// Limits the backticks in a row from which on no fence is put around a text.
const MAX_BACKTICKS: usize = 64;

/// Writes a report: the sentence, what there is to show, and the notes.
pub(super) fn render_report(report: &CallReport) -> String {
    let mut text = ellipsize(&remove_control_characters(report.summary.trim()), MAX_SUMMARY_BYTES);
    let notes = report.notes.iter().take(MAX_NOTE_COUNT);
    let notes: Vec<String> = notes
        .map(|note| ellipsize(&remove_control_characters(note.trim()), MAX_NOTE_BYTES))
        .collect();
    let taken: usize = notes.iter().map(|note| note.len() + 2).sum();
    let limit = MAX_ANSWER_BYTES.saturating_sub(text.len() + taken + MARGIN_BYTES);
    let (shown, rest) = render_details(report, limit);
    for part in [shown].into_iter().chain(rest).chain(notes) {
        if !part.is_empty() {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&part);
        }
    }
    marker::defuse_question(text)
}

/// Writes what there is to show, and how much of it is left out.
fn render_details(report: &CallReport, limit: usize) -> (String, Option<String>) {
    let mut rest = None;
    let mut show = |body: &str| {
        let body = remove_control_characters(body);
        let body = body.trim_matches('\n');
        let (shown, omitted) = cut_at_limit(body, limit);
        rest = describe_left_out(omitted, report.omitted_bytes);
        shown.to_owned()
    };
    let shown = match &report.details {
        None => String::new(),
        Some(ReportDetails::Markdown(lines)) => show(lines),
        Some(ReportDetails::Verbatim(code)) if longest_backtick_run(code) < MAX_BACKTICKS => {
            wrap_in_fence(&show(code))
        }
        // Each line grows by its mark; the limit holds for the result.
        Some(ReportDetails::Verbatim(words) | ReportDetails::Quoted(words)) => {
            show(&quote_lines(words))
        }
    };
    (shown, rest)
}

/// Says how much is not shown: what did not fit here, and what did not fit into the report.
fn describe_left_out(rest: &str, omitted_bytes: u64) -> Option<String> {
    if rest.trim().is_empty() && omitted_bytes == 0 {
        return None;
    }
    let bytes = omitted_bytes.saturating_add(rest.len() as u64);
    // Lines are counted only where all of them were seen.
    let lines = if omitted_bytes > 0 { 0 } else { rest.trim_matches('\n').lines().count() };
    Some(match lines {
        0 => format!("(… {bytes} more bytes are not shown)"),
        lines => {
            let verb = if lines == 1 { "is" } else { "are" };
            let lines = plural(lines, "more line", "more lines");
            format!("(… {lines}, {bytes} bytes, {verb} not shown)")
        }
    })
}

/// Returns the beginning of a text within `limit` bytes, and the rest. It is cut at a line, unless
/// the first one is longer than that.
fn cut_at_limit(text: &str, limit: usize) -> (&str, &str) {
    if text.len() <= limit {
        return (text, "");
    }
    let fitting = truncate(text, limit);
    text.split_at(fitting.rfind('\n').unwrap_or(fitting.len()))
}

/// Puts text into a fence that it cannot close.
fn wrap_in_fence(text: &str) -> String {
    let fence = "`".repeat((longest_backtick_run(text) + 1).max(3));
    format!("{fence}\n{text}\n{fence}")
}

/// Returns the most backticks in a row.
fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Marks each line as quoted.
fn quote_lines(text: &str) -> String {
    let lines = text.trim_matches('\n').lines();
    let lines: Vec<String> = lines.map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Returns the text without what would act on a terminal, and without the marker by which agents
/// reject a task: here it is quoted text.
fn remove_control_characters(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(acts) {
        return marker::defuse_rejections(text);
    }
    let kept: String = text.chars().filter(|c| !acts(*c)).collect();
    Cow::Owned(marker::defuse_rejections(&kept).into_owned())
}

#[cfg(test)]
mod tests;
