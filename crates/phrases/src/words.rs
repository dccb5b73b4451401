//! Splits a request into words, each with its place in the text.

use std::borrow::Cow;
use std::ops::Range;

use crate::quotations::find_quotations;

/// Represents a word of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word in lower case, without the punctuation around it.
    pub text: String,
    /// Its place in the text, in bytes.
    pub range: Range<usize>,
    /// True if it stands in a quotation.
    pub is_quoted: bool,
}

/// Holds a request as words.
#[derive(Debug, Clone)]
pub struct RequestWords<'a> {
    /// The request.
    pub text: &'a str,
    /// Its words, in order.
    pub words: Vec<Word>,
    /// The insides of the outermost quotations.
    pub quotations: Vec<Range<usize>>,
}

const AROUND: &[char] = &[
    ',', ';', ':', '!', '?', '"', '\'', '`', '(', ')', '[', ']', '“', '”', '‘', '’', '«', '»', '…',
];

impl<'a> RequestWords<'a> {
    /// Splits a text.
    pub fn of(text: &'a str) -> Self {
        let quotations: Vec<Range<usize>> =
            find_quotations(text).into_iter().map(|quotation| quotation.inside).collect();
        let mut words = Vec::new();
        for (start, part) in split_at_spaces(text) {
            let trimmed = part.trim_start_matches(AROUND);
            let start = start + part.len() - trimmed.len();
            // A dot at the end of a sentence is no part of a name, unlike one within it.
            let mut trimmed = trimmed.trim_end_matches(AROUND);
            let dots = trimmed.len() - trimmed.trim_end_matches('.').len();
            if dots > 0
                && trimmed.len() > dots
                && !trimmed.ends_with("/.")
                && !trimmed.ends_with("..")
            {
                trimmed = trimmed.trim_end_matches('.').trim_end_matches(AROUND);
            }
            if trimmed.is_empty() {
                continue;
            }
            let range = start..start + trimmed.len();
            let is_quoted = quotations.iter().any(|q| q.start <= range.start && range.end <= q.end);
            let text = trimmed.to_lowercase().replace('’', "'");
            words.push(Word { text, range, is_quoted });
        }
        Self { text, words, quotations }
    }

    /// Returns the words outside quotations, in lower case.
    pub fn unquoted(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter(|word| !word.is_quoted).map(|word| word.text.as_str())
    }

    /// Tells whether one of these words occurs outside quotations.
    pub fn has_any(&self, wanted: &[&str]) -> bool {
        self.unquoted().any(|word| wanted.contains(&word))
    }

    /// Tells whether the words of one of these phrases follow each other outside quotations.
    pub fn has_phrase(&self, phrases: &[&str]) -> bool {
        let words: Vec<&str> = self.unquoted().collect();
        let found = |phrase: &&str| {
            let wanted: Vec<&str> = phrase.split(' ').collect();
            words.windows(wanted.len()).any(|window| window == wanted.as_slice())
        };
        phrases.iter().any(found)
    }
}

/// Writes names as they are spelled: "draft dot md" is draft.md.
pub fn write_spoken_names(text: &str) -> Cow<'_, str> {
    const SPOKEN: &str = " dot ";
    let mut written = String::new();
    let mut rest = text;
    while let Some(at) = rest.to_ascii_lowercase().find(SPOKEN) {
        let after = &rest[at + SPOKEN.len()..];
        let length = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
        written.push_str(&rest[..at]);
        written.push_str(if (1..=5).contains(&length) { "." } else { SPOKEN });
        rest = after;
    }
    if written.is_empty() {
        return Cow::Borrowed(text);
    }
    written.push_str(rest);
    Cow::Owned(written)
}

fn split_at_spaces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(move |part| (part.as_ptr() as usize - text.as_ptr() as usize, part))
}

#[cfg(test)]
mod tests;
