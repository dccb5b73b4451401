//! Parses lists, pipelines and compound commands, which join simple commands.
//!
//! The parser accepts more than shells do. What a shell refuses does not run, so reading steps in
//! it does no harm. It must never read other commands than a shell would.

use super::collector::ReadingCollector;
use super::context::CommandContext;
use super::cursor::TextCursor;
use super::documents::HereDocument;
use super::invocation::Invocation;
use super::keywords::{closes_list, is_keyword, keyword_at};
use super::word::ShellWord;

/// Limits how deep brackets, substitutions and texts for other shells may nest. Each level takes
/// stack.
const MAX_DEPTH: usize = 48;

/// Signals that the rest of the text cannot be read.
#[derive(Debug)]
pub(super) struct ParseStop {
    reason: String,
}

impl ParseStop {
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// Reads one text.
pub(super) struct CommandParser<'text, 'run> {
    pub(super) cursor: TextCursor<'text>,
    pub(super) collector: &'run mut ReadingCollector,
    /// The context of the whole text.
    pub(super) context: &'run CommandContext,
    pub(super) depth: usize,
    /// Here-documents that start after the end of this line.
    pub(super) documents: Vec<HereDocument>,
}

impl<'text, 'run> CommandParser<'text, 'run> {
    /// Reads a whole text into the collector.
    pub(super) fn read(
        collector: &'run mut ReadingCollector,
        text: &'text str,
        context: &'run CommandContext,
        depth: usize,
    ) {
        let cursor = TextCursor::new(text);
        let mut parser = Self { cursor, collector, context, depth, documents: Vec::new() };
        if let Err(ParseStop { reason }) = parser.read_nested(Self::read_all) {
            parser.collector.note_incomplete(reason);
        }
    }

    fn read_all(&mut self) -> Result<(), ParseStop> {
        self.read_list()?;
        self.check_documents();
        match self.cursor.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected_error()),
        }
    }

    /// Goes one level deeper, if that is still allowed.
    pub(super) fn read_nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), ParseStop>,
    ) -> Result<(), ParseStop> {
        if self.depth >= MAX_DEPTH {
            return Err(ParseStop::because(format!("it is nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads commands up to the end of a list: a closing bracket or keyword, `;;`, or the end.
    pub(super) fn read_list(&mut self) -> Result<(), ParseStop> {
        loop {
            self.skip_newlines()?;
            if self.at_end_of_list() {
                return Ok(());
            }
            self.read_pipelines()?;
            self.skip_blanks();
            match self.cursor.peek() {
                Some(';' | '&') if !self.at_end_of_list() => {
                    self.cursor.take();
                }
                Some('\n') => {}
                _ if self.at_end_of_list() => return Ok(()),
                _ => return Err(self.unexpected_error()),
            }
        }
    }

    fn at_end_of_list(&self) -> bool {
        match self.cursor.peek() {
            None | Some(')') => true,
            Some(';') => matches!(self.cursor.peek_second(), Some(';' | '&' | '|')),
            Some(_) => keyword_at(self.cursor.rest()).is_some_and(closes_list),
        }
    }

    /// Reads pipelines joined by `&&` and `||`.
    fn read_pipelines(&mut self) -> Result<(), ParseStop> {
        loop {
            self.read_pipeline()?;
            self.skip_blanks();
            let (first, second) = (self.cursor.peek(), self.cursor.peek_second());
            if !matches!((first, second), (Some('&'), Some('&')) | (Some('|'), Some('|'))) {
                return Ok(());
            }
            self.cursor.take_joined();
            self.cursor.take_joined();
            self.skip_newlines()?;
        }
    }

    fn read_pipeline(&mut self) -> Result<(), ParseStop> {
        let mut is_first = true;
        loop {
            while self.peek_keyword() == Some("!") {
                self.cursor.take();
                self.skip_blanks();
            }
            let before = self.collector.command_reader_count();
            self.read_command()?;
            if !is_first {
                self.collector.mark_input_since(before);
            }
            is_first = false;
            self.skip_blanks();
            if self.cursor.peek() != Some('|') || self.cursor.peek_second() == Some('|') {
                return Ok(());
            }
            self.cursor.take_joined();
            self.cursor.take_if('&');
            self.skip_newlines()?;
        }
    }

    /// Reads one command, simple or compound.
    pub(super) fn read_command(&mut self) -> Result<(), ParseStop> {
        let before = self.collector.command_reader_count();
        if self.cursor.peek() == Some('(') {
            if self.cursor.peek_second() == Some('(') {
                self.collector.note_incomplete("shells differ on ((…))");
            }
            self.cursor.take();
            self.read_substitution()?;
            return self.read_trailing_redirections(before);
        }
        let Some(keyword) = self.peek_keyword() else { return self.read_simple_command() };
        match keyword {
            "{" | "if" | "while" | "until" | "for" | "case" | "select" => {
                self.cursor.skip(keyword.len());
                self.read_nested(|parser| parser.read_compound(keyword))?;
                self.read_trailing_redirections(before)
            }
            "function" | "coproc" => {
                self.collector.note_incomplete(format!("shells differ on {keyword}"));
                self.cursor.skip(keyword.len());
                self.skip_blanks();
                if keyword == "function" {
                    self.read_word()?;
                    self.skip_function_brackets();
                }
                self.skip_newlines()?;
                self.read_nested(Self::read_command)
            }
            "[[" | "]]" => {
                self.collector.note_incomplete("shells differ on [[ … ]]");
                self.read_simple_command()
            }
            _ => Err(self.unexpected_error()),
        }
    }

    /// Reads a command of assignments, words and redirections.
    fn read_simple_command(&mut self) -> Result<(), ParseStop> {
        let mut context = self.context.clone();
        let mut words: Vec<ShellWord> = Vec::new();
        let start = self.cursor.position();
        let mut both_redirected = false;
        loop {
            self.skip_blanks();
            if self.at_process_substitution() {
                words.push(self.read_process_substitution()?);
                continue;
            }
            if self.at_redirection() {
                both_redirected |= self.cursor.peek() == Some('&');
                self.read_redirection_into(&mut context)?;
                continue;
            }
            match self.cursor.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some('(') => {
                    self.collector.note_incomplete("it defines a function or a list");
                    if !self.skip_function_brackets() {
                        return Err(self.unexpected_error());
                    }
                    self.skip_newlines()?;
                    return self.read_nested(Self::read_command);
                }
                Some(_) => {}
            }
            let word = self.read_word()?;
            if both_redirected {
                self.collector.note_incomplete("shells differ on words behind &>");
            }
            if matches!(self.cursor.peek(), Some('<' | '>')) && looks_like_descriptor(&word) {
                self.collector
                    .note_incomplete("shells differ on descriptors of more than one digit");
            }
            if words.is_empty() && word.assignment {
                Invocation::check_assignment(self.collector, &word.text);
                context.assign(&word.text);
            } else {
                if words.is_empty() && !word.quoted && is_keyword(&word.text) && word.text != "[[" {
                    let reason = format!("the word {} stands at an odd place", word.text);
                    self.collector.note_incomplete(reason);
                }
                words.push(word);
            }
        }
        if self.cursor.position() == start {
            return Err(ParseStop::because("a command is missing"));
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
        matches!(self.cursor.peek(), Some('<' | '>')) && self.cursor.peek_second() == Some('(')
    }

    pub(super) fn read_process_substitution(&mut self) -> Result<ShellWord, ParseStop> {
        self.collector.note_incomplete("shells differ on <(…) and >(…)");
        let start = self.cursor.position();
        self.cursor.take_joined();
        self.cursor.take();
        self.read_substitution()?;
        let text = self.cursor.text_since(start).to_owned();
        Ok(ShellWord { text, unknown: true, ..ShellWord::default() })
    }

    /// Skips the `()` after the name of a function.
    fn skip_function_brackets(&mut self) -> bool {
        self.skip_blanks();
        if self.cursor.peek() != Some('(') {
            return false;
        }
        self.cursor.take();
        self.skip_blanks();
        self.cursor.take_if(')')
    }

    /// Returns the keyword that starts here.
    pub(super) fn peek_keyword(&self) -> Option<&'text str> {
        keyword_at(self.cursor.rest())
    }

    /// Skips blanks, comments and ends of lines, with the here-documents after them.
    pub(super) fn skip_newlines(&mut self) -> Result<(), ParseStop> {
        loop {
            self.skip_blanks();
            if !self.cursor.take_if('\n') {
                return Ok(());
            }
            self.read_documents()?;
        }
    }

    pub(super) fn expect_bracket(&mut self) -> Result<(), ParseStop> {
        self.skip_blanks();
        if self.cursor.take_if(')') { Ok(()) } else { Err(self.unexpected_error()) }
    }

    pub(super) fn unexpected_error(&self) -> ParseStop {
        let rest = self.cursor.rest();
        if rest.is_empty() {
            return ParseStop::because("it ends in the middle of a command");
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len()).max(1);
        let word = lango_text::make_visible_short(&rest[..rest.floor_char_boundary(end.min(20))]);
        ParseStop::because(format!("{word} stands at an odd place"))
    }
}

/// Tells whether a word before a redirection is its descriptor, in some shells.
fn looks_like_descriptor(word: &ShellWord) -> bool {
    let text = &word.text;
    !word.quoted
        && ((text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit()))
            || (text.starts_with('{') && text.ends_with('}')))
}
