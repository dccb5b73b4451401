//! Splits texts into tokens of the model's vocabulary, the way the model was trained to read them.
//!
//! The reading is lazy: a text of any size is looked at only as far as tokens are wanted. Names of
//! control tokens such as `[SEP]` in a text are text; no text can speak with the model's own marks.
//!
//! Every character between two letters gives the tokens of the reference library, except for 693
//! that Unicode gave out, or gave another kind, after the library's tables were made.

mod normalise;
mod words;

use std::collections::HashMap;

use crate::weights::VOCABULARY_TEXT;
use words::WordIterator;

/// Limits the words that are looked up.
const MAX_WORD_CHARACTERS: usize = 100;
/// The prefix of a token that continues a word.
const CONTINUATION: &str = "##";

/// Represents a token of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextToken {
    /// Its number in the vocabulary.
    pub id: u32,
    /// The start in the text, in bytes.
    pub start: usize,
    /// The end in the text, in bytes. The start and end markers have no width.
    pub end: usize,
}

/// Holds the vocabulary.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    /// Tokens that begin a word, and whole words.
    beginnings: HashMap<&'static str, u32>,
    /// Tokens that continue a word, without their prefix.
    continuations: HashMap<&'static str, u32>,
    /// Bytes of the longest token: longer pieces need not be looked up.
    longest: usize,
    unknown: u32,
    first: u32,
    last: u32,
}

impl Tokenizer {
    pub(crate) fn load() -> Self {
        let mut beginnings = HashMap::with_capacity(crate::weights::VOCABULARY);
        let mut continuations = HashMap::with_capacity(crate::weights::VOCABULARY / 4);
        let mut longest = 0;
        for (token, id) in VOCABULARY_TEXT.lines().zip(0..) {
            longest = longest.max(token.len());
            // The prefix by itself is an ordinary token: two hashes.
            match token.strip_prefix(CONTINUATION).filter(|rest| !rest.is_empty()) {
                Some(rest) => continuations.insert(rest, id),
                None => beginnings.insert(token, id),
            };
        }
        let mark = |name: &str| beginnings.get(name).copied().unwrap_or_default();
        let (unknown, first, last) = (mark("[UNK]"), mark("[CLS]"), mark("[SEP]"));
        Self { beginnings, continuations, longest, unknown, first, last }
    }

    /// Tells whether a lower-cased word is one token.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.beginnings.contains_key(word)
    }

    /// Returns the tokens of a text, at most `limit` of them with the start and end markers.
    pub(crate) fn tokenize(&self, text: &str, limit: usize) -> Vec<TextToken> {
        let mut tokens = vec![TextToken { id: self.first, start: 0, end: 0 }];
        let room = limit.saturating_sub(1);
        let mut words = WordIterator::of(text);
        while tokens.len() < room && words.advance() {
            self.split_word(&words, |token| tokens.push(token));
        }
        tokens.truncate(room);
        let end = tokens.last().map_or(0, |token| token.end);
        tokens.push(TextToken { id: self.last, start: end, end });
        tokens
    }

    /// Returns how many tokens the whole text has, with the markers.
    pub(crate) fn count(&self, text: &str) -> usize {
        let mut count = 2;
        let mut words = WordIterator::of(text);
        while words.advance() {
            self.split_word(&words, |_| count += 1);
        }
        count
    }

    /// Splits a word into tokens: from the left, always the longest possible one.
    fn split_word(&self, words: &WordIterator<'_>, mut found: impl FnMut(TextToken)) {
        let unknown = TextToken { id: self.unknown, start: words.start, end: words.end };
        if words.characters() > MAX_WORD_CHARACTERS {
            return found(unknown);
        }
        let word = words.word();
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < word.len() {
            let known = if start == 0 { &self.beginnings } else { &self.continuations };
            let mut end = word.floor_char_boundary(word.len().min(start + self.longest));
            let id = loop {
                if end <= start {
                    return found(unknown);
                }
                if let Some(id) = known.get(&word[start..end]) {
                    break *id;
                }
                end = word.floor_char_boundary(end - 1);
            };
            let (from, to) = words.origin(start, end);
            pieces.push(TextToken { id, start: from, end: to });
            start = end;
        }
        pieces.into_iter().for_each(found);
    }
}
