//! Masks the particulars of errors, so that the same failure has the same text.

use lango_text::truncate_characters;

/// Limits how much of an error is used; the beginning matters most.
const MAX_ERROR_CHARACTERS: usize = 600;

/// Masks quoted text, paths, addresses, ids and numbers of an error, in lower case.
pub fn mask(error: &str) -> String {
    let head = truncate_characters(error, MAX_ERROR_CHARACTERS);
    let mut masked = String::with_capacity(head.len());
    for word in without_quotes(head).split_whitespace() {
        if !masked.is_empty() {
            masked.push(' ');
        }
        mask_word(word, &mut masked);
    }
    masked
}

/// Replaces quoted text by `<text>`. A quote between letters is an apostrophe.
fn without_quotes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['"', '`', '\'', '“', '‘', '«']) {
        let before = &rest[..start];
        let Some(quote) = rest[start..].chars().next() else { break };
        let after = &rest[start + quote.len_utf8()..];
        let closing = match quote {
            '“' => '”',
            '‘' => '’',
            '«' => '»',
            other => other,
        };
        let apostrophe = quote == '\'' && before.ends_with(char::is_alphanumeric);
        kept.push_str(before);
        if let Some(end) = after.find(closing).filter(|_| !apostrophe) {
            kept.push_str(" <text> ");
            rest = &after[end + closing.len_utf8()..];
        } else {
            kept.push(quote);
            rest = after;
        }
    }
    kept.push_str(rest);
    kept
}

/// Masks one word and drops the punctuation around it.
fn mask_word(word: &str, masked: &mut String) {
    let edge = |character: char| matches!(character, ',' | '.' | ':' | ';' | '(' | ')' | '[' | ']');
    let core = word.trim_matches(edge);
    if core.is_empty() || core == "<text>" {
        masked.push_str(core);
    } else if core.contains("://") {
        masked.push_str("<address>");
    } else if core.len() > 1 && core.contains(['/', '\\']) {
        masked.push_str("<path>");
    } else if is_id(core) {
        masked.push_str("<id>");
    } else {
        mask_numbers(core, masked);
    }
}

/// Tells whether a word is an id: long and hexadecimal, or of letters and many digits.
fn is_id(word: &str) -> bool {
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let hexadecimal = word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let letters = word.chars().any(|c| c.is_ascii_alphabetic());
    plain && letters && ((hexadecimal && word.len() >= 7 && digits >= 1) || digits >= 6)
}

/// Replaces runs of digits by `<n>`.
fn mask_numbers(word: &str, masked: &mut String) {
    let mut in_number = false;
    for character in word.chars() {
        if character.is_numeric() {
            if !in_number {
                masked.push_str("<n>");
            }
            in_number = true;
        } else {
            in_number = false;
            masked.extend(character.to_lowercase());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn what_is_particular_makes_no_difference() {
        for (one, other, masked) in [
            ("no such file: /tmp/a.txt", "No such file: /home/x/b.md", "no such file <path>"),
            ("port 8080 is taken", "port 3000 is taken", "port <n> is taken"),
            (
                "key \"abc\" isn't in 'm.toml'",
                "key \"x y z\" isn't in 'other'",
                "key <text> isn't in <text>",
            ),
            (
                "commit 9f1c2ab not found, at https://a.b/c",
                "commit 0dead4e not found, at http://x/y?z=1",
                "commit <id> not found at <address>",
            ),
            (
                "task 0192f0aa-1111-7abc-8def-0123456789ab failed after 12.5 s",
                "task 0192f0bb-2222-7abc-8def-ba9876543210 failed after 7.25 s",
                "task <id> failed after <n>.<n> s",
            ),
        ] {
            assert_eq!((mask(one), mask(other)), (masked.to_owned(), masked.to_owned()));
        }
        assert_ne!(mask("permission denied: /a"), mask("no such file: /a"));
    }

    #[test]
    fn any_text_can_be_masked() {
        for text in ["", "'", "\"", "a'b", "“open", "'''''", "🦀 'ä", &"'x' ".repeat(10_000)] {
            assert!(mask(text).chars().count() <= 6_000, "{text}");
        }
    }
}
