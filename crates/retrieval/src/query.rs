//! Turns a query into the words that are looked up.
//!
//! The database's own tokenizers do the stemming; this module decides which words are worth looking
//! up at all, and adds what they cannot do: names in code are also split, and scripts without
//! spaces are cut into pairs.

use std::collections::HashSet;

/// Limits the words of one query. The first ones count.
const MAX_TERM_COUNT: usize = 32;

/// Limits the length of a word that is looked up.
const MAX_TERM_CHARACTERS: usize = 64;

/// Lists words that are in nearly every English text and say nothing about it.
const COMMON_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but",
    "by", "can", "could", "did", "do", "does", "for", "from", "get", "had", "has", "have", "he",
    "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not", "of",
    "on", "or", "our", "she", "should", "so", "some", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "was", "we", "were", "what", "when",
    "where", "which", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// Returns the words to look up, each once, in the order of the text. Common ones are left out,
/// unless there are no others.
pub(crate) fn search_terms(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in split_words(text) {
        let parts = split_word(word);
        for term in std::iter::once(word.to_lowercase()).chain(parts) {
            if term.chars().count() <= MAX_TERM_CHARACTERS && !all.contains(&term) {
                all.push(term);
            }
        }
        if all.len() > 4 * MAX_TERM_COUNT {
            break;
        }
    }
    let telling: Vec<String> =
        all.iter().filter(|term| !COMMON_WORDS.contains(&term.as_str())).cloned().collect();
    let mut terms = if telling.is_empty() { all } else { telling };
    terms.truncate(MAX_TERM_COUNT);
    terms
}

/// Returns the terms that the index holds beside the text itself, so that parts of words are found.
pub(crate) fn extra_terms(text: &str) -> String {
    let mut extra = String::new();
    for part in split_words(text).flat_map(split_word) {
        if !extra.is_empty() {
            extra.push(' ');
        }
        extra.push_str(&part);
    }
    extra
}

/// Runs of letters and digits. An underscore belongs to a name, but the tokenizers split there.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns the parts of a word that would not be found otherwise: `readFile` has `read` and `file`,
/// and a run of a script without spaces has every two neighbours.
fn split_word(word: &str) -> Vec<String> {
    if word.chars().any(is_unspaced) {
        let characters: Vec<char> = word.chars().collect();
        return characters.windows(2).map(|pair| pair.iter().collect()).collect();
    }
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut before_is_lower = false;
    for character in word.chars() {
        if character.is_uppercase() && before_is_lower {
            parts.push(std::mem::take(&mut part));
        }
        before_is_lower = character.is_lowercase() || character.is_numeric();
        part.extend(character.to_lowercase());
    }
    if parts.is_empty() {
        return parts;
    }
    parts.push(part);
    parts
}

/// Tells whether a script has no spaces, such as Chinese, Japanese and Thai; Korean syllables are
/// better found in pairs.
fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character),
        0x0e00..=0x0e7f | 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af
        | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

/// Returns the share of these terms that a passage has, from 0 to 1. Endings are not compared.
pub(crate) fn term_coverage(terms: &[String], passage: &[&str]) -> f64 {
    let text = passage.join(" ").to_lowercase();
    let stems: HashSet<&str> = split_words(&text).map(remove_ending).collect();
    let found = terms.iter().filter(|term| stems.contains(remove_ending(term))).count();
    #[expect(clippy::cast_precision_loss, reason = "a few dozen")]
    let share = found as f64 / terms.len().max(1) as f64;
    share
}

/// Lists endings of English words, longer ones before those that they end with.
const ENDINGS: &[&str] = &[
    "ations", "ation", "ments", "ment", "ings", "edly", "ing", "ers", "ies", "ed", "er", "es",
    "ly", "s", "e",
];

/// Returns a word without its ending. This is rough, and the same on every database.
fn remove_ending(word: &str) -> &str {
    let shorter = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending));
    let stem = shorter.filter(|stem| stem.len() >= 3).unwrap_or(word);
    match stem.as_bytes() {
        [_, _, .., before, last]
            if before == last && last.is_ascii_alphabetic() && !b"aeiou".contains(last) =>
        {
            &stem[..stem.len() - 1]
        }
        _ => stem,
    }
}

/// Returns terms in the syntax of FTS5: any of them, in any column but the first, in these scopes
/// or, without any, in all.
pub(crate) fn render_fts5_query(terms: &[String], scopes: &[String]) -> String {
    let any = |words: &[String]| {
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        quoted.join(" OR ")
    };
    let terms = format!("{{heading body extra}} : ({})", any(terms));
    if scopes.is_empty() {
        return terms;
    }
    format!("scope_word : ({}) AND {terms}", any(scopes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_left_out_unless_there_are_no_others() {
        assert_eq!(search_terms("How do I reset the password?"), ["reset", "password"]);
        assert_eq!(search_terms("who are they"), ["who", "are", "they"]);
        assert!(search_terms("?!").is_empty());
    }

    #[test]
    fn coverage_is_the_share_of_the_words() {
        let terms = search_terms("resetting forgotten passwords");
        assert!((term_coverage(&terms, &["Reset", "a password"]) - 2.0 / 3.0).abs() < 1e-9);
        assert!(term_coverage(&terms, &["nothing of it"]).abs() < 1e-9);
        assert!(term_coverage(&[], &["x"]).abs() < 1e-9);
    }

    #[test]
    fn names_in_code_are_also_taken_apart() {
        assert_eq!(search_terms("readFile fs_read"), ["readfile", "read", "file", "fs"]);
        assert_eq!(extra_terms("call openHttpSocket now"), "open http socket");
        assert_eq!(extra_terms("plain words, and HTTP"), "");
    }

    #[test]
    fn scripts_without_spaces_are_found_by_pairs() {
        assert_eq!(search_terms("東京都"), ["東京都", "東京", "京都"]);
        assert_eq!(extra_terms("東京都"), "東京 京都");
    }

    #[test]
    fn no_word_can_end_its_quotes() {
        let query = render_fts5_query(&search_terms("a\"b OR x* (NEAR) -y ^z"), &["s1".to_owned()]);
        assert_eq!(
            query,
            "scope_word : (\"s1\") AND {heading body extra} : (\"b\" OR \"x\" OR \"near\" OR \"y\" OR \"z\")"
        );
        assert!(search_terms(&"word".repeat(100_000)).is_empty());
        let many: String = (0..10_000).map(|number| format!("w{number} ")).collect();
        assert_eq!(search_terms(&many).len(), MAX_TERM_COUNT);
    }
}
