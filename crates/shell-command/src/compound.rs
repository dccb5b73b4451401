//! Parses loops, choices and groups, after their first keyword.

use super::lexer::ends_word;
use super::parser::{CommandParser, ParseStop};

impl CommandParser<'_, '_> {
    /// Reads what follows the keyword, up to the one that closes it.
    pub(super) fn read_compound(&mut self, keyword: &str) -> Result<(), ParseStop> {
        match keyword {
            "if" => self.read_if(),
            "while" | "until" => {
                self.read_list()?;
                self.read_loop_body()
            }
            "for" => self.read_for_loop(),
            "select" => {
                self.collector.note_incomplete("shells differ on select");
                self.read_for_loop()
            }
            "case" => self.read_case(),
            _ => {
                self.read_list()?;
                self.expect("}")
            }
        }
    }

    fn read_if(&mut self) -> Result<(), ParseStop> {
        loop {
            self.read_list()?;
            self.expect("then")?;
            self.read_list()?;
            if self.peek_keyword() != Some("elif") {
                break;
            }
            self.expect("elif")?;
        }
        if self.peek_keyword() == Some("else") {
            self.expect("else")?;
            self.read_list()?;
        }
        self.expect("fi")
    }

    fn read_for_loop(&mut self) -> Result<(), ParseStop> {
        self.skip_blanks();
        self.skip_plain_word()?;
        self.skip_newlines()?;
        if self.peek_keyword() == Some("in") {
            self.expect("in")?;
            loop {
                self.skip_blanks();
                match self.cursor.peek() {
                    Some('\n' | ';') => break,
                    // File names that are filled in here go into a variable; the reading reports
                    // every use of it.
                    _ => self.skip_plain_word()?,
                }
            }
        }
        self.skip_blanks();
        if self.cursor.peek() == Some(';') && !matches!(self.cursor.peek_second(), Some(';' | '&'))
        {
            self.cursor.take();
        }
        self.skip_newlines()?;
        self.read_loop_body()
    }

    fn read_loop_body(&mut self) -> Result<(), ParseStop> {
        self.expect("do")?;
        self.read_list()?;
        self.expect("done")
    }

    fn read_case(&mut self) -> Result<(), ParseStop> {
        self.skip_blanks();
        self.skip_plain_word()?;
        self.skip_newlines()?;
        self.expect("in")?;
        loop {
            self.skip_newlines()?;
            if self.peek_keyword() == Some("esac") {
                return self.expect("esac");
            }
            self.skip_patterns()?;
            self.read_list()?;
            if self.cursor.peek() != Some(';') {
                return self.expect("esac");
            }
            if self.cursor.peek_second() != Some(';') {
                return Err(self.unexpected_error());
            }
            self.cursor.take_joined();
            self.cursor.take_joined();
            if self.cursor.peek() == Some('&') {
                return Err(self.unexpected_error());
            }
        }
    }

    /// Skips the patterns of a branch, with their brackets. They are compared, and fill in nothing.
    fn skip_patterns(&mut self) -> Result<(), ParseStop> {
        if self.cursor.take_if('(') {
            self.skip_blanks();
            if self.peek_keyword() == Some("esac") {
                return Err(self.unexpected_error());
            }
        }
        loop {
            self.skip_blanks();
            self.skip_plain_word()?;
            self.skip_blanks();
            if !self.cursor.take_if('|') {
                return self.expect_bracket();
            }
        }
    }

    /// Skips a word that is neither a program nor an argument. Its expansions are noted.
    fn skip_plain_word(&mut self) -> Result<(), ParseStop> {
        match self.cursor.peek() {
            Some(next) if !ends_word(next) => self.read_word().map(|_| ()),
            _ => Err(self.unexpected_error()),
        }
    }

    /// Skips a keyword that must be here.
    fn expect(&mut self, keyword: &str) -> Result<(), ParseStop> {
        self.skip_blanks();
        if self.peek_keyword() == Some(keyword) {
            self.cursor.skip(keyword.len());
            Ok(())
        } else {
            Err(self.unexpected_error())
        }
    }
}
