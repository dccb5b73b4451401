//! Checks, cuts and compares texts from a model or a person.

use std::collections::BTreeSet;

use lango_retrieval::NewPassage;

use crate::LibrarianError;

/// Limits a passage to about what an embedding model reads at once.
const MAX_PASSAGE_CHARACTERS: usize = 900;

/// Returns the trimmed text if it can be stored: not empty, not too long, without NUL.
pub(crate) fn check_text(
    what: &'static str,
    text: &str,
    max_characters: usize,
) -> Result<String, LibrarianError> {
    let wrong = |why: String| LibrarianError::Text { what, why };
    let text = text.trim();
    if text.is_empty() {
        return Err(wrong("is empty".to_owned()));
    }
    if text.chars().nth(max_characters).is_some() {
        return Err(wrong(format!("is longer than {max_characters} characters")));
    }
    if text.contains('\0') {
        return Err(wrong("has a NUL character in it".to_owned()));
    }
    Ok(text.to_owned())
}

/// Does the same for one line of text, with single spaces.
pub(crate) fn check_line(
    what: &'static str,
    text: &str,
    max_characters: usize,
) -> Result<String, LibrarianError> {
    let line = text.split_whitespace().take(max_characters + 1).collect::<Vec<_>>().join(" ");
    if line.chars().any(char::is_control) {
        let why = "has control characters in it".to_owned();
        return Err(LibrarianError::Text { what, why });
    }
    check_text(what, &line, max_characters)
}

/// Cuts a text into passages, between lines or words where possible.
pub(crate) fn cut_into_passages(text: &str) -> Vec<NewPassage> {
    let mut pieces = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = first_piece_end(rest);
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

/// Returns the byte at which the first passage of a text ends.
fn first_piece_end(text: &str) -> usize {
    let Some((end, _)) = text.char_indices().nth(MAX_PASSAGE_CHARACTERS) else { return text.len() };
    let head = &text[..end];
    let end_of_piece = head.rfind("\n\n").or_else(|| head.rfind('\n')).filter(|at| *at > end / 3);
    let end_of_piece =
        end_of_piece.or_else(|| head.rfind(". ").map(|at| at + 1)).filter(|at| *at > end / 3);
    end_of_piece.or_else(|| head.rfind(char::is_whitespace).filter(|at| *at > 0)).unwrap_or(end)
}

/// Lists words that say nothing about the subject of a question, beside those that never do.
const STOP_WORDS: &[&str] = &["known", "tell", "used"];

/// Returns the stems of a text's words without stop words.
pub(crate) fn significant_words(text: &str) -> BTreeSet<String> {
    lango_text::significant_words(text, STOP_WORDS)
}

#[cfg(test)]
mod tests {
    use lango_text::{jaccard_similarity, word_coverage};

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
            let passages = cut_into_passages(&text);
            assert!(
                passages
                    .iter()
                    .all(|p| (1..=MAX_PASSAGE_CHARACTERS).contains(&p.text.chars().count()))
            );
            let plain = |text: &str| text.split_whitespace().collect::<String>();
            let whole: String = passages.iter().map(|p| plain(&p.text)).collect();
            assert_eq!(whole, plain(&text));
        }
    }

    #[test]
    fn texts_are_compared_by_what_they_are_about() {
        let words = significant_words("Which database does the staging server use?");
        assert_eq!(words.into_iter().collect::<Vec<_>>(), ["databas", "server", "stag"]);
        let of = |text| significant_words(text);
        assert!(jaccard_similarity(&of("deploying the servers"), &of("deploy a server")) > 0.99);
        assert!(jaccard_similarity(&of("the moon"), &of("a server")) < 0.01);
        assert!(
            word_coverage(&of("staging database"), &of("the staging database is PostgreSQL"))
                > 0.99
        );
        assert!(jaccard_similarity(&of(""), &of("")) < 0.01);
    }
}
