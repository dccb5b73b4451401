//! Rust source as plain tokens, enough for checks that look for names. It is no parser: macros are not
//! expanded, and attributes are read like the rest.

use std::path::Path;

/// Returns the text with comments, strings and characters replaced by blanks. Line breaks stay.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        // Asked first, because it is quick and nearly always false.
        let may_be_opaque = matches!(first, '/' | '"' | '\'' | 'b' | 'c' | 'r');
        let opaque = if may_be_opaque { opaque_length(rest) } else { 0 };
        if opaque > 0 {
            let (gone, after) = rest.split_at(opaque);
            code.extend(gone.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = after;
            continue;
        }
        // A whole identifier at once: the `r` of `for"` begins no raw string.
        let length = match identifier_length(rest) {
            0 => first.len_utf8(),
            length => length,
        };
        let (kept, after) = rest.split_at(length);
        code.push_str(kept);
        rest = after;
    }
    code
}

/// Splits code into identifiers and single other characters, without white space.
pub(crate) fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match identifier_length(rest) {
            0 => first.len_utf8(),
            length => length,
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// Returns code without its inline test modules: `#[cfg(test)] mod tests { … }`.
pub(crate) fn without_test_modules<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut product = Vec::new();
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        if rest.starts_with(&MARK) && rest.get(7) == Some(&"mod") && rest.get(9) == Some(&"{") {
            rest = &rest[9..];
            rest = &rest[balanced(rest, "{", "}")..];
            continue;
        }
        product.push(*token);
        rest = after;
    }
    product
}

/// Returns how many tokens there are up to the one that closes the first, both included.
pub(crate) fn balanced(tokens: &[&str], open: &str, close: &str) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        if *token == open {
            depth += 1;
        } else if *token == close {
            // The `>` of an arrow closes nothing.
            let arrow = close == ">" && index > 0 && matches!(tokens[index - 1], "-" | "=");
            depth -= usize::from(!arrow);
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// Returns whether a source file, given from its `src` folder, holds tests only.
pub(crate) fn is_test_file(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let in_folder = path.parent().is_some_and(|folder| folder.iter().any(|part| part == "tests"));
    in_folder || name == "tests" || name.ends_with("_tests")
}

/// Returns the length of the identifier or number that a text begins with.
fn identifier_length(text: &str) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    text.bytes().take_while(is_part).count()
}

/// Returns the length of the comment, string or character that a text begins with; 0 where it begins
/// with code.
fn opaque_length(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment_length(text);
    }
    let unprefixed = text.trim_start_matches(['b', 'c']);
    let prefix = text.len() - unprefixed.len();
    if prefix <= 1 {
        if let Some(raw) = unprefixed.strip_prefix('r') {
            let hashes = raw.len() - raw.trim_start_matches('#').len();
            if raw[hashes..].starts_with('"') {
                let end = format!("\"{}", "#".repeat(hashes));
                let begin = hashes + 1;
                let length = raw[begin..].find(&end).map_or(raw.len(), |at| begin + at + end.len());
                return prefix + 1 + length;
            }
        }
        if unprefixed.starts_with('"') {
            return prefix + quoted_length(unprefixed, '"');
        }
        if unprefixed.starts_with('\'') && is_character(unprefixed) {
            return prefix + quoted_length(unprefixed, '\'');
        }
    }
    0
}

/// Tells a character from a lifetime.
fn is_character(text: &str) -> bool {
    let mut characters = text.chars().skip(1);
    match characters.next() {
        Some('\\') => true,
        Some(_) => characters.next() == Some('\''),
        None => false,
    }
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}

fn block_comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_characters_are_no_code() {
        let text = "use a::b; // use c::d\n/* e /* f */ g */ let h = \"i \\\" j\";\n\
                    let k = r#\"l \" m\"#; let n: &'o str = 'p'; let q = '\\''; b\"r\"; x!(\"é\")";
        let code = code_only(text);
        let found = tokens(&code).join(" ");
        assert_eq!(
            found,
            "use a : : b ; let h = ; let k = ; let n : & ' o str = ; let q = ; ; x ! ( )"
        );
        assert_eq!(code.lines().count(), text.lines().count());
    }

    #[test]
    fn an_identifier_that_ends_in_r_or_b_begins_no_string() {
        assert_eq!(tokens(&code_only("for\"x\" sub'y' crab")), ["for", "sub", "crab"]);
    }

    #[test]
    fn inline_test_modules_are_taken_out() {
        let code = "fn a() {} #[cfg(test)] mod tests { fn b() { {} } } fn c() {}";
        assert_eq!(without_test_modules(&tokens(code)).concat(), "fna(){}fnc(){}");
        let declared = "#[cfg(test)] mod tests; fn a() {}";
        assert_eq!(without_test_modules(&tokens(declared)), tokens(declared));
    }

    #[test]
    fn angle_brackets_are_matched_around_arrows() {
        let code = tokens("<F: Fn(u8) -> Vec<u8>> for F");
        assert_eq!(&code[balanced(&code, "<", ">")..], ["for", "F"]);
    }

    #[test]
    fn files_of_tests_are_told_by_their_names() {
        for test in ["tests.rs", "http/wire_tests.rs", "decision/tests.rs", "tests/mod.rs"] {
            assert!(is_test_file(Path::new(test)), "{test}");
        }
        for product in ["lib.rs", "testing.rs", "contests.rs"] {
            assert!(!is_test_file(Path::new(product)), "{product}");
        }
    }
}
