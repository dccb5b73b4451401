//! How much of an encoder's window a text takes, about.

/// What a passage may weigh. Four are about one token, so that an encoder that looks at 256 tokens
/// sees all of a passage and its heading too. English prose of this weight has about 900 characters.
pub(crate) const MOST: usize = 880;

/// The weight of a text: of each word its characters and the space behind it, and never less than
/// one token.
pub(crate) fn weight(text: &str) -> usize {
    text.split_whitespace().map(word).sum()
}

fn word(word: &str) -> usize {
    (word.chars().map(character).sum::<usize>() + 1).max(4)
}

/// Encoders know words of European languages; of others, they see one character after another.
pub(crate) fn character(character: char) -> usize {
    match character {
        'a'..='z' | 'A'..='Z' | '\u{80}'..'\u{250}' => 1,
        '0'..='9' => 2,
        '\0'..'\u{2e80}' => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_of_full_weight_has_about_900_characters_and_fewer_than_220_words() {
        let sentence = "The keeper of the lighthouse writes the time of sunset into the big book. ";
        let text = sentence.repeat(MOST / weight(sentence));
        assert!((780..1_000).contains(&text.len()), "{}", text.len());
        assert!(text.split_whitespace().count() < 220);
        // Short words and other scripts cost what their tokens cost.
        assert_eq!(weight(&"a ".repeat(220)), 880);
        assert!(weight("灯台守は日没を記録する") >= 4 * 11);
    }
}
