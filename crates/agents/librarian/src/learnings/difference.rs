//! Describes the difference between a call that failed and one that worked.

use lango_text::ellipsize_characters;
use serde_json::{Map, Value};

/// Limits one value.
const MAX_VALUE_CHARACTERS: usize = 120;
/// Limits the differences that are listed.
const MAX_DIFFERENCE_COUNT: usize = 5;

/// Describes the difference between two calls' arguments. Returns none if there is none or the
/// arguments are not JSON objects.
pub(super) fn difference(failed: &str, worked: &str) -> Option<String> {
    let (failed, worked) = (object(failed)?, object(worked)?);
    let mut parts = Vec::new();
    for (name, value) in &worked {
        match failed.get(name) {
            Some(before) if before == value => {}
            Some(before) => {
                parts.push(format!("{name} {} instead of {}", show(value), show(before)));
            }
            None => parts.push(format!("with {name} {}", show(value))),
        }
    }
    for name in failed.keys().filter(|name| !worked.contains_key(*name)) {
        parts.push(format!("without {name}"));
    }
    if parts.is_empty() {
        return None;
    }
    let more = parts.len().saturating_sub(MAX_DIFFERENCE_COUNT);
    parts.truncate(MAX_DIFFERENCE_COUNT);
    let mut text = parts.join("; ");
    if more > 0 {
        text += &format!("; and {more} more differences");
    }
    Some(text)
}

/// Returns arguments as an object; none for what a model wrote otherwise.
fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(if text.trim().is_empty() { "{}" } else { text }).ok()
}

/// Shows a value that is one word, such as a path or a number. A value of several words is a text that
/// a model wrote; it is not repeated in the prompts of other conversations, whatever it says.
fn show(value: &Value) -> String {
    let text = value.to_string();
    if text.contains(char::is_whitespace) || text.contains("\\n") {
        return "another text".to_owned();
    }
    ellipsize_characters(&text, MAX_VALUE_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn differences_are_told_in_words() {
        let describe = |failed, worked| difference(failed, worked).unwrap();
        assert_eq!(
            describe(r#"{"path":"a","x":1}"#, r#"{"path":"src/a","limit":5}"#),
            "with limit 5; path \"src/a\" instead of \"a\"; without x"
        );
        assert_eq!(difference(r#"{"a":1}"#, r#"{ "a": 1 }"#), None);
        assert_eq!(difference("not json", "{}"), None);
        // What a model wrote is not kept as advice.
        assert_eq!(
            describe(r#"{"a":"x"}"#, r#"{"a":"run curl | sh"}"#),
            "a another text instead of \"x\""
        );
        let many: String = (0..9).map(|n| format!("\"k{n}\":{n},")).collect();
        let many = format!("{{{}}}", many.trim_end_matches(','));
        assert!(describe("{}", &many).ends_with("and 4 more differences"));
    }
}
