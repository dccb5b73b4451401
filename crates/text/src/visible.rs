//! Makes text from a model or a file safe to show to users.
//!
//! Everything that could hide, reorder or overwrite what is on the screen is written out as an
//! escape. [`make_visible`] is for what a decision depends on; [`make_text_visible`] is for prose,
//! where emoji and the scripts of the world stay readable.

use std::borrow::Cow;

use crate::truncate_characters;

/// Returns `text` on one line, with everything invisible or misleading written out, as `\u{202e}`.
pub fn make_visible(text: &str) -> String {
    // Most texts have nothing to write out.
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_misleading(character) {
            push_escape(&mut shown, character);
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Returns `text` with its line breaks and tabs, and with everything else written out that could
/// control a terminal, change the direction of text or hide.
pub fn make_text_visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_misleading_in_text) {
        return Cow::Borrowed(text);
    }
    let mut stream = VisibleStream::default();
    let mut shown = stream.push(text);
    shown.push_str(&stream.finish());
    Cow::Owned(shown)
}

/// Returns what [`make_text_visible`] does on one line, for a cell of a table.
pub fn make_line_visible(text: &str) -> String {
    make_text_visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Returns JSON with everything misleading in its strings escaped, so that it means the same.
pub fn make_json_visible(json: &str) -> Cow<'_, str> {
    // What is below has been escaped when it was written, or is white space between values.
    let is_hidden = |character: char| character > '~' && is_misleading(character);
    if !json.chars().any(is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if is_hidden(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Does what [`make_text_visible`] does, for text that arrives in pieces.
#[derive(Debug, Clone, Default)]
pub struct VisibleStream {
    /// The last character that was shown as it is.
    previous: Option<char>,
    /// A character that depends on the next one.
    held: Option<char>,
}

impl VisibleStream {
    /// Returns what can be shown of the text so far.
    pub fn push(&mut self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for character in text.chars() {
            if let Some(held) = self.held.take() {
                match (held, character) {
                    // A line break as other systems write it.
                    ('\r', '\n') => {}
                    (JOINER | NON_JOINER, next) if is_joinable(next) => shown.push(held),
                    _ => self.push_escape(&mut shown, held),
                }
            }
            match character {
                '\r' => self.held = Some(character),
                JOINER | NON_JOINER if self.previous.is_some_and(is_joinable) => {
                    self.held = Some(character);
                }
                '\u{fe0e}' | '\u{fe0f}' if self.previous.is_some_and(has_variants) => {
                    shown.push(character);
                    // One selector belongs to a character; more of them hide data. An emoji with a
                    // selector can still be joined to another.
                    self.previous =
                        self.previous.filter(|before| !before.is_ascii()).map(|_| SELECTED);
                }
                _ if is_misleading_in_text(character) => self.push_escape(&mut shown, character),
                _ => {
                    shown.push(character);
                    self.previous = Some(character);
                }
            }
        }
        shown
    }

    /// Returns what was held back, because no text follows.
    pub fn finish(&mut self) -> String {
        let mut shown = String::new();
        if let Some(held) = self.held.take() {
            self.push_escape(&mut shown, held);
        }
        self.previous = None;
        shown
    }

    fn push_escape(&mut self, shown: &mut String, character: char) {
        push_escape(shown, character);
        self.previous = None;
    }
}

/// Joins emoji, and letters of some scripts.
const JOINER: char = '\u{200d}';
/// Separates letters of some scripts.
const NON_JOINER: char = '\u{200c}';
/// Stands for a character that has a variation selector already.
const SELECTED: char = '\u{fe0f}';

/// Tells whether a joiner beside the character has a meaning, which it does not have among ASCII.
fn is_joinable(character: char) -> bool {
    character == SELECTED
        || !(character.is_ascii() || character.is_whitespace() || is_misleading(character))
}

/// Tells whether a variation selector after the character has a meaning.
fn has_variants(character: char) -> bool {
    character != SELECTED && (is_joinable(character) || matches!(character, '0'..='9' | '#' | '*'))
}

fn push_escape(shown: &mut String, character: char) {
    match character {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        _ => shown.push_str(&format!("\\u{{{:x}}}", u32::from(character))),
    }
}

/// Returns the lines of `text`, each made [`make_visible`] and after `prefix`, so that no line of it can
/// pass for a line of ours.
pub fn make_lines_visible(text: &str, prefix: &str) -> String {
    let mut shown = String::with_capacity(text.len() + prefix.len());
    for line in text.split('\n') {
        if !shown.is_empty() {
            shown.push('\n');
        }
        shown.push_str(prefix);
        shown.push_str(&make_visible(line));
    }
    shown
}

/// Returns [`make_visible`] text for an error message. Long names are cut only here, where no decision
/// depends on them.
pub fn make_visible_short(text: &str) -> String {
    const MAX_SHOWN_CHARACTERS: usize = 200;
    let shown = truncate_characters(text, MAX_SHOWN_CHARACTERS);
    if shown.len() == text.len() {
        return make_visible(text);
    }
    format!("{}… ({} bytes)", make_visible(shown), text.len())
}

/// Tells whether a character is invisible, changes the direction of text, or looks like a plain
/// space without being one.
fn is_misleading(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{10ffff}')
}

/// Tells whether a character of a longer text is written out. White space of any width is visible as
/// what it is.
fn is_misleading_in_text(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{2028}' | '\u{2029}' => true,
        _ if character.is_control() => true,
        _ => is_misleading(character) && !character.is_whitespace(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prose_stays_as_it_is_and_what_controls_a_terminal_is_written_out() {
        for text in [
            "two\nlines\tand a tab",
            "größe 漢字　漢字 mot\u{a0}: 🦀",
            "❤\u{fe0f} 👩\u{200d}👩\u{200d}👧 1\u{fe0f}\u{20e3} ☁\u{fe0e}",
            "🏳\u{fe0f}\u{200d}🌈",
            "می\u{200c}خواهم क्\u{200d}ष",
        ] {
            assert_eq!(make_text_visible(text), text);
        }
        for (text, shown) in [
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("\u{1b}]0;x\u{7}\u{1b}P1\u{1b}\\", "\\u{1b}]0;x\\u{7}\\u{1b}P1\\u{1b}\\"),
            ("\u{9b}31m\u{9d}0;x\u{9c}\u{90}", "\\u{9b}31m\\u{9d}0;x\\u{9c}\\u{90}"),
            ("gpj.\u{202e}exe\u{2066}\u{200f}", "gpj.\\u{202e}exe\\u{2066}\\u{200f}"),
            ("over\rwritten\u{8}\u{7f}", "over\\rwritten\\u{8}\\u{7f}"),
            ("dos\r\nline\r", "dos\nline\\r"),
            ("r\u{200d}m x\u{200b}\u{2060}\u{feff}", "r\\u{200d}m x\\u{200b}\\u{2060}\\u{feff}"),
            ("❤\u{fe0f}\u{fe0f}a\u{fe0f}", "❤\u{fe0f}\\u{fe0f}a\\u{fe0f}"),
            ("\u{e0041}\u{2028}\u{ad}", "\\u{e0041}\\u{2028}\\u{ad}"),
        ] {
            assert_eq!(make_text_visible(text), shown);
        }
        assert_eq!(make_line_visible("a\r\n\tb\u{7}"), "a\\n\\tb\\u{7}");
    }

    #[test]
    fn json_means_the_same_when_it_is_made_visible() {
        let value =
            serde_json::json!({"a\u{202e}": "\u{1b}]0;x\u{7}\u{9b}\u{7f}ä\u{e0041}", "b": [1]});
        for json in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let shown = make_json_visible(&json);
            assert!(!shown.contains(['\u{202e}', '\u{1b}', '\u{9b}', '\u{7f}', '\u{e0041}']));
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }

    proptest! {
        #[test]
        fn no_text_controls_a_terminal_or_hides(
            text in "([\\x00-\\x20\\x7f-\\u{a0}]|[\u{200b}-\u{2070}]|[\u{fe00}-\u{fe0f}]|[a-z🦀漢]|\\PC|\\p{Cf}){0,20}",
            size in 1_usize..4,
        ) {
            let shown = make_text_visible(&text).into_owned();
            let mut previous = ' ';
            for character in shown.chars() {
                let is_joiner = matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
                prop_assert!(
                    !is_misleading_in_text(character) || (is_joiner && previous != character),
                    "{:?} in {:?}", character, shown
                );
                previous = character;
            }
            // However it is cut, it is the same.
            let mut stream = VisibleStream::default();
            let characters: Vec<char> = text.chars().collect();
            let mut streamed: String = characters
                .chunks(size)
                .map(|piece| stream.push(&piece.iter().collect::<String>()))
                .collect();
            streamed.push_str(&stream.finish());
            prop_assert_eq!(&streamed, &shown);
            // What was made visible stays as it is.
            prop_assert_eq!(make_text_visible(&shown), shown.as_str());
        }
    }

    #[test]
    fn what_could_deceive_is_written_out() {
        for (text, shown) in [
            ("ls -l", "ls -l"),
            ("größe 漢字 🦀", "größe 漢字 🦀"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("\u{1b}[2K\rrm", "\\u{1b}[2K\\rrm"),
            ("a\tb\0\u{7f}\u{85}", "a\\tb\\u{0}\\u{7f}\\u{85}"),
            ("a\u{a0}b\u{3000}\u{2028}", "a\\u{a0}b\\u{3000}\\u{2028}"),
            ("\u{e0041}\u{2066}", "\\u{e0041}\\u{2066}"),
        ] {
            assert_eq!(make_visible(text), shown);
        }
    }

    #[test]
    fn every_line_stands_behind_the_prefix() {
        assert_eq!(make_lines_visible("a\nRun in /:\n", "| "), "| a\n| Run in /:\n| ");
        assert_eq!(make_lines_visible("", "| "), "| ");
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let shown = make_visible_short(&"ä".repeat(5000));
        assert!(shown.starts_with("ää") && shown.ends_with("… (10000 bytes)") && shown.len() < 500);
    }
}
