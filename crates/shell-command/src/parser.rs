//! Parses lists, pipelines and compound commands, which join simple commands.
//!
//! The parser accepts more than shells do. What a shell refuses does not run, so reading steps in
//! it does no harm. It must never read other commands than a shell would.

use super::collector::Collector;
use super::context::CommandContext;
use super::cursor::Cursor;
use super::documents::HereDocument;
use super::invocation::Invocation;
use super::keywords::{closes, is_keyword, keyword_at};
use super::word::Word;

/// Limits how deep brackets, substitutions and texts for other shells may nest. Each level takes
/// stack.
const MAX_DEPTH: usize = 48;

/// Signals that the rest of the text cannot be read.
#[derive(Debug)]
pub(super) struct Stop {
    reason: String,
}

impl Stop {
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// Reads one text.
pub(super) struct Parser<'text, 'run> {
    pub(super) cursor: Cursor<'text>,
    pub(super) collector: &'run mut Collector,
    /// The context of the whole text.
    pub(super) context: &'run CommandContext,
    pub(super) depth: usize,
    /// Here-documents that start after the end of this line.
    pub(super) documents: Vec<HereDocument>,
}

impl<'text, 'run> Parser<'text, 'run> {
    /// Reads a whole text into the collector.
    pub(super) fn read(
        collector: &'run mut Collector,
        text: &'text str,
        context: &'run CommandContext,
        depth: usize,
    ) {
        let cursor = Cursor::new(text);
        let mut parser = Self { cursor, collector, context, depth, documents: Vec::new() };
        if let Err(Stop { reason }) = parser.nested(Self::all) {
            parser.collector.note(reason);
        }
    }

    fn all(&mut self) -> Result<(), Stop> {
        self.list()?;
        self.check_documents();
        match self.cursor.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected()),
        }
    }

    /// Goes one level deeper, if that is still allowed.
    pub(super) fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if self.depth >= MAX_DEPTH {
            return Err(Stop::because(format!("it is nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads commands up to the end of a list: a closing bracket or keyword, `;;`, or the end.
    pub(super) fn list(&mut self) -> Result<(), Stop> {
        loop {
            self.skip_newlines()?;
            if self.at_end_of_list() {
                return Ok(());
            }
            self.pipelines()?;
            self.skip_blanks();
            match self.cursor.peek() {
                Some(';' | '&') if !self.at_end_of_list() => {
                    self.cursor.take();
                }
                Some('\n') => {}
                _ if self.at_end_of_list() => return Ok(()),
                _ => return Err(self.unexpected()),
            }
        }
    }

    fn at_end_of_list(&self) -> bool {
        match self.cursor.peek() {
            None | Some(')') => true,
            Some(';') => matches!(self.cursor.second(), Some(';' | '&' | '|')),
            Some(_) => keyword_at(self.cursor.rest()).is_some_and(closes),
        }
    }

    /// Reads pipelines joined by `&&` and `||`.
    fn pipelines(&mut self) -> Result<(), Stop> {
        loop {
            self.pipeline()?;
            self.skip_blanks();
            let (first, second) = (self.cursor.peek(), self.cursor.second());
            if !matches!((first, second), (Some('&'), Some('&')) | (Some('|'), Some('|'))) {
                return Ok(());
            }
            self.cursor.take_joined();
            self.cursor.take_joined();
            self.skip_newlines()?;
        }
    }

    fn pipeline(&mut self) -> Result<(), Stop> {
        let mut is_first = true;
        loop {
            while self.keyword() == Some("!") {
                self.cursor.take();
                self.skip_blanks();
            }
            let before = self.collector.command_reader_count();
            self.command()?;
            if !is_first {
                self.collector.mark_input_since(before);
            }
            is_first = false;
            self.skip_blanks();
            if self.cursor.peek() != Some('|') || self.cursor.second() == Some('|') {
                return Ok(());
            }
            self.cursor.take_joined();
            self.cursor.take_if('&');
            self.skip_newlines()?;
        }
    }

    /// Reads one command, simple or compound.
    pub(super) fn command(&mut self) -> Result<(), Stop> {
        let before = self.collector.command_reader_count();
        if self.cursor.peek() == Some('(') {
            if self.cursor.second() == Some('(') {
                self.collector.note("shells differ on ((…))");
            }
            self.cursor.take();
            self.substitution()?;
            return self.trailing_redirections(before);
        }
        let Some(keyword) = self.keyword() else { return self.simple_command() };
        match keyword {
            "{" | "if" | "while" | "until" | "for" | "case" | "select" => {
                self.cursor.skip(keyword.len());
                self.nested(|parser| parser.compound(keyword))?;
                self.trailing_redirections(before)
            }
            "function" | "coproc" => {
                self.collector.note(format!("shells differ on {keyword}"));
                self.cursor.skip(keyword.len());
                self.skip_blanks();
                if keyword == "function" {
                    self.word()?;
                    self.function_brackets();
                }
                self.skip_newlines()?;
                self.nested(Self::command)
            }
            "[[" | "]]" => {
                self.collector.note("shells differ on [[ … ]]");
                self.simple_command()
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Reads a command of assignments, words and redirections.
    fn simple_command(&mut self) -> Result<(), Stop> {
        let mut context = self.context.clone();
        let mut words: Vec<Word> = Vec::new();
        let start = self.cursor.position();
        let mut both_redirected = false;
        loop {
            self.skip_blanks();
            if self.at_process_substitution() {
                words.push(self.process_substitution()?);
                continue;
            }
            if self.at_redirection() {
                both_redirected |= self.cursor.peek() == Some('&');
                self.redirect(&mut context)?;
                continue;
            }
            match self.cursor.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some('(') => {
                    self.collector.note("it defines a function or a list");
                    if !self.function_brackets() {
                        return Err(self.unexpected());
                    }
                    self.skip_newlines()?;
                    return self.nested(Self::command);
                }
                Some(_) => {}
            }
            let word = self.word()?;
            if both_redirected {
                self.collector.note("shells differ on words behind &>");
            }
            if matches!(self.cursor.peek(), Some('<' | '>')) && looks_like_descriptor(&word) {
                self.collector.note("shells differ on descriptors of more than one digit");
            }
            if words.is_empty() && word.assignment {
                Invocation::check_assignment(self.collector, &word.text);
                context.assign(&word.text);
            } else {
                if words.is_empty() && !word.quoted && is_keyword(&word.text) && word.text != "[[" {
                    let reason = format!("the word {} stands at an odd place", word.text);
                    self.collector.note(reason);
                }
                words.push(word);
            }
        }
        if self.cursor.position() == start {
            return Err(Stop::because("a command is missing"));
        }
        let before = self.collector.command_reader_count();
        Invocation::new(self.collector, &context, self.depth).read(&words);
        if context.input {
            self.collector.mark_input_since(before);
            if words.iter().any(|word| word.text == "exec") {
                self.collector.mark_shell_input();
            }
        }
        Ok(())
    }

    /// Tells whether `<(` or `>(` starts here.
    pub(super) fn at_process_substitution(&self) -> bool {
        matches!(self.cursor.peek(), Some('<' | '>')) && self.cursor.second() == Some('(')
    }

    pub(super) fn process_substitution(&mut self) -> Result<Word, Stop> {
        self.collector.note("shells differ on <(…) and >(…)");
        let start = self.cursor.position();
        self.cursor.take_joined();
        self.cursor.take();
        self.substitution()?;
        let text = self.cursor.since(start).to_owned();
        Ok(Word { text, unknown: true, ..Word::default() })
    }

    /// Skips the `()` after the name of a function.
    fn function_brackets(&mut self) -> bool {
        self.skip_blanks();
        if self.cursor.peek() != Some('(') {
            return false;
        }
        self.cursor.take();
        self.skip_blanks();
        self.cursor.take_if(')')
    }

    /// Returns the keyword that starts here.
    pub(super) fn keyword(&self) -> Option<&'text str> {
        keyword_at(self.cursor.rest())
    }

    /// Skips blanks, comments and ends of lines, with the here-documents after them.
    pub(super) fn skip_newlines(&mut self) -> Result<(), Stop> {
        loop {
            self.skip_blanks();
            if !self.cursor.take_if('\n') {
                return Ok(());
            }
            self.read_documents()?;
        }
    }

    pub(super) fn expect_bracket(&mut self) -> Result<(), Stop> {
        self.skip_blanks();
        if self.cursor.take_if(')') { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn unexpected(&self) -> Stop {
        let rest = self.cursor.rest();
        if rest.is_empty() {
            return Stop::because("it ends in the middle of a command");
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len()).max(1);
        let word = lango_text::visible_short(&rest[..rest.floor_char_boundary(end.min(20))]);
        Stop::because(format!("{word} stands at an odd place"))
    }
}

/// Tells whether a word before a redirection is its descriptor, in some shells.
fn looks_like_descriptor(word: &Word) -> bool {
    let text = &word.text;
    !word.quoted
        && ((text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit()))
            || (text.starts_with('{') && text.ends_with('}')))
}
