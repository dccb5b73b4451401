//! Estimates how much of an encoder's window a text takes.

/// Limits the weight of a passage. Four units are about one token, so an encoder with a window of
/// 256 tokens sees all of a passage and its heading. English prose of this weight has about 900
/// characters.
pub(crate) const MAX_WEIGHT: usize = 880;

/// Returns the weight of a text: for each word its characters and the space after it, but at least
/// one token.
pub(crate) fn text_weight(text: &str) -> usize {
    text.split_whitespace().map(word_weight).sum()
}

fn word_weight(word: &str) -> usize {
    (word.chars().map(character_weight).sum::<usize>() + 1).max(4)
}

/// Returns the weight of a character. Encoders know words of European languages; text in other
/// scripts takes about one token for each character.
pub(crate) fn character_weight(character: char) -> usize {
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
        let text = sentence.repeat(MAX_WEIGHT / text_weight(sentence));
        assert!((780..1_000).contains(&text.len()), "{}", text.len());
        assert!(text.split_whitespace().count() < 220);
        // Short words and other scripts cost what their tokens cost.
        assert_eq!(text_weight(&"a ".repeat(220)), 880);
        assert!(text_weight("灯台守は日没を記録する") >= 4 * 11);
    }
}
