//! One word of a command: its text, and what the shell would still do to it.

/// A word without its quotes.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each can be true with any of the others")]
pub(super) struct Word {
    /// What the program gets. Expansions stand in it as they are written.
    pub(super) text: String,
    /// Part of it was quoted, so that it is no keyword and no number of a descriptor.
    pub(super) quoted: bool,
    /// It has an expansion: the text is not what the program gets.
    pub(super) unknown: bool,
    /// File names may be filled in for it, or a home directory.
    pub(super) pattern: bool,
    /// Some shells would make several words of it.
    pub(super) braces: bool,
    /// It starts with a name and `=`, neither of them quoted.
    pub(super) assignment: bool,
}

impl Word {
    /// Whether the program gets exactly the text.
    pub(super) fn is_static(&self) -> bool {
        !self.unknown && !self.pattern && !self.braces
    }
}

/// Puts a word together, and notices what the shell would notice.
#[derive(Debug, Default)]
pub(super) struct WordBuilder {
    word: Word,
    open_bracket: bool,
    open_brace: bool,
    brace_separator: bool,
}

impl WordBuilder {
    /// A character that is not quoted.
    pub(super) fn plain(&mut self, character: char) {
        let text = &self.word.text;
        match character {
            '*' | '?' => self.word.pattern = true,
            // At the start, and where the value of an assignment or the next part of it starts.
            '~' if text.is_empty() || text.ends_with(['=', ':']) => self.word.pattern = true,
            '[' => self.open_bracket = true,
            '{' => self.open_brace = true,
            '}' if self.open_brace && self.brace_separator => self.word.braces = true,
            '=' if !self.word.quoted && !self.word.unknown && is_name(text) => {
                self.word.assignment = true;
            }
            _ => {}
        }
        self.literal(character);
    }

    /// A character that was quoted in some way.
    pub(super) fn quoted(&mut self, character: char) {
        self.word.quoted = true;
        self.literal(character);
    }

    /// An expansion, as it is written.
    pub(super) fn unknown(&mut self, written: &str) {
        self.word.unknown = true;
        self.word.text.push_str(written);
    }

    /// Quotes with nothing in them make a word too.
    pub(super) fn opened_quotes(&mut self) {
        self.word.quoted = true;
    }

    pub(super) fn finish(self) -> Word {
        self.word
    }

    /// What also counts where it is quoted: being wrong here only makes a word less certain.
    fn literal(&mut self, character: char) {
        match character {
            ']' if self.open_bracket => self.word.pattern = true,
            ',' if self.open_brace => self.brace_separator = true,
            '.' if self.open_brace && self.word.text.ends_with('.') => self.brace_separator = true,
            _ => {}
        }
        self.word.text.push(character);
    }
}

/// Whether this can be the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
