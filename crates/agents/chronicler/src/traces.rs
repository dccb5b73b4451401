//! Finds the traces of a memory that must be removed from every text when it is forgotten. All
//! functions are pure.

use std::collections::BTreeSet;

use lango_store::Redaction;
use lango_text::{split_words, to_single_spaced, word_coverage};
use regex::RegexBuilder;
use serde::{Deserialize, Serialize};

use crate::record::StoredMemory;
use crate::text::{SentenceSpan, find_sentences, rare_words, significant_words};

/// Replaces forgotten text.
pub(crate) const REPLACEMENT: &str = "[forgotten]";

/// Sets the share of a memory's significant words that a sentence about it has.
const MIN_COVERAGE: f64 = 0.6;

/// Describes the text to remove. It is stored in the database until it is removed from all tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextTraces {
    /// The whole texts.
    phrases: Vec<String>,
    /// The significant words of each text.
    telling: Vec<BTreeSet<String>>,
    /// The rare words of the texts that no other memory has.
    distinctive: BTreeSet<String>,
    /// The significant words of memories that stay but share words with the removed ones.
    spared: Vec<BTreeSet<String>>,
}

impl TextTraces {
    /// Returns the traces of texts to remove, while the memories of `others` stay.
    pub(crate) fn new(texts: &[String], others: &[StoredMemory]) -> Self {
        let sets: Vec<BTreeSet<String>> =
            texts.iter().map(|text| significant_words(text)).collect();
        let all: BTreeSet<String> = sets.iter().flatten().cloned().collect();
        let other_words: BTreeSet<String> = others
            .iter()
            .flat_map(|memory| split_words(&memory.content).collect::<Vec<String>>())
            .collect();
        let distinctive = texts
            .iter()
            .flat_map(|text| rare_words(text))
            .filter(|word| !other_words.contains(word))
            .collect();
        let spared = others
            .iter()
            .map(|memory| significant_words(&memory.content))
            .filter(|other| {
                !other.is_disjoint(&all) && !sets.iter().any(|set| other.is_subset(set))
            })
            .collect();
        let phrases = texts.iter().map(|text| trim_punctuation(text)).filter(|text| text.len() > 3);
        Self { phrases: phrases.collect(), telling: sets, distinctive, spared }
    }

    /// Tells whether a text or one of its sentences is about the removed texts.
    pub(crate) fn is_about(&self, text: &str) -> bool {
        self.find_phrase_spans(text).next().is_some()
            || find_sentences(text)
                .iter()
                .any(|(from, to)| self.is_sentence_about(&text[*from..*to]))
    }

    fn is_sentence_about(&self, sentence: &str) -> bool {
        let words = significant_words(sentence);
        if self.spared.iter().any(|other| word_coverage(other, &words) >= 1.0) {
            return false;
        }
        self.telling.iter().any(|set| set.len() >= 2 && word_coverage(set, &words) >= MIN_COVERAGE)
    }

    fn find_phrase_spans<'a>(&'a self, text: &'a str) -> impl Iterator<Item = SentenceSpan> + 'a {
        self.phrases.iter().flat_map(move |phrase| find_matches(phrase, text))
    }

    fn find_spans(&self, text: &str) -> Vec<SentenceSpan> {
        let mut spans: Vec<SentenceSpan> = self.find_phrase_spans(text).collect();
        for (from, to) in find_sentences(text) {
            if self.is_sentence_about(&text[from..to]) {
                spans.push((from, to));
            }
        }
        for word in &self.distinctive {
            spans.extend(find_matches(word, text).into_iter().filter(|span| is_word(text, *span)));
        }
        spans.sort_unstable();
        spans
    }
}

impl Redaction for TextTraces {
    fn concerns(&self, raw: &str) -> bool {
        let lower = raw.to_lowercase();
        // The beginning of a stem is in every form of the word.
        let begins = |word: &String| {
            let length = word.chars().count();
            let begin: String = word.chars().take(length.saturating_sub(1).max(3)).collect();
            lower.contains(&begin)
        };
        self.distinctive.iter().any(|word| lower.contains(word.as_str()))
            || self.telling.iter().flatten().any(begins)
    }

    fn redact(&self, text: &str) -> Option<String> {
        let spans = self.find_spans(text);
        let mut kept = String::with_capacity(text.len());
        let mut end = 0;
        for (from, to) in spans.iter().copied() {
            if to <= end {
                continue;
            }
            if from > end || end == 0 {
                kept.push_str(&text[end..from.max(end)]);
                kept.push_str(REPLACEMENT);
            }
            end = to;
        }
        kept.push_str(&text[end..]);
        (!spans.is_empty()).then_some(kept)
    }
}

fn trim_punctuation(text: &str) -> String {
    text.trim().trim_end_matches(['.', '!', '?', ';', ',']).to_owned()
}

/// Returns a pattern for a text that allows any space between its words.
fn escape_phrase(text: &str) -> String {
    text.split_whitespace().map(regex::escape).collect::<Vec<String>>().join(r"\s+")
}

/// Returns where a phrase stands in a text, in any case and with any space between its words.
fn find_matches(phrase: &str, text: &str) -> Vec<SentenceSpan> {
    let pattern = escape_phrase(phrase);
    if pattern.is_empty() {
        return Vec::new();
    }
    if let Ok(pattern) = RegexBuilder::new(&pattern).case_insensitive(true).build() {
        return pattern.find_iter(text).map(|found| (found.start(), found.end())).collect();
    }
    // The phrase is too long for a pattern. A text that has it goes as a whole.
    let plain = |text: &str| to_single_spaced(text).to_lowercase();
    let is_there = plain(text).contains(&plain(phrase));
    is_there.then_some((0, text.len())).into_iter().collect()
}

/// Tells whether a span is a whole word. An underscore separates words, as in file names.
fn is_word(text: &str, (from, to): SentenceSpan) -> bool {
    let inside = |character: char| character.is_alphanumeric();
    !text[..from].chars().next_back().is_some_and(inside)
        && !text[to..].chars().next().is_some_and(inside)
}

#[cfg(test)]
mod tests {
    use lango_protocol::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::record::{MemoryKind, MemoryOrigin};

    fn memory(content: &str) -> StoredMemory {
        StoredMemory {
            id: "m_x".into(),
            kind: MemoryKind::Fact,
            content: content.into(),
            about: String::new(),
            origin: MemoryOrigin::Said,
            superseded_by: None,
            at: Timestamp::from_microseconds(0),
            created_at: Timestamp::from_microseconds(0),
            session: None,
            turn: None,
            sources: Vec::new(),
        }
    }

    fn traces(text: &str) -> TextTraces {
        TextTraces::new(&[text.to_owned()], &[])
    }

    #[test]
    fn a_code_word_goes_in_every_form() {
        let traces = traces("The launch code word is PELICAN-7741.");
        for (text, left) in [
            ("The launch code word is PELICAN-7741.", "[forgotten]"),
            ("Hi. the  launch code\nword is pelican-7741, ok?", "Hi. [forgotten]"),
            ("PELICAN-7741", "[forgotten]-[forgotten]"),
            ("see pelican_7741.txt", "see [forgotten]_[forgotten].txt"),
            ("Noted. What was the code word for launching? Bye.", "Noted. [forgotten] Bye."),
        ] {
            assert_eq!(traces.redact(text).as_deref(), Some(left), "{text}");
        }
        for text in ["Pelicans eat fish", "17741", "The launch is tomorrow", ""] {
            assert_eq!(traces.redact(text), None, "{text}");
        }
        assert!(traces.concerns(r#"{"text":"LAUNCHING the CODE"}"#));
        assert!(!traces.concerns(r#"{"text":"rain"}"#));
    }

    #[test]
    fn what_is_in_memories_that_stay_stays() {
        let others = [memory("My brother lives in Bern")];
        let traces = TextTraces::new(&["I live in Bern".to_owned()], &others);
        assert_eq!(traces.redact("My brother lives in Bern."), None);
        assert_eq!(traces.redact("We met in Bern"), None);
        assert_eq!(traces.redact("So I live in Bern now").as_deref(), Some("[forgotten]"));
        assert!(!traces.is_about("Bern is nice"));
    }

    #[test]
    fn a_phrase_that_is_too_long_for_a_pattern_is_found() {
        let phrase = "the key of the vault ".repeat(30_000);
        assert!(RegexBuilder::new(&escape_phrase(&phrase)).build().is_err());
        let text = format!("Note:\n{}", phrase.to_uppercase().replace(' ', "\n"));
        assert_eq!(find_matches(&phrase, &text), [(0, text.len())]);
        assert!(find_matches(&phrase, "the key of the vault").is_empty());
    }

    proptest! {
        #[test]
        fn nothing_of_it_is_left(before in "\\PC{0,40}", after in "\\PC{0,40}") {
            let traces = traces("The launch code word is PELICAN-7741");
            let text = format!("{before} The launch code word is PELICAN-7741 {after}");
            let left = traces.redact(&text).unwrap();
            prop_assert!(!left.to_lowercase().contains("pelican"), "{}", left);
            prop_assert_eq!(traces.redact(&left), None);
        }

        #[test]
        fn any_text_can_be_looked_at(text in any::<String>(), memory in any::<String>()) {
            if let Some(left) = traces(&memory).redact(&text) {
                prop_assert!(left.contains(REPLACEMENT));
            }
        }
    }
}
