//! What was different between a call that failed and one that worked.

use serde_json::{Map, Value};

use crate::text::shortened;

/// Characters of one value that are shown.
const VALUE: usize = 120;
/// Differences that are told.
const MOST: usize = 5;

/// The difference between two calls' arguments, in words. None where there is none that could be
/// told.
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
    let more = parts.len().saturating_sub(MOST);
    parts.truncate(MOST);
    let mut text = parts.join("; ");
    if more > 0 {
        text += &format!("; and {more} more differences");
    }
    Some(text)
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(if text.trim().is_empty() { "{}" } else { text }).ok()
}

fn show(value: &Value) -> String {
    shortened(&value.to_string(), VALUE)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn differences_are_told_in_words() {
        let told = |failed, worked| difference(failed, worked).unwrap();
        assert_eq!(
            told(r#"{"path":"a","x":1}"#, r#"{"path":"src/a","limit":5}"#),
            "with limit 5; path \"src/a\" instead of \"a\"; without x"
        );
        assert_eq!(difference(r#"{"a":1}"#, r#"{ "a": 1 }"#), None);
        assert_eq!(difference("not json", "{}"), None);
        let many: String = (0..9).map(|n| format!("\"k{n}\":{n},")).collect();
        let many = format!("{{{}}}", many.trim_end_matches(','));
        assert!(told("{}", &many).ends_with("and 4 more differences"));
    }
}
