//! Tests tokens and their positions.

use lango_encoder::{Encoder, MAX_TOKENS, TextToken};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    text: String,
    /// Number, first byte, byte after the last; without the marks of beginning and end.
    tokens: Vec<(u32, usize, usize)>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("data/tokens.json")).unwrap()
}

#[test]
fn tokens_are_those_of_the_reference_library() {
    let cases = cases();
    assert!(cases.len() > 60);
    for case in cases {
        let tokens = Encoder::shared().tokenize(&case.text);
        let (first, last) = (tokens[0], tokens[tokens.len() - 1]);
        assert_eq!((first.id, first.start, first.end), (101, 0, 0));
        assert_eq!((last.id, last.start), (102, last.end));
        let found: Vec<_> = tokens[1..tokens.len() - 1]
            .iter()
            .map(|token| (token.id, token.start, token.end))
            .collect();
        assert_eq!(found, case.tokens, "{:?}", case.text);
    }
}

#[test]
fn tokens_stand_on_character_boundaries_in_the_order_of_the_text() {
    for case in cases() {
        let mut at = 0;
        for TextToken { start, end, .. } in Encoder::shared().tokenize(&case.text) {
            assert!(case.text.get(start..end).is_some(), "{:?}: {start}..{end}", case.text);
            // The parts of one character, as of a Korean syllable, all stand where it does.
            assert!(start >= at || case.text[start..end].chars().count() == 1);
            at = end;
        }
    }
}

#[test]
fn a_long_text_is_cut_and_counted_whole() {
    let encoder = Encoder::shared();
    let text = "word ".repeat(1000);
    assert_eq!(encoder.count_tokens(&text), 1002);
    let tokens = encoder.tokenize(&text);
    assert_eq!(tokens.len(), MAX_TOKENS);
    assert_eq!(tokens[MAX_TOKENS - 1].id, 102);
    assert_eq!(tokens[MAX_TOKENS - 1].end, 254 * 5 - 1);
    assert_eq!(encoder.count_tokens("two words"), encoder.tokenize("two words").len());
    assert_eq!(encoder.count_tokens(""), 2);
}

#[test]
fn a_word_without_end_is_one_unknown_token() {
    let text = "x".repeat(10_000_000);
    let tokens = Encoder::shared().tokenize(&text);
    assert_eq!(tokens.len(), 3);
    assert_eq!((tokens[1].id, tokens[1].start, tokens[1].end), (100, 0, text.len()));
}

#[test]
fn the_name_of_a_mark_is_text() {
    let ids: Vec<u32> = Encoder::shared().tokenize("[SEP]").iter().map(|token| token.id).collect();
    assert_eq!(ids.iter().filter(|id| **id == 102).count(), 1, "{ids:?}");
}

#[test]
fn known_words_are_whole_words_of_the_vocabulary() {
    let encoder = Encoder::shared();
    for known in ["the", "database", "zurich", "!"] {
        assert!(encoder.is_known_word(known), "{known}");
    }
    for unknown in ["Database", "##ing", "ing_", "", "qzxv", "two words"] {
        assert!(!encoder.is_known_word(unknown), "{unknown}");
    }
}
