//! Reports to users what a tool call did.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Limits how many bytes the summary of a report has.
pub const MAX_SUMMARY_BYTES: usize = 1024;
/// Limits how many bytes the details of a report have.
pub const MAX_DETAILS_BYTES: usize = 6 * 1024;
/// Limits how many bytes one note of a report has.
const MAX_NOTE_BYTES: usize = 400;
/// Limits how many notes a report has.
const MAX_NOTE_COUNT: usize = 4;
/// Limits how many bytes of JSON the structured data of a report has.
const MAX_DATA_BYTES: usize = 32 * 1024;

/// Reports to users what one tool call did. The model reads the call's output; terminals, progress
/// messages and the embedded model use this.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallReport {
    /// One Markdown sentence, such as "Read `notes.md`, 12 lines."
    pub summary: String,
    /// True if the call ran and still did not achieve what it was asked for, such as a command that
    /// ended with an error code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsuccessful: bool,
    /// True if the call searched, and nothing fits what it searched for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub found_nothing: bool,
    /// Whether the call was not run because its arguments do not fit the tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invalid_arguments: bool,
    /// The details below the sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<ReportDetails>,
    /// The number of bytes of the details that did not fit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_bytes: u64,
    /// Remarks below everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The same facts for programs, if the tool has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Shows more than a sentence can say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "form", content = "text", rename_all = "snake_case")]
pub enum ReportDetails {
    /// Markdown of ours: a list or a table.
    Markdown(String),
    /// Literal text, as of a file or a command.
    Verbatim(String),
    /// Words of a document, a page or another author.
    Quoted(String),
}

impl ReportDetails {
    /// Returns the text, whatever its form.
    pub fn text(&self) -> &str {
        match self {
            Self::Markdown(text) | Self::Verbatim(text) | Self::Quoted(text) => text,
        }
    }

    fn with_text(&self, text: String) -> Self {
        match self {
            Self::Markdown(_) => Self::Markdown(text),
            Self::Verbatim(_) => Self::Verbatim(text),
            Self::Quoted(_) => Self::Quoted(text),
        }
    }
}

impl CallReport {
    /// Creates a report of one sentence.
    pub fn new(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }

    /// Marks that the call did not achieve what it was asked for.
    #[must_use]
    pub fn unsuccessful(mut self) -> Self {
        self.unsuccessful = true;
        self
    }

    /// Marks that the call searched, and nothing fits what it searched for.
    #[must_use]
    pub fn found_nothing(mut self) -> Self {
        self.found_nothing = true;
        self
    }

    /// Marks that the call was not run because its arguments do not fit the tool.
    #[must_use]
    pub fn invalid_arguments(mut self) -> Self {
        self.invalid_arguments = true;
        self.unsuccessful()
    }

    /// Adds Markdown of ours below the sentence.
    #[must_use]
    pub fn markdown(self, text: impl Into<String>) -> Self {
        self.details(ReportDetails::Markdown(text.into()))
    }

    /// Adds literal text below the sentence.
    #[must_use]
    pub fn verbatim(self, text: impl Into<String>) -> Self {
        self.details(ReportDetails::Verbatim(text.into()))
    }

    /// Adds words of another author below the sentence.
    #[must_use]
    pub fn quoted(self, text: impl Into<String>) -> Self {
        self.details(ReportDetails::Quoted(text.into()))
    }

    fn details(mut self, details: ReportDetails) -> Self {
        self.details = Some(details);
        self
    }

    /// Adds a remark below everything else.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds the facts for programs. Data that cannot be written as JSON is left out: the sentence
    /// says the same.
    #[must_use]
    pub fn data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::to_value(data).ok();
        self
    }

    /// Bounds every part, so that a report never makes the journal grow by more than some
    /// kilobytes.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        truncate(&mut self.summary, MAX_SUMMARY_BYTES);
        self.notes.truncate(MAX_NOTE_COUNT);
        for note in &mut self.notes {
            truncate(note, MAX_NOTE_BYTES);
        }
        if let Some(details) = self.details.take() {
            let (shown, omitted) = bounded_lines(details.text());
            self.omitted_bytes = self.omitted_bytes.saturating_add(omitted);
            self.details = Some(details.with_text(shown));
        }
        self.data = self.data.filter(|data| data.to_string().len() <= MAX_DATA_BYTES);
        self
    }

    /// Changes every text with a function, such as one that hides secrets.
    #[must_use]
    pub fn map_text(mut self, change: &mut impl FnMut(&str) -> String) -> Self {
        self.summary = change(&self.summary);
        self.details = self.details.map(|details| details.with_text(change(details.text())));
        for note in &mut self.notes {
            *note = change(note);
        }
        self.data = self.data.map(|data| map_strings(data, change));
        self
    }
}

/// Returns the lines of a text that fit, and how many bytes did not.
fn bounded_lines(text: &str) -> (String, u64) {
    if text.len() <= MAX_DETAILS_BYTES {
        return (text.to_owned(), 0);
    }
    let end = text.floor_char_boundary(MAX_DETAILS_BYTES);
    let end = text[..end].rfind('\n').unwrap_or(end);
    (text[..end].to_owned(), (text.len() - end) as u64)
}

fn truncate(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes.saturating_sub('…'.len_utf8())));
        text.push('…');
    }
}

fn map_strings(value: Value, change: &mut impl FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| map_strings(item, change)).collect())
        }
        Value::Object(fields) => Value::Object(
            fields.into_iter().map(|(name, field)| (name, map_strings(field, change))).collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_is_bounded_in_every_part() {
        let long = "line of text\n".repeat(2_000);
        let report = CallReport::new("ä".repeat(3_000))
            .verbatim(long.as_str())
            .note("n".repeat(1_000))
            .data(&json!({ "text": "x".repeat(40_000) }))
            .bounded();
        assert!(report.summary.len() <= MAX_SUMMARY_BYTES && report.summary.ends_with('…'));
        let shown = report.details.as_ref().map_or("", ReportDetails::text);
        assert!(shown.len() <= MAX_DETAILS_BYTES && long.starts_with(shown));
        assert_eq!(report.omitted_bytes, (long.len() - shown.len()) as u64);
        assert!(report.notes[0].len() <= MAX_NOTE_BYTES);
        assert_eq!(report.data, None);
    }

    #[test]
    fn every_text_of_a_report_can_be_changed() {
        let report = CallReport::new("key").quoted("a key").note("key").data(&json!(["key", 1]));
        let changed = report.map_text(&mut |text| text.replace("key", "***"));
        assert_eq!(changed.summary, "***");
        assert_eq!(changed.details, Some(ReportDetails::Quoted("a ***".into())));
        assert_eq!(changed.notes, ["***"]);
        assert_eq!(changed.data, Some(json!(["***", 1])));
    }

    #[test]
    fn a_report_of_one_sentence_is_one_field() {
        let text = serde_json::to_string(&CallReport::new("Done.")).unwrap();
        assert_eq!(text, r#"{"summary":"Done."}"#);
    }
}
