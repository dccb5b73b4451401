//! Compares what two texts claim about the same things: whether they affirm or deny it, and in which
//! direction. All functions are pure.
//!
//! A note with all the words of the user can still say the opposite: "I never deploy without review"
//! has every word of "I deploy without review".

use std::sync::LazyLock;

use lango_text::{split_words, stem_word, word_coverage};
use regex::Regex;

use crate::pattern::compile_pattern;
use crate::text::{is_stop_word, significant_words};

/// Sets the share of a note's words from which a clause of the user is about the same.
const MIN_COVERAGE: f64 = 0.34;

/// Lists words that turn a statement round.
const NEGATIONS: [&str; 36] = [
    "not", "never", "no", "nobody", "nothing", "none", "nor", "neither", "nowhere", "without",
    "cannot", "except", "unless", "hardly", "rarely", "seldom", "dislike", "dislikes", "disliked",
    "hate", "hates", "hated", "avoid", "avoids", "avoided", "refuse", "refuses", "refused", "stop",
    "stops", "stopped", "quit", "lack", "lacks", "against", "unable",
];

/// Tells whether a statement is negated.
pub(crate) fn is_negative(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let lower = REMINDER.replace_all(&lower, " ");
    let words = split_words(&lower).filter(|word| NEGATIONS.contains(&word.as_str())).count();
    (words + lower.matches("n't").count()) % 2 == 1
}

/// Tells whether the order of two things matters: "tabs over spaces".
pub(crate) fn is_comparison(text: &str) -> bool {
    split_words(text).any(|word| {
        matches!(
            word.as_str(),
            "over" | "than" | "instead" | "rather" | "from" | "before" | "after"
        )
    })
}

/// Returns the stems of the words that carry meaning, in their order.
pub(crate) fn order_words(text: &str) -> Vec<String> {
    split_words(text).filter(|word| !is_stop_word(word)).map(|word| stem_word(&word)).collect()
}

/// Matches requests to remember, whose "not" is about forgetting: "don't forget that I like tea".
static REMINDER: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"\b(?:don't|do not|dont|never) (?:ever )?(?:forget|let me forget)\b|^\s*no\b[,.!]?",
    )
});

static BORDER: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(r"(?i)[.!?;:,\n]+(?:\s|$)|\s(?:but|although|though|because|while|whereas)\s")
});

/// Splits a text into clauses. A piece that says nothing by itself ("I never, ever, …") belongs to
/// the one after it, because its "never" is about that.
pub(crate) fn split_clauses(text: &str) -> Vec<String> {
    let mut clauses = Vec::new();
    let mut open = String::new();
    for piece in BORDER.split(text) {
        if !open.is_empty() {
            open.push(' ');
        }
        open.push_str(piece.trim());
        if has_content(piece) {
            clauses.push(std::mem::take(&mut open));
        }
    }
    if let Some(last) = clauses.last_mut()
        && !open.is_empty()
    {
        last.push(' ');
        last.push_str(&open);
    }
    clauses
}

/// Tells whether a piece says something by itself.
fn has_content(piece: &str) -> bool {
    split_words(piece)
        .any(|word| !is_stop_word(&word) && !NEGATIONS.contains(&word.as_str()) && word != "ever")
}

/// Tells whether a note claims what the user's clauses about the same things claim. Where none is
/// about the same, there is nothing to contradict.
pub(crate) fn agrees_with(note: &str, said: &[String]) -> bool {
    split_clauses(note).iter().all(|claim| {
        let stated = significant_words(claim);
        let coverage = |clause: &String| word_coverage(&stated, &significant_words(clause));
        let best = said.iter().map(coverage).fold(0.0, f64::max);
        let mut nearest = said.iter().filter(|clause| coverage(clause) >= best - 0.01);
        best < MIN_COVERAGE || nearest.any(|clause| has_same_claim(claim, clause))
    })
}

fn has_same_claim(claim: &str, clause: &str) -> bool {
    if is_negative(claim) != is_negative(clause) {
        return false;
    }
    if !is_comparison(claim) && !is_comparison(clause) {
        return true;
    }
    // What both name is named in the same order.
    let (claimed, said) = (order_words(claim), order_words(clause));
    let common = |words: &[String], other: &[String]| -> Vec<String> {
        words.iter().filter(|word| other.contains(word)).cloned().collect()
    };
    common(&claimed, &said) == common(&said, &claimed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees(note: &str, said: &str) -> bool {
        agrees_with(note, &split_clauses(said))
    }

    #[test]
    fn a_note_that_says_the_opposite_does_not_agree() {
        for (note, said) in [
            ("I deploy without review", "I never deploy without review"),
            ("I deploy without review", "I never, ever, deploy without review."),
            ("I deploy without review", "We talked. I would never deploy without review, you know"),
            ("The user eats meat", "I don't eat meat"),
            ("User does not trust Anna", "I trust Anna"),
            ("The user prefers spaces over tabs", "I prefer tabs over spaces"),
            ("User likes Java rather than Rust", "I like Rust rather than Java"),
            ("User likes coffee", "I hate coffee, honestly"),
            ("User allows force pushes to main", "Do not allow force pushes to main; keep it so"),
            ("Payments need no approval", "Payments need approval"),
        ] {
            assert!(!agrees(note, said), "{note} / {said}");
        }
    }

    #[test]
    fn a_note_in_other_words_agrees() {
        for (note, said) in [
            ("User likes tea", "Don't forget that I like tea"),
            ("User likes tea", "please never forget: I like tea"),
            ("User dislikes coffee", "I don't like coffee"),
            ("User does not drink coffee", "I avoid coffee, and I drink tea"),
            ("User uses tabs", "Use tabs, never spaces"),
            ("Never use spaces", "Use tabs, never spaces"),
            ("User lives in Basel", "No, I live in Basel, not in Bern"),
            ("User prefers tabs over spaces", "I prefer tabs over spaces"),
            ("User moved from Bern to Basel", "I moved from Bern to Basel last week"),
            ("User has a sister in Bern", "my sister lives in Bern but I am not there often"),
            ("User sails", "Nothing of that was said"),
        ] {
            assert!(agrees(note, said), "{note} / {said}");
        }
    }
}
