//! Splits texts into words and sentences for the gate, the observer and forgetting. All functions
//! are pure.

use std::collections::BTreeSet;

use lango_text::split_words;

/// Lists words that say nothing by themselves where memories are stated and asked for, beside those
/// that never do.
const STOP_WORDS: &[&str] = &["like", "note", "remember", "user", "users", "want", "wants"];

/// Returns the stems of the words that are no stop words.
pub(crate) fn significant_words(text: &str) -> BTreeSet<String> {
    lango_text::significant_words(text, STOP_WORDS)
}

pub(crate) fn is_stop_word(word: &str) -> bool {
    lango_text::is_stop_word(word) || STOP_WORDS.contains(&word)
}

/// Returns a text in the form that is compared: words only.
pub(crate) fn normalise(text: &str) -> String {
    split_words(text).collect::<Vec<String>>().join(" ")
}

/// The range of a sentence in its text, in bytes.
pub(crate) type SentenceSpan = (usize, usize);

/// Returns the sentences of a text, trimmed: cut at line ends, and after `.`, `!`, `?` and `;` if
/// space follows.
pub(crate) fn find_sentences(text: &str) -> Vec<SentenceSpan> {
    let mut spans = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((position, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match character {
            '\n' | '\r' => true,
            '!' | '?' | ';' | '。' | '！' | '？' => {
                next.is_none_or(char::is_whitespace) || !character.is_ascii()
            }
            '.' => next.is_none_or(char::is_whitespace) && !is_abbreviation(&text[start..position]),
            _ => false,
        };
        if ends {
            push_trimmed(text, start, position + character.len_utf8(), &mut spans);
            start = position + character.len_utf8();
        }
    }
    push_trimmed(text, start, text.len(), &mut spans);
    spans
}

fn push_trimmed(text: &str, start: usize, end: usize, spans: &mut Vec<SentenceSpan>) {
    let part = &text[start..end];
    let from = start + (part.len() - part.trim_start().len());
    let to = end - (part.len() - part.trim_end().len());
    if from < to {
        spans.push((from, to));
    }
}

fn is_abbreviation(before: &str) -> bool {
    let last = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    matches!(
        last.to_lowercase().as_str(),
        "e.g" | "i.e" | "mr" | "mrs" | "ms" | "dr" | "prof" | "st" | "vs" | "approx" | "no"
    )
}

/// Returns the rare words of a text in lower case: words with a digit among other characters or
/// with at least three digits, words in capitals, and names.
pub(crate) fn rare_words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (from, to) in find_sentences(text) {
        let mut first = true;
        for word in text[from..to].split(|character: char| !character.is_alphanumeric()) {
            if word.is_empty() {
                continue;
            }
            let lower = word.to_lowercase();
            let digits = word.chars().filter(char::is_ascii_digit).count();
            let length = word.chars().count();
            let odd = digits >= 3 || (digits > 0 && digits < length && length >= 3);
            let capitals = word.chars().filter(|character| character.is_uppercase()).count();
            // A capital at the beginning of a sentence does not mean a name.
            let name = (capitals > 0 && !first && length >= 3) || (capitals > 1 && length >= 3);
            if odd || (name && !is_stop_word(&lower) && !is_calendar(&lower)) {
                found.insert(lower);
            }
            first = false;
        }
    }
    found
}

fn is_calendar(word: &str) -> bool {
    const NAMES: &[&str] = &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    NAMES.contains(&word) || word.strip_suffix('s').is_some_and(|word| NAMES.contains(&word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut_up(text: &str) -> Vec<&str> {
        find_sentences(text).into_iter().map(|(from, to)| &text[from..to]).collect()
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        assert_eq!(
            cut_up("I use v1.2. Really?  Yes; e.g. here.\n- one\nlast"),
            ["I use v1.2.", "Really?", "Yes;", "e.g. here.", "- one", "last"]
        );
        assert!(cut_up(" \n ").is_empty());
    }

    #[test]
    fn telling_words_are_the_same_in_another_form() {
        assert_eq!(
            significant_words("The user prefers tabs"),
            significant_words("I prefer the tab")
        );
        assert_eq!(significant_words("deploys on Fridays"), significant_words("deploy on friday"));
        assert!(significant_words("I am what I am").is_empty());
    }

    #[test]
    fn distinctive_words_are_codes_and_names() {
        let found = rare_words("The launch code word is PELICAN-7741");
        assert_eq!(found, ["7741", "pelican"].map(str::to_owned).into());
        assert_eq!(rare_words("Tomorrow I meet Vreni in May at 3"), ["vreni".to_owned()].into());
        assert!(rare_words("Tabs are fine").is_empty());
    }

    proptest! {
        #[test]
        fn spans_are_in_the_text_and_in_order(text in any::<String>()) {
            let spans = find_sentences(&text);
            for (from, to) in &spans {
                prop_assert!(!text[*from..*to].is_empty());
            }
            prop_assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        }
    }
}
