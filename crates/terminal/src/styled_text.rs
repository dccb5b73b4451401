//! Text for people with colours. What it shows is data until it is rendered, so that only the colours
//! of this program ever reach a terminal, and no escape sequence of a model, a file or a peer.

use lango_text::make_text_visible;

/// A text in pieces, each of which may be coloured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledText {
    pieces: Vec<(Option<Colour>, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    Name,
    Faint,
    Good,
    Bad,
    Warning,
}

impl Colour {
    /// Returns the parameters of the escape sequence.
    fn code(self) -> &'static str {
        match self {
            Self::Name => "1;36",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Bad => "31",
            Self::Warning => "33",
        }
    }
}

impl StyledText {
    fn with(mut self, colour: Option<Colour>, text: impl Into<String>) -> Self {
        self.pieces.push((colour, text.into()));
        self
    }

    /// Adds text without a colour.
    #[must_use]
    pub fn plain(self, text: impl Into<String>) -> Self {
        self.with(None, text)
    }

    /// Adds the name of a speaker.
    #[must_use]
    pub fn name(self, text: impl Into<String>) -> Self {
        self.with(Some(Colour::Name), text)
    }

    /// Adds text of less weight.
    #[must_use]
    pub fn faint(self, text: impl Into<String>) -> Self {
        self.with(Some(Colour::Faint), text)
    }

    /// Adds a success.
    #[must_use]
    pub fn good(self, text: impl Into<String>) -> Self {
        self.with(Some(Colour::Good), text)
    }

    /// Adds a failure.
    #[must_use]
    pub fn bad(self, text: impl Into<String>) -> Self {
        self.with(Some(Colour::Bad), text)
    }

    /// Adds a warning.
    #[must_use]
    pub fn warning(self, text: impl Into<String>) -> Self {
        self.with(Some(Colour::Warning), text)
    }

    /// Returns the text as it is written to a stream that people read, where everything that could
    /// deceive them is visible.
    pub fn render(&self, is_coloured: bool) -> String {
        let mut rendered = String::new();
        for (colour, text) in &self.pieces {
            let text = make_text_visible(text);
            match colour.filter(|_| is_coloured) {
                Some(colour) => rendered += &format!("\x1b[{}m{text}\x1b[0m", colour.code()),
                None => rendered += &text,
            }
        }
        rendered
    }

    /// Returns the text as it is, for a program that asked for it.
    pub fn to_raw(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl FromIterator<StyledText> for StyledText {
    fn from_iter<T: IntoIterator<Item = StyledText>>(texts: T) -> Self {
        Self { pieces: texts.into_iter().flat_map(|text| text.pieces).collect() }
    }
}

impl From<&str> for StyledText {
    fn from(text: &str) -> Self {
        Self::default().plain(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_colours_of_this_program_are_escape_sequences() {
        let text = StyledText::default().name("a\u{1b}[31mb").plain(": \u{9b}2J").bad("\u{202e}c");
        assert_eq!(text.render(false), "a\\u{1b}[31mb: \\u{9b}2J\\u{202e}c");
        assert_eq!(
            text.render(true),
            "\u{1b}[1;36ma\\u{1b}[31mb\u{1b}[0m: \\u{9b}2J\u{1b}[31m\\u{202e}c\u{1b}[0m"
        );
        assert_eq!(text.to_raw(), "a\u{1b}[31mb: \u{9b}2J\u{202e}c");
    }
}
