//! What becomes of a character before words are made of it.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// What a character is to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of a word.
    Letter,
    /// Ends a word, and is one itself.
    Alone,
    /// Ends a word.
    Space,
    /// Not there.
    Nothing,
}

/// The kind of a character as it stands in the text.
pub(super) fn kind(character: char) -> Kind {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Kind::Letter,
        ' ' | '\t' | '\n' | '\r' => Kind::Space,
        '\u{FFFD}' => Kind::Nothing,
        _ if character.is_ascii_punctuation() => Kind::Alone,
        _ if is_other(character) => Kind::Nothing,
        _ if character.is_whitespace() => Kind::Space,
        _ if is_ideograph(character) || is_punctuation(character) => Kind::Alone,
        _ => Kind::Letter,
    }
}

/// Takes accents off and makes lower case: none, one or several characters.
pub(super) fn fold(character: char, mut each: impl FnMut(char)) {
    if character.is_ascii() {
        return each(character.to_ascii_lowercase());
    }
    decompose_canonical(character, |part| {
        if part.general_category() != GeneralCategory::NonspacingMark {
            part.to_lowercase().for_each(&mut each);
        }
    });
}

/// Whether a character is punctuation after folding, where it was none before.
pub(super) fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
        || (!character.is_ascii()
            && character.general_category_group() == GeneralCategoryGroup::Punctuation)
}

/// Control, format and private characters; those that Unicode has not given out stay.
fn is_other(character: char) -> bool {
    matches!(
        character.general_category(),
        GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
    )
}

/// Characters of Chinese writing, each of which is a word to the model.
fn is_ideograph(character: char) -> bool {
    matches!(character,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2B73F}'
        | '\u{2B740}'..='\u{2B81F}'
        | '\u{2B920}'..='\u{2CEAF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{2F800}'..='\u{2FA1F}')
}
