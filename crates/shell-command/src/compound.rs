//! Parses loops, choices and groups, after their first keyword.

use super::lexer::ends_word;
use super::parser::{Parser, Stop};

impl Parser<'_, '_> {
    /// Reads what follows the keyword, up to the one that closes it.
    pub(super) fn compound(&mut self, keyword: &str) -> Result<(), Stop> {
        match keyword {
            "if" => self.choice(),
            "while" | "until" => {
                self.list()?;
                self.loop_body()
            }
            "for" => self.for_loop(),
            "select" => {
                self.collector.note("shells differ on select");
                self.for_loop()
            }
            "case" => self.case(),
            _ => {
                self.list()?;
                self.expect("}")
            }
        }
    }

    fn choice(&mut self) -> Result<(), Stop> {
        loop {
            self.list()?;
            self.expect("then")?;
            self.list()?;
            if self.keyword() != Some("elif") {
                break;
            }
            self.expect("elif")?;
        }
        if self.keyword() == Some("else") {
            self.expect("else")?;
            self.list()?;
        }
        self.expect("fi")
    }

    fn for_loop(&mut self) -> Result<(), Stop> {
        self.skip_blanks();
        self.plain_word()?;
        self.skip_newlines()?;
        if self.keyword() == Some("in") {
            self.expect("in")?;
            loop {
                self.skip_blanks();
                match self.cursor.peek() {
                    Some('\n' | ';') => break,
                    // File names that are filled in here go into a variable; the reading reports
                    // every use of it.
                    _ => self.plain_word()?,
                }
            }
        }
        self.skip_blanks();
        if self.cursor.peek() == Some(';') && !matches!(self.cursor.second(), Some(';' | '&')) {
            self.cursor.take();
        }
        self.skip_newlines()?;
        self.loop_body()
    }

    fn loop_body(&mut self) -> Result<(), Stop> {
        self.expect("do")?;
        self.list()?;
        self.expect("done")
    }

    fn case(&mut self) -> Result<(), Stop> {
        self.skip_blanks();
        self.plain_word()?;
        self.skip_newlines()?;
        self.expect("in")?;
        loop {
            self.skip_newlines()?;
            if self.keyword() == Some("esac") {
                return self.expect("esac");
            }
            self.patterns()?;
            self.list()?;
            if self.cursor.peek() != Some(';') {
                return self.expect("esac");
            }
            if self.cursor.second() != Some(';') {
                return Err(self.unexpected());
            }
            self.cursor.take_joined();
            self.cursor.take_joined();
            if self.cursor.peek() == Some('&') {
                return Err(self.unexpected());
            }
        }
    }

    /// Skips the patterns of a branch, with their brackets. They are compared, and fill in nothing.
    fn patterns(&mut self) -> Result<(), Stop> {
        if self.cursor.take_if('(') {
            self.skip_blanks();
            if self.keyword() == Some("esac") {
                return Err(self.unexpected());
            }
        }
        loop {
            self.skip_blanks();
            self.plain_word()?;
            self.skip_blanks();
            if !self.cursor.take_if('|') {
                return self.expect_bracket();
            }
        }
    }

    /// Skips a word that is neither a program nor an argument. Its expansions are noted.
    fn plain_word(&mut self) -> Result<(), Stop> {
        match self.cursor.peek() {
            Some(next) if !ends_word(next) => self.word().map(|_| ()),
            _ => Err(self.unexpected()),
        }
    }

    /// Skips a keyword that must be here.
    fn expect(&mut self, keyword: &str) -> Result<(), Stop> {
        self.skip_blanks();
        if self.keyword() == Some(keyword) {
            self.cursor.skip(keyword.len());
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }
}
