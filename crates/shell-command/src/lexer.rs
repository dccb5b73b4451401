//! Splits the text into words: quotes, escapes, and where a word ends.

use super::expansion::Quoting;
use super::parser::{CommandParser, ParseStop};
use super::word::{ShellWord, WordBuilder};

/// Tells whether this ends a word that is not quoted.
pub(super) fn ends_word(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

impl CommandParser<'_, '_> {
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
    pub(super) fn read_word(&mut self) -> Result<ShellWord, ParseStop> {
        let mut word = WordBuilder::default();
        while let Some(next) = self.cursor.peek() {
            match next {
                _ if ends_word(next) => break,
                '\\' => self.read_escaped(&mut word)?,
                '\'' => self.read_single_quoted(&mut word)?,
                '"' => self.read_double_quoted(&mut word)?,
                '$' => self.read_dollar(&mut word, Quoting::None)?,
                '`' => self.read_backquoted(&mut word, Quoting::None)?,
                _ => {
                    self.cursor.take();
                    word.push_plain(next);
                }
            }
        }
        let word = word.finish();
        if !self.documents.is_empty() && word.text.contains('\n') {
            self.collector.note_incomplete("a quoted line end stands before a here-document");
        }
        Ok(word)
    }

    fn read_escaped(&mut self, word: &mut WordBuilder) -> Result<(), ParseStop> {
        self.cursor.take();
        match self.cursor.take() {
            Some('\n') => {}
            Some(character) => word.push_quoted(character),
            None => return Err(ParseStop::because("it ends with a backslash")),
        }
        Ok(())
    }

    fn read_single_quoted(&mut self, word: &mut WordBuilder) -> Result<(), ParseStop> {
        self.cursor.take();
        word.note_quotes();
        loop {
            match self.cursor.take() {
                Some('\'') => return Ok(()),
                Some(character) => word.push_quoted(character),
                None => return Err(ParseStop::because("a single quote is not closed")),
            }
        }
    }

    pub(super) fn read_double_quoted(&mut self, word: &mut WordBuilder) -> Result<(), ParseStop> {
        self.cursor.take();
        word.note_quotes();
        loop {
            if self.cursor.take_if('"') {
                return Ok(());
            }
            if !self.read_within_quotes(word, Quoting::Double)? {
                return Err(ParseStop::because("a double quote is not closed"));
            }
        }
    }

    /// Reads one character, escape or expansion in a context where only those have a meaning.
    /// Returns false at the end.
    pub(super) fn read_within_quotes(
        &mut self,
        word: &mut WordBuilder,
        quoting: Quoting,
    ) -> Result<bool, ParseStop> {
        match self.cursor.peek() {
            None => return Ok(false),
            Some('$') => self.read_dollar(word, quoting)?,
            Some('`') => self.read_backquoted(word, quoting)?,
            Some('\\') => {
                self.cursor.take();
                match self.cursor.peek() {
                    Some('\n') => {
                        self.cursor.take();
                    }
                    Some(special @ ('$' | '`' | '\\')) => {
                        self.cursor.take();
                        word.push_quoted(special);
                    }
                    Some('"') if quoting == Quoting::Double => {
                        self.cursor.take();
                        word.push_quoted('"');
                    }
                    _ => word.push_quoted('\\'),
                }
            }
            Some(character) => {
                self.cursor.take();
                word.push_quoted(character);
            }
        }
        Ok(true)
    }
}
