//! Texts as they come from a model or a person: checked, cut, and compared by their words.

use std::collections::BTreeSet;

use lango_retrieval::NewPassage;

use crate::LibrarianError;

/// Characters of a passage, about as many as an embedding model reads at once.
const PASSAGE: usize = 900;

/// A text that can be stored: not empty, not too long, without NUL.
pub(crate) fn checked(
    what: &'static str,
    text: &str,
    longest: usize,
) -> Result<String, LibrarianError> {
    let wrong = |why: String| LibrarianError::Text { what, why };
    let text = text.trim();
    if text.is_empty() {
        return Err(wrong("is empty".to_owned()));
    }
    if text.chars().nth(longest).is_some() {
        return Err(wrong(format!("is longer than {longest} characters")));
    }
    if text.contains('\0') {
        return Err(wrong("has a NUL character in it".to_owned()));
    }
    Ok(text.to_owned())
}

/// The same for one line of text, with single spaces.
pub(crate) fn checked_line(
    what: &'static str,
    text: &str,
    longest: usize,
) -> Result<String, LibrarianError> {
    let line = text.split_whitespace().take(longest + 1).collect::<Vec<_>>().join(" ");
    if line.chars().any(char::is_control) {
        let why = "has control characters in it".to_owned();
        return Err(LibrarianError::Text { what, why });
    }
    checked(what, &line, longest)
}

/// At most so many characters, with a mark where something is missing.
pub(crate) fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// A text in pieces that are not too long, cut between lines or words where possible.
pub(crate) fn passages(text: &str) -> Vec<NewPassage> {
    let mut pieces = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = cut(rest);
        let (piece, after) = rest.split_at(end);
        pieces.push(NewPassage {
            heading: String::new(),
            text: piece.trim_end().to_owned(),
            position: String::new(),
        });
        rest = after.trim_start();
    }
    pieces
}

/// Where the first piece of a text ends.
fn cut(text: &str) -> usize {
    let Some((end, _)) = text.char_indices().nth(PASSAGE) else { return text.len() };
    let head = &text[..end];
    let place = head.rfind("\n\n").or_else(|| head.rfind('\n')).filter(|at| *at > end / 3);
    let place = place.or_else(|| head.rfind(". ").map(|at| at + 1)).filter(|at| *at > end / 3);
    place.or_else(|| head.rfind(char::is_whitespace).filter(|at| *at > 0)).unwrap_or(end)
}

/// Words that say nothing about a subject.
const COMMON: &[&str] = &[
    "a", "about", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his",
    "how", "i", "if", "in", "is", "it", "its", "know", "known", "me", "my", "no", "not", "of",
    "on", "or", "our", "please", "say", "she", "should", "so", "some", "tell", "than", "that",
    "the", "their", "them", "there", "they", "this", "to", "us", "use", "used", "was", "we",
    "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// The words of a text that say what it is about.
pub(crate) fn telling_words(text: &str) -> BTreeSet<String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| stem(&word.to_lowercase()))
        .filter(|word| !COMMON.contains(&word.as_str()))
        .take(400)
        .collect()
}

/// Without the endings that most often make two forms of one English word.
fn stem(word: &str) -> String {
    for ending in ["ing", "ed", "es", "s"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.chars().count() >= 4
        {
            return stem.strip_suffix('e').unwrap_or(stem).to_owned();
        }
    }
    word.strip_suffix('e').filter(|stem| stem.chars().count() >= 4).unwrap_or(word).to_owned()
}

/// How many of all words two texts share, from 0 to 1.
pub(crate) fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let shared = one.intersection(other).count();
    let all = one.len() + other.len() - shared;
    if all == 0 { 0.0 } else { ratio(shared, all) }
}

/// How much of `part` is in `whole`, from 0 to 1.
pub(crate) fn coverage(part: &BTreeSet<String>, whole: &BTreeSet<String>) -> f64 {
    if part.is_empty() { 0.0 } else { ratio(part.intersection(whole).count(), part.len()) }
}

fn ratio(some: usize, all: usize) -> f64 {
    let real = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    real(some) / real(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_hold_the_whole_text_within_their_length() {
        let paragraphs: Vec<String> =
            (0..40).map(|n| format!("Paragraph {n}. {}", "Some words here. ".repeat(n))).collect();
        for text in [
            paragraphs.join("\n\n"),
            "x".repeat(5_000),
            "ä ".repeat(3_000),
            "short".to_owned(),
            String::new(),
        ] {
            let passages = passages(&text);
            assert!(passages.iter().all(|p| (1..=PASSAGE).contains(&p.text.chars().count())));
            let plain = |text: &str| text.split_whitespace().collect::<String>();
            let whole: String = passages.iter().map(|p| plain(&p.text)).collect();
            assert_eq!(whole, plain(&text));
        }
    }

    #[test]
    fn texts_are_compared_by_what_they_are_about() {
        let words = telling_words("Which database does the staging server use?");
        assert_eq!(words.into_iter().collect::<Vec<_>>(), ["databas", "server", "stag"]);
        let of = |text| telling_words(text);
        assert!(likeness(&of("deploying the servers"), &of("deploy a server")) > 0.99);
        assert!(likeness(&of("the moon"), &of("a server")) < 0.01);
        assert!(
            coverage(&of("staging database"), &of("the staging database is PostgreSQL")) > 0.99
        );
        assert!(likeness(&of(""), &of("")) < 0.01);
    }
}
