//! Reads expansions, which replace a text that starts with `$` or a backquote.
//!
//! Each makes the reading incomplete, since its value is known only when the command runs. They are
//! still parsed, for the commands in them.

use super::parser::{CommandParser, ParseStop};
use super::word::WordBuilder;

/// Tells how a text is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// It is in an ordinary word.
    None,
    /// It is between double quotes.
    Double,
    /// It is in a here-document or an arithmetic expression, where quotes are plain characters.
    Text,
}

impl CommandParser<'_, '_> {
    /// Reads an expansion that starts with a dollar sign.
    pub(super) fn read_dollar(
        &mut self,
        word: &mut WordBuilder,
        quoting: Quoting,
    ) -> Result<(), ParseStop> {
        let start = self.cursor.position();
        self.cursor.take_joined();
        match self.cursor.peek() {
            Some('(') => {
                self.collector
                    .note_incomplete("a part of it is the output of another command, $(…)");
                self.cursor.take();
                if is_arithmetic(self.cursor.rest()) {
                    self.read_arithmetic()?;
                } else {
                    self.read_substitution()?;
                }
            }
            Some('{') => {
                self.collector.note_incomplete("it has the value of a variable in it, ${…}");
                self.read_parameter(quoting)?;
            }
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let rest = self.cursor.rest();
                let is_part = |part: char| part.is_ascii_alphanumeric() || part == '_';
                let length = rest.find(|part| !is_part(part)).unwrap_or(rest.len());
                self.collector.note_incomplete(format!(
                    "it has the value of a variable in it, ${}",
                    lango_text::make_visible_short(&rest[..length])
                ));
                self.cursor.skip(length);
            }
            Some('0'..='9' | '@' | '*' | '#' | '?' | '$' | '!' | '-') => {
                self.collector
                    .note_incomplete("it has a value in it that the shell fills in, such as $1");
                self.cursor.take();
            }
            Some('\'' | '"') if quoting == Quoting::None => {
                self.collector.note_incomplete("shells differ on quotes behind a dollar sign");
            }
            Some('[') => self.collector.note_incomplete("shells differ on $[…]"),
            Some(next) if !next.is_ascii() => {
                self.collector.note_incomplete("shells differ on what follows a dollar sign");
            }
            _ => {
                word.push_quoted('$');
                return Ok(());
            }
        }
        word.push_expansion(self.cursor.text_since(start));
        Ok(())
    }

    /// Reads the commands of `$(…)`, after the bracket.
    pub(super) fn read_substitution(&mut self) -> Result<(), ParseStop> {
        self.read_nested(|parser| {
            parser.read_list()?;
            parser.expect_bracket()
        })
    }

    /// Reads the expression of `$((…))`, after the first bracket. Only substitutions in it matter.
    fn read_arithmetic(&mut self) -> Result<(), ParseStop> {
        self.read_nested(|parser| {
            let mut ignored = WordBuilder::default();
            // Counts the bracket that is open already.
            let mut open = 1_usize;
            while open > 0 {
                match parser.cursor.peek() {
                    Some('(') => open += 1,
                    Some(')') => open -= 1,
                    _ => {
                        if !parser.read_within_quotes(&mut ignored, Quoting::Text)? {
                            return Err(ParseStop::because("a $((…)) is not closed"));
                        }
                        continue;
                    }
                }
                parser.cursor.take();
            }
            Ok(())
        })
    }

    /// Reads `${…}`, from the brace.
    fn read_parameter(&mut self, quoting: Quoting) -> Result<(), ParseStop> {
        self.cursor.take();
        self.read_nested(|parser| {
            let mut ignored = WordBuilder::default();
            loop {
                match parser.cursor.peek() {
                    Some('}') => {
                        parser.cursor.take();
                        return Ok(());
                    }
                    Some('"') if quoting != Quoting::Text => {
                        parser.read_double_quoted(&mut ignored)?;
                    }
                    Some('\'') if quoting == Quoting::None => {
                        parser.cursor.take();
                        let closing = parser.cursor.rest().find('\'').map_or(0, |at| at + 1);
                        parser.cursor.skip(closing);
                    }
                    _ => {
                        if !parser.read_within_quotes(&mut ignored, Quoting::Text)? {
                            return Err(ParseStop::because("a ${…} is not closed"));
                        }
                    }
                }
            }
        })
    }

    /// Reads the commands between backquotes.
    pub(super) fn read_backquoted(
        &mut self,
        word: &mut WordBuilder,
        quoting: Quoting,
    ) -> Result<(), ParseStop> {
        self.collector.note_incomplete("a part of it is the output of another command, `…`");
        let start = self.cursor.position();
        self.cursor.take();
        let mut commands = String::new();
        loop {
            match self.cursor.take() {
                Some('`') => break,
                Some('\\') => match self.cursor.take() {
                    Some(special @ ('`' | '\\' | '$')) => commands.push(special),
                    Some('"') if quoting == Quoting::Double => commands.push('"'),
                    other => {
                        commands.push('\\');
                        commands.extend(other);
                    }
                },
                Some(character) => commands.push(character),
                None => return Err(ParseStop::because("a backquote is not closed")),
            }
        }
        word.push_expansion(self.cursor.text_since(start));
        CommandParser::read(self.collector, &commands, self.context, self.depth + 1);
        Ok(())
    }
}

/// Tells whether this is `(expression))` rather than commands in brackets. It is only a guess,
/// which is enough: either way the reading is not complete.
fn is_arithmetic(text: &str) -> bool {
    if !text.starts_with('(') {
        return false;
    }
    let mut open = 0_usize;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            '\\' => {
                rest.next();
            }
            '\'' => {
                let quoted = rest.as_str().find('\'').map_or(0, |end| end + 1);
                rest = rest.as_str()[quoted..].chars();
            }
            _ => {}
        }
        if open == 0 {
            return rest.as_str().starts_with(')');
        }
    }
    false
}
