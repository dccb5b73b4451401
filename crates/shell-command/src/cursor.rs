//! Implements a cursor in a text. It knows characters and joined lines, and nothing of a shell.

/// Walks over a text, from front to back.
#[derive(Debug)]
pub(super) struct TextCursor<'text> {
    text: &'text str,
    /// The byte offset, always between two characters.
    position: usize,
}

impl<'text> TextCursor<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self { text, position: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Returns the remaining text.
    pub(super) fn rest(&self) -> &'text str {
        &self.text[self.position..]
    }

    /// Returns the text since `start`.
    pub(super) fn text_since(&self, start: usize) -> &'text str {
        &self.text[start..self.position]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the second next character. A line continuation between them is no character.
    pub(super) fn peek_second(&self) -> Option<char> {
        let mut rest = self.rest().chars();
        rest.next();
        let mut rest = rest.as_str();
        while let Some(joined) = rest.strip_prefix("\\\n") {
            rest = joined;
        }
        rest.chars().next()
    }

    /// Takes the next character, and the line continuations after it.
    pub(super) fn take_joined(&mut self) -> Option<char> {
        let taken = self.take();
        self.join_lines();
        taken
    }

    pub(super) fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        Some(next)
    }

    /// Takes the next character if it is this one.
    pub(super) fn take_if(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.take();
        }
        found
    }

    /// Skips so many bytes, which the caller has checked.
    pub(super) fn skip(&mut self, bytes: usize) {
        let end = self.position.saturating_add(bytes);
        self.position = self.text.floor_char_boundary(end);
    }

    /// Skips line continuations.
    pub(super) fn join_lines(&mut self) {
        while self.rest().starts_with("\\\n") {
            self.position += 2;
        }
    }

    /// Skips the rest of the line, but not its end.
    pub(super) fn skip_line(&mut self) {
        self.position += self.rest().find('\n').unwrap_or(self.rest().len());
    }
}
