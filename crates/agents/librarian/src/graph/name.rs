//! Checks names of nodes and predicates. They are compared without regard to case and spacing, and
//! shown as first written.

use crate::LibrarianError;

/// Limits a name.
const MAX_NAME_CHARACTERS: usize = 500;

/// Represents a checked name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphName {
    shown: String,
    folded: String,
}

impl GraphName {
    /// Checks a name. `what` names it in errors.
    pub fn new(what: &'static str, text: &str) -> Result<Self, LibrarianError> {
        let wrong = |why: String| LibrarianError::Text { what, why };
        // More words cannot fit, whatever the input is.
        let words: Vec<&str> = text.split_whitespace().take(MAX_NAME_CHARACTERS + 1).collect();
        let shown = words.join(" ");
        if shown.is_empty() {
            return Err(wrong("is empty".to_owned()));
        }
        if shown.chars().nth(MAX_NAME_CHARACTERS).is_some() {
            return Err(wrong(format!(
                "is longer than {MAX_NAME_CHARACTERS} characters; put text into source"
            )));
        }
        if shown.chars().any(char::is_control) {
            return Err(wrong("has control characters in it".to_owned()));
        }
        let folded = shown.to_lowercase();
        Ok(Self { shown, folded })
    }

    /// Returns the name as it was written, with single spaces.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the name in the form that is compared.
    pub(crate) fn folded(&self) -> &str {
        &self.folded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_spaces_make_no_difference_and_the_spelling_is_kept() {
        let name = GraphName::new("subject", "  Ada\n  LOVELACE\t").unwrap();
        assert_eq!((name.shown(), name.folded()), ("Ada LOVELACE", "ada lovelace"));
        assert_eq!(GraphName::new("subject", "ÄPFEL").unwrap().folded(), "äpfel");
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for (bad, why) in [
            ("", "empty"),
            (" \n\t", "empty"),
            ("a\0b", "control"),
            (&*"x".repeat(501), "longer"),
            (&*"x ".repeat(100_000), "longer"),
        ] {
            let error = GraphName::new("subject", bad).unwrap_err().to_string();
            assert!(error.starts_with("subject ") && error.contains(why), "{error}");
        }
        assert!(GraphName::new("subject", &"ä".repeat(500)).is_ok());
    }
}
