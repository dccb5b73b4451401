//! Represents one word of a command: its text, and what the shell would still do to it.

/// Holds a word without its quotes.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each can be true with any of the others")]
pub(super) struct ShellWord {
    /// The text that the program gets. Expansions are in it as they are written.
    pub(super) text: String,
    /// True if part of it was quoted, so that it is no keyword and no number of a descriptor.
    pub(super) quoted: bool,
    /// True if it has an expansion: the text is not what the program gets.
    pub(super) unknown: bool,
    /// True if file names or a home directory may be filled in for it.
    pub(super) pattern: bool,
    /// True if some shells would make several words of it.
    pub(super) braces: bool,
    /// True if it starts with a name and `=`, neither of them quoted.
    pub(super) assignment: bool,
}

impl ShellWord {
    /// Tells whether the program gets exactly the text.
    pub(super) fn is_static(&self) -> bool {
        !self.unknown && !self.pattern && !self.braces
    }
}

/// Builds a word, and notices what the shell would notice.
#[derive(Debug, Default)]
pub(super) struct WordBuilder {
    word: ShellWord,
    open_bracket: bool,
    open_brace: bool,
    brace_separator: bool,
}

impl WordBuilder {
    /// Adds a character that is not quoted.
    pub(super) fn push_plain(&mut self, character: char) {
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
        self.push_literal(character);
    }

    /// Adds a character that was quoted in some way.
    pub(super) fn push_quoted(&mut self, character: char) {
        self.word.quoted = true;
        self.push_literal(character);
    }

    /// Adds an expansion, as it is written.
    pub(super) fn push_expansion(&mut self, written: &str) {
        self.word.unknown = true;
        self.word.text.push_str(written);
    }

    /// Records quotes: they make a word even if nothing is in them.
    pub(super) fn note_quotes(&mut self) {
        self.word.quoted = true;
    }

    pub(super) fn finish(self) -> ShellWord {
        self.word
    }

    /// Adds a character whose meaning counts even if it is quoted: an error here only makes a word
    /// less certain.
    fn push_literal(&mut self, character: char) {
        match character {
            ']' if self.open_bracket => self.word.pattern = true,
            ',' if self.open_brace => self.brace_separator = true,
            '.' if self.open_brace && self.word.text.ends_with('.') => self.brace_separator = true,
            _ => {}
        }
        self.word.text.push(character);
    }
}

/// Tells whether this can be the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
