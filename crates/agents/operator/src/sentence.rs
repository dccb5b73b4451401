//! Builds parts of the sentences in which tools tell users what they do and did.

use lango_protocol::CallReport;
use lango_text::{code_span, make_visible, plural};

/// Returns "Reading `notes.md`"; none if a call names no object.
pub(crate) fn describe_activity(verb: &str, object: &str) -> Option<String> {
    (!object.trim().is_empty()).then(|| format!("{verb} {}", code(object)))
}

/// Returns a path or a command as a code span in which everything invisible is written out.
pub(crate) fn code(text: &str) -> String {
    make_visible(&code_span(text))
}

/// Returns a number with its noun: "1 byte", "3 bytes".
pub(crate) fn count_with_noun(number: u64, one: &str, several: &str) -> String {
    plural(usize::try_from(number).unwrap_or(usize::MAX), one, several)
}

/// Turns words into a sentence, with a capital letter and a full stop.
pub(crate) fn to_sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

/// Builds the report of a change to a file. Every such change is recorded with the previous
/// content, so it can be undone.
pub(crate) fn report_change(summary: String) -> CallReport {
    CallReport::new(summary).note("`lango undo` takes it back.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_activity_names_its_object_in_a_harmless_way() {
        assert_eq!(describe_activity("Reading", "notes.md").as_deref(), Some("Reading `notes.md`"));
        assert_eq!(
            describe_activity("Running", "a\u{202e}b").as_deref(),
            Some("Running `a\\u{202e}b`")
        );
        assert_eq!(describe_activity("Running", "one\ntwo").as_deref(), Some("Running `one …`"));
        assert_eq!(describe_activity("Reading", " "), None);
    }

    #[test]
    fn words_become_a_sentence() {
        assert_eq!(to_sentence("the disk is full"), "The disk is full.");
        assert_eq!(to_sentence(""), ".");
    }
}
