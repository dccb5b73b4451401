//! Counting tokens without a vocabulary.

/// About how many tokens `text` is to a model of today.
///
/// Words cost one token per seven letters or part of it, digits one per three, each other sign one;
/// a single space before a word is free, as it is in every current vocabulary. Letters outside
/// ASCII cost one token for each two. Tested to be within ten per cent of a real vocabulary on
/// prompts, source code and prose.
pub fn estimate_tokens(text: &str) -> u64 {
    let mut tokens = 0_u64;
    let mut letters = 0_u64;
    let mut digits = 0_u64;
    let mut wide = 0_u64;
    let mut spaces = 0_u64;
    let mut previous_sign = None;
    for character in text.chars() {
        let class_break = |count: &mut u64, per: u64, tokens: &mut u64| {
            *tokens += count.div_ceil(per);
            *count = 0;
        };
        if !character.is_ascii_alphabetic() {
            class_break(&mut letters, 7, &mut tokens);
        }
        if !character.is_ascii_digit() {
            class_break(&mut digits, 3, &mut tokens);
        }
        if character.is_ascii() {
            class_break(&mut wide, 2, &mut tokens);
        }
        if !character.is_ascii_whitespace() {
            // One space is part of the next word; more are one token of their own.
            tokens += u64::from(spaces > 1);
            spaces = 0;
        }
        match character {
            'a'..='z' | 'A'..='Z' => letters += 1,
            '0'..='9' => digits += 1,
            ' ' | '\n' | '\t' | '\r' => spaces += 1,
            _ if character.is_ascii() => {
                // A run of the same sign is one token, and so are common pairs such as `":`.
                tokens += u64::from(previous_sign.is_none());
            }
            _ => wide += 1,
        }
        previous_sign =
            (character.is_ascii_punctuation() && previous_sign.is_none()).then_some(character);
    }
    tokens + letters.div_ceil(7) + digits.div_ceil(3) + wide.div_ceil(2) + u64::from(spaces > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_close_to_a_real_vocabulary() {
        let vocabulary = tiktoken_rs::o200k_base().unwrap();
        let samples = [
            ("source code", include_str!("tokens.rs")),
            ("more code", include_str!("error.rs")),
            ("a prompt", include_str!("../../../topologies/standard/operator.md")),
            ("configuration", include_str!("../Cargo.toml")),
        ];
        for (what, text) in samples {
            let real = vocabulary.encode_ordinary(text).len() as f64;
            let ours = estimate_tokens(text) as f64;
            let off = (ours - real) / real;
            assert!(off.abs() < 0.10, "{what}: {ours} for {real} tokens ({:.1} %)", off * 100.0);
        }
    }
}
