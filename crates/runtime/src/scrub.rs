//! Keeps known secrets out of the journal and out of prompts.

use std::borrow::Cow;
use std::fmt;

/// Replaces known secret values in text.
#[derive(Clone, Default)]
pub struct Scrubber {
    secrets: Vec<String>,
}

impl Scrubber {
    /// Sets the minimum length of a secret. Shorter values are too likely to be ordinary words.
    const MIN_SECRET_BYTES: usize = 8;

    /// Creates a scrubber for these values.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<_> =
            secrets.into_iter().filter(|secret| secret.len() >= Self::MIN_SECRET_BYTES).collect();
        // A secret that contains another is replaced as a whole.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// Returns the text without secrets.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), "[secret]"));
            }
        }
        text
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scrubber({} secrets)", self.secrets.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_secret_never_passes() {
        let scrubber = Scrubber::new(["sk-12345678".to_owned(), "short".to_owned()]);
        assert_eq!(scrubber.scrub("KEY=sk-12345678 short"), "KEY=[secret] short");
        assert!(!format!("{scrubber:?}").contains("sk-"));
    }
}
