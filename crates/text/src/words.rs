//! Compares texts by the words that say what they are about. It is crude, but the same for both
//! sides of every comparison.

use std::collections::BTreeSet;

/// Lists English words that say nothing about a subject, and what is left of contractions.
const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "all", "also", "always", "am", "an", "and", "any",
    "are", "as", "at", "be", "because", "been", "before", "being", "but", "by", "can", "could",
    "d", "did", "do", "does", "doing", "done", "down", "each", "few", "for", "from", "get", "got",
    "had", "has", "have", "having", "he", "her", "here", "him", "his", "how", "i", "if", "in",
    "into", "is", "it", "its", "just", "know", "let", "ll", "m", "me", "more", "most", "much",
    "my", "no", "nor", "not", "now", "of", "off", "on", "one", "only", "or", "other", "our", "out",
    "over", "own", "please", "re", "s", "said", "same", "say", "says", "she", "should", "so",
    "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "too", "under", "until", "up", "us", "use", "uses", "using", "ve",
    "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "why",
    "will", "with", "would", "yes", "you", "your", "yours",
];

/// Returns the runs of letters and digits, in lower case.
pub fn split_words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Tells whether a word, in lower case, says nothing about a subject.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Returns a word, in lower case, without the endings that change with the grammar.
pub fn stem_word(word: &str) -> String {
    if word.chars().any(|character| character.is_ascii_digit()) || word.chars().count() < 4 {
        return word.to_owned();
    }
    for ending in ["ies", "ing", "ed", "es", "s", "ly"] {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.chars().count() >= 3
            && !(ending == "s" && rest.ends_with('s'))
        {
            let rest = if ending == "ies" { format!("{rest}y") } else { rest.to_owned() };
            return rest.strip_suffix('e').map_or(rest.clone(), str::to_owned);
        }
    }
    word.strip_suffix('e').unwrap_or(word).to_owned()
}

/// Returns the stems of a text's words without stop words, and without some more of the caller's.
pub fn significant_words(text: &str, more_stop_words: &[&str]) -> BTreeSet<String> {
    split_words(text)
        .filter(|word| !is_stop_word(word) && !more_stop_words.contains(&word.as_str()))
        .map(|word| stem_word(&word))
        .collect()
}

/// Returns the share of `part` that is in `whole`, from 0 to 1.
pub fn word_coverage(part: &BTreeSet<String>, whole: &BTreeSet<String>) -> f64 {
    divide_counts(part.intersection(whole).count(), part.len())
}

/// Returns the share of all words that two texts have in common, from 0 to 1.
pub fn jaccard_similarity(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let shared = one.intersection(other).count();
    divide_counts(shared, one.len() + other.len() - shared)
}

/// Divides two counts of words; the share of nothing is 0.
fn divide_counts(part: usize, whole: usize) -> f64 {
    // Counts of words are far below what an f64 holds exactly.
    let real = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    real(part) / real(whole.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> BTreeSet<String> {
        significant_words(text, &["known"])
    }

    #[test]
    fn stop_words_are_in_order_and_found() {
        assert!(STOP_WORDS.is_sorted(), "they are searched by halves");
        assert!(is_stop_word("the") && is_stop_word("a") && is_stop_word("yours"));
        assert!(!is_stop_word("server"));
        assert!(stems("It's known, and we're what you'd say").is_empty());
    }

    #[test]
    fn a_word_has_one_stem_in_all_its_forms() {
        for forms in [
            ["deploy", "deploys", "deployed"],
            ["query", "queries", "query"],
            ["process", "processes", "processing"],
            ["stage", "staging", "staged"],
        ] {
            assert!(forms.iter().all(|form| stem_word(form) == stem_word(forms[0])), "{forms:?}");
        }
        assert_eq!(stem_word("v2s"), "v2s");
        assert_eq!(stem_word("bus"), "bus");
    }

    #[test]
    fn texts_are_compared_by_their_stems() {
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(near(
            jaccard_similarity(&stems("deploying the servers"), &stems("deploy a server")),
            1.0
        ));
        assert!(near(jaccard_similarity(&stems("the moon"), &stems("a server")), 0.0));
        assert!(near(word_coverage(&stems("staging database"), &stems("a staging server")), 0.5));
        assert!(near(word_coverage(&stems(""), &stems("server")), 0.0));
        assert!(near(jaccard_similarity(&stems(""), &stems("")), 0.0));
    }
}
