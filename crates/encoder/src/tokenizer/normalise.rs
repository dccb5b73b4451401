//! Normalises characters before words are made of them.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// Classifies a character by its role in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharacterKind {
    /// A part of a word.
    Letter,
    /// A character that ends a word, and is one itself.
    Standalone,
    /// A character that ends a word.
    Space,
    /// Not there.
    Nothing,
}

/// Returns the kind of a character as written in the text.
pub(super) fn character_kind(character: char) -> CharacterKind {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => CharacterKind::Letter,
        ' ' | '\t' | '\n' | '\r' => CharacterKind::Space,
        '\u{FFFD}' => CharacterKind::Nothing,
        _ if character.is_ascii_punctuation() => CharacterKind::Standalone,
        _ if is_other(character) => CharacterKind::Nothing,
        _ if character.is_whitespace() => CharacterKind::Space,
        _ if is_ideograph(character) || is_punctuation(character) => CharacterKind::Standalone,
        _ => CharacterKind::Letter,
    }
}

/// Takes accents off and makes lower case: none, one or several characters.
pub(super) fn fold_character(character: char, mut each: impl FnMut(char)) {
    if character.is_ascii() {
        return each(character.to_ascii_lowercase());
    }
    decompose_canonical(character, |part| {
        if part.general_category() != GeneralCategory::NonspacingMark {
            part.to_lowercase().for_each(&mut each);
        }
    });
}

/// Tells whether a character is punctuation after folding, where it was none before.
pub(super) fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
        || (!character.is_ascii()
            && character.general_category_group() == GeneralCategoryGroup::Punctuation)
}

/// Tells whether a character is a control, format or private one; unassigned ones are kept.
fn is_other(character: char) -> bool {
    matches!(
        character.general_category(),
        GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
    )
}

/// Tells whether a character is Chinese; the model treats each as a word.
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
