//! Splits a text into words, one at a time, each with its position in the text.

use std::str::CharIndices;

use super::MAX_WORD_CHARACTERS;
use super::normalise::{CharacterKind, character_kind, fold_character, is_punctuation};

/// Represents a folded character's position and the bytes of the text that it came from.
#[derive(Debug, Clone, Copy)]
struct CharacterOrigin {
    /// The start of the folded character in the word.
    at: usize,
    start: usize,
    end: usize,
}

/// Iterates over the words of a text. The buffer of a word is reused for the next.
#[derive(Debug)]
pub(super) struct WordIterator<'a> {
    characters: CharIndices<'a>,
    /// Folded characters that were read and belong to the next word.
    pending: Vec<(char, CharacterOrigin)>,
    word: String,
    origins: Vec<CharacterOrigin>,
    count: usize,
    /// The start of the current word in the text.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'a> WordIterator<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            characters: text.char_indices(),
            pending: Vec::new(),
            word: String::new(),
            origins: Vec::new(),
            count: 0,
            start: 0,
            end: 0,
        }
    }

    /// Advances to the next word, if there is one.
    pub(super) fn advance(&mut self) -> bool {
        self.word.clear();
        self.origins.clear();
        self.count = 0;
        loop {
            if self.take_pending() {
                return true;
            }
            let Some((start, character)) = self.characters.next() else {
                return self.count > 0;
            };
            let end = start + character.len_utf8();
            let kind = character_kind(character);
            match kind {
                CharacterKind::Space if self.count > 0 => return true,
                CharacterKind::Space | CharacterKind::Nothing => {}
                CharacterKind::Standalone | CharacterKind::Letter => {
                    let origin = CharacterOrigin { at: 0, start, end };
                    fold_character(character, |part| self.pending.push((part, origin)));
                    // Reversed, because the next one is taken from the end.
                    self.pending.reverse();
                    // An ideograph may fold to what is none.
                    if kind == CharacterKind::Standalone && self.count > 0 {
                        return true;
                    }
                }
            }
        }
    }

    /// Adds pending characters to the word, and tells whether it is complete with them.
    fn take_pending(&mut self) -> bool {
        while let Some((character, origin)) = self.pending.pop() {
            let alone =
                is_punctuation(character) || character_kind(character) == CharacterKind::Standalone;
            if alone && self.count > 0 {
                self.pending.push((character, origin));
                return true;
            }
            self.push(character, origin);
            if alone {
                return true;
            }
        }
        false
    }

    fn push(&mut self, character: char, origin: CharacterOrigin) {
        if self.count == 0 {
            self.start = origin.start;
        }
        self.end = origin.end;
        self.count += 1;
        // A longer word is not looked up, and may be as long as the text.
        if self.count <= MAX_WORD_CHARACTERS {
            self.origins.push(CharacterOrigin { at: self.word.len(), ..origin });
            self.word.push(character);
        }
    }

    /// Returns the number of characters of the word, including those beyond the stored ones.
    pub(super) fn characters(&self) -> usize {
        self.count
    }

    /// Returns the stored part of the word.
    pub(super) fn word(&self) -> &str {
        &self.word
    }

    /// Returns the position in the text of bytes of the word.
    pub(super) fn origin(&self, start: usize, end: usize) -> (usize, usize) {
        let first = self.origins.partition_point(|origin| origin.at < start);
        let last = self.origins.partition_point(|origin| origin.at < end);
        let from = self.origins.get(first).map_or(self.start, |origin| origin.start);
        let to = self.origins.get(last.saturating_sub(1)).map_or(self.end, |origin| origin.end);
        (from, to)
    }
}
