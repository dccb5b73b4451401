//! Compares names as people type them: patterns, extensions, words, typing errors.

use std::borrow::Cow;

/// Compares a text with a pattern: `*` is any text within a part of a path, `?` one character.
pub fn matches_wildcards(pattern: &str, text: &str) -> bool {
    let mut characters = pattern.chars();
    match characters.next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = characters.as_str();
            let (rest, deep) = match rest.strip_prefix('*') {
                Some(rest) => (rest.strip_prefix('/').unwrap_or(rest), true),
                None => (rest, false),
            };
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.take_while(|end| deep || !text[..*end].contains('/'))
                .any(|end| matches_wildcards(rest, &text[end..]))
        }
        Some('?') => {
            let mut rest = text.chars();
            rest.next().is_some_and(|c| c != '/')
                && matches_wildcards(characters.as_str(), rest.as_str())
        }
        Some(c) => {
            text.strip_prefix(c).is_some_and(|rest| matches_wildcards(characters.as_str(), rest))
        }
    }
}

/// Returns a name without its extension. A name that begins with a dot has none.
pub fn strip_extension(name: &str) -> &str {
    let at = name.rfind('.').filter(|at| *at > 0 && !name[..*at].ends_with('/'));
    match at {
        Some(at)
            if (1..=5).contains(&(name.len() - at - 1))
                && name[at + 1..].chars().all(char::is_alphanumeric) =>
        {
            &name[..at]
        }
        _ => name,
    }
}

/// Splits a name into its words, in lower case.
pub fn split_name(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns a word without the ending of the plural.
pub fn singular(word: &str) -> String {
    let long = word.chars().count() > 3;
    match word.strip_suffix('s') {
        Some(rest) if long && !rest.ends_with('s') => rest.to_owned(),
        _ => word.to_owned(),
    }
}

/// Returns how many letters were typed wrongly, left out, added or swapped; `limit` at most.
pub fn typing_distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) >= limit {
        return limit;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(limit).min(limit)
}

/// Returns the numbers in a name, without zeros before them. "2nd" counts, and is none.
pub fn numbers_in_name(name: &str) -> Vec<String> {
    let mut numbers = Vec::new();
    for word in name.split(|c: char| !c.is_alphanumeric()) {
        if is_ordinal(word) {
            continue;
        }
        let runs = word.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
        numbers.extend(runs.map(|run| run.trim_start_matches('0').to_owned()));
    }
    numbers
}

fn is_ordinal(word: &str) -> bool {
    let stem = word.trim_start_matches(|c: char| c.is_ascii_digit());
    stem.len() < word.len() && matches!(stem, "st" | "nd" | "rd" | "th")
}

/// Tells whether two names have different numbers: no typing error, but something else.
pub fn differ_in_numbers(a: &str, b: &str) -> bool {
    numbers_in_name(a) != numbers_in_name(b)
}

/// Tells whether two names differ in their numbers alone: one of them may be meant by mistake.
pub fn differ_only_in_numbers(a: &str, b: &str) -> bool {
    let letters = |name: &str| -> String {
        name.to_lowercase().chars().filter(|c| c.is_alphabetic()).collect()
    };
    differ_in_numbers(a, b) && letters(a) == letters(b)
}

/// Verbs of orders that are long enough to be known when a letter is wrong.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "change", "delete", "remove", "rename", "replace", "create", "append", "insert", "update",
    "search", "remember", "remind", "overwrite", "duplicate", "schedule", "display", "execute",
    "forget", "encrypt", "download", "show", "open", "move", "copy", "list", "find",
];

/// Words that are one letter from such a verb, and are words themselves.
#[rustfmt::skip]
const OTHER_WORDS: &[&str] = &[
    "charge", "chance", "changed", "changes", "deleted", "deletes", "removed", "removes",
    "remover", "renamed", "renames", "replaced", "replaces", "created", "creates", "crate",
    "cream", "crease", "appends", "inserts", "updates", "updated", "reminds", "remains", "remake",
    "remained", "related", "relate", "elate", "displays", "executed", "executes", "forgets",
    "forgot", "forged", "encrypts", "downloads", "scheduled", "schedules", "scheduler",
    "duplicated", "duplicates", "remembers", "removal", "searches", "inset", "inserted", "remix",
];

/// Words before the verb of an order.
#[rustfmt::skip]
const BEFORE_VERB: &[&str] = &[
    "please", "pls", "plz", "can", "could", "would", "will", "you", "u", "now", "then", "and",
    "ok", "okay", "hey", "hi", "just", "kindly", "also", "so", "i", "want", "need", "to", "lets",
    "let's", "go", "ahead", "maybe", "pleas", "lango",
];

/// Returns a request whose first verb has no typing error: "chnage the port" is "change the port".
pub fn correct_first_verb(text: &str) -> Cow<'_, str> {
    let mut at = 0;
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end();
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_lowercase();
        if bare.is_empty() || BEFORE_VERB.contains(&bare.as_str()) {
            at += part.len();
            continue;
        }
        let is_word = word.chars().all(char::is_alphabetic);
        let verb = VERBS.iter().find(|verb| is_word && is_misspelling(&bare, verb));
        return match verb {
            Some(verb) => Cow::Owned(format!("{}{verb}{}", &text[..at], &text[at + word.len()..])),
            None => Cow::Borrowed(text),
        };
    }
    Cow::Borrowed(text)
}

fn is_misspelling(word: &str, verb: &str) -> bool {
    // In a short word only two letters that are swapped are surely an error.
    if verb.len() == 4 {
        let sorted = |word: &str| {
            let mut letters: Vec<char> = word.chars().collect();
            letters.sort_unstable();
            letters
        };
        return word != verb
            && word.chars().next() == verb.chars().next()
            && sorted(word) == sorted(verb)
            && typing_distance(word, verb, 2) == 1;
    }
    word != verb
        && word.len() >= 5
        && word.chars().next() == verb.chars().next()
        && !OTHER_WORDS.contains(&word)
        && typing_distance(word, verb, 2) == 1
}

#[cfg(test)]
mod tests;
