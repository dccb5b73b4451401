//! Splits the text into words: quotes, escapes, and where a word ends.

use super::expansion::Quoting;
use super::parser::{Parser, Stop};
use super::word::{Word, WordBuilder};

/// Tells whether this ends a word that is not quoted.
pub(super) fn ends_word(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

impl Parser<'_, '_> {
    /// Skips blanks, line continuations and a comment, but no end of a line.
    ///
    /// A carriage return is no blank: to a shell it is a character like any other.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            self.cursor.join_lines();
            match self.cursor.peek() {
                Some(' ' | '\t') => {
                    self.cursor.take();
                }
                Some('#') => self.cursor.skip_line(),
                _ => return,
            }
        }
    }

    /// Reads a word. The caller has checked that one starts here.
    pub(super) fn word(&mut self) -> Result<Word, Stop> {
        let mut word = WordBuilder::default();
        while let Some(next) = self.cursor.peek() {
            match next {
                _ if ends_word(next) => break,
                '\\' => self.escaped(&mut word)?,
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '$' => self.dollar(&mut word, Quoting::None)?,
                '`' => self.backquoted(&mut word, Quoting::None)?,
                _ => {
                    self.cursor.take();
                    word.plain(next);
                }
            }
        }
        let word = word.finish();
        if !self.documents.is_empty() && word.text.contains('\n') {
            self.collector.note("a quoted line end stands before a here-document");
        }
        Ok(word)
    }

    fn escaped(&mut self, word: &mut WordBuilder) -> Result<(), Stop> {
        self.cursor.take();
        match self.cursor.take() {
            Some('\n') => {}
            Some(character) => word.quoted(character),
            None => return Err(Stop::because("it ends with a backslash")),
        }
        Ok(())
    }

    fn single_quoted(&mut self, word: &mut WordBuilder) -> Result<(), Stop> {
        self.cursor.take();
        word.opened_quotes();
        loop {
            match self.cursor.take() {
                Some('\'') => return Ok(()),
                Some(character) => word.quoted(character),
                None => return Err(Stop::because("a single quote is not closed")),
            }
        }
    }

    pub(super) fn double_quoted(&mut self, word: &mut WordBuilder) -> Result<(), Stop> {
        self.cursor.take();
        word.opened_quotes();
        loop {
            if self.cursor.take_if('"') {
                return Ok(());
            }
            if !self.within_quotes(word, Quoting::Double)? {
                return Err(Stop::because("a double quote is not closed"));
            }
        }
    }

    /// Reads one character, escape or expansion in a context where only those have a meaning.
    /// Returns false at the end.
    pub(super) fn within_quotes(
        &mut self,
        word: &mut WordBuilder,
        quoting: Quoting,
    ) -> Result<bool, Stop> {
        match self.cursor.peek() {
            None => return Ok(false),
            Some('$') => self.dollar(word, quoting)?,
            Some('`') => self.backquoted(word, quoting)?,
            Some('\\') => {
                self.cursor.take();
                match self.cursor.peek() {
                    Some('\n') => {
                        self.cursor.take();
                    }
                    Some(special @ ('$' | '`' | '\\')) => {
                        self.cursor.take();
                        word.quoted(special);
                    }
                    Some('"') if quoting == Quoting::Double => {
                        self.cursor.take();
                        word.quoted('"');
                    }
                    _ => word.quoted('\\'),
                }
            }
            Some(character) => {
                self.cursor.take();
                word.quoted(character);
            }
        }
        Ok(true)
    }
}
