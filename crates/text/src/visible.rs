//! Makes text from a model or a file safe to show to users.
//!
//! Everything that could hide, reorder or overwrite what is on the screen is written out as an
//! escape.

use crate::truncate_characters;

/// Returns `text` on one line, with everything invisible or misleading written out, as `\u{202e}`.
pub fn make_visible(text: &str) -> String {
    // Most texts have nothing to write out.
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if is_misleading(character) => {
                shown.push_str(&format!("\\u{{{:x}}}", u32::from(character)));
            }
            _ => shown.push(character),
        }
    }
    shown
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

#[cfg(test)]
mod tests {
    use super::*;

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
