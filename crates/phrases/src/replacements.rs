//! Reads what is to be replaced by what: "swap every foo for baz", "use tea instead of coffee".

use std::ops::Range;

use crate::words::RequestWords;

/// Verbs before what is replaced, with the words before what replaces it.
const FORMS: &[(&[&str], &[&str])] = &[
    (&["swap", "exchange"], &["for", "with", "by", "to"]),
    (&["replace", "switch"], &["with", "by", "to", "for"]),
    (&["change", "turn", "convert"], &["to", "into"]),
];
/// Words before what is replaced that are no part of it.
#[rustfmt::skip]
const BEFORE: &[&str] = &[
    "every", "all", "each", "any", "the", "word", "words", "occurrence", "occurrences", "of", "text",
    "instance", "instances", "both",
];
/// Words after what replaces it.
#[rustfmt::skip]
const AFTER: &[&str] = &[
    "in", "within", "inside", "please", "pls", "plz", "everywhere", "throughout", "there", "thanks",
    "across", "would", "now", "and", "then", "too", "instead", "for",
];

/// Words before what replaces something else: "make it say tea instead of coffee".
#[rustfmt::skip]
const BEFORE_NEW: &[&str] = &[
    "use", "say", "write", "put", "be", "says", "read", "to", "have", "is", "with", "print", "show",
    "return", "output", "display", "log",
];

/// Returns the places of what is replaced and of what replaces it.
pub fn find_replacement(request: &RequestWords<'_>) -> Option<(Range<usize>, Range<usize>)> {
    let words = &request.words;
    let is = |at: usize, known: &[&str]| {
        words.get(at).is_some_and(|word| !word.is_quoted && known.contains(&word.text.as_str()))
    };
    let span = |from: usize, to: usize| words[from].range.start..words[to - 1].range.end;
    for (verbs, joints) in FORMS {
        let Some(verb) = (0..words.len()).find(|at| is(*at, verbs)) else { continue };
        let from = (verb + 1..words.len()).find(|at| !is(*at, BEFORE))?;
        let joint = (from + 1..words.len()).find(|at| is(*at, joints))?;
        let end = (joint + 2..words.len()).find(|at| is(*at, AFTER)).unwrap_or(words.len());
        // "swap foo in a.txt for bar"
        let old_end =
            (from + 1..joint).find(|at| is(*at, &["in", "inside", "within"])).unwrap_or(joint);
        return (joint + 1 < end).then(|| (span(from, old_end), span(joint + 1, end)));
    }
    // "use tea instead of coffee", "tea rather than coffee"
    let joint = (1..words.len().saturating_sub(1)).find(|at| {
        is(*at, &["instead"]) && is(at + 1, &["of"])
            || is(*at, &["rather"]) && is(at + 1, &["than"])
    })?;
    let from = joint + 2;
    let end = (from + 1..words.len()).find(|at| is(*at, AFTER)).unwrap_or(words.len());
    let start = (0..joint).rev().find(|at| is(*at, BEFORE_NEW))? + 1;
    (from < end && start < joint).then(|| (span(from, end), span(start, joint)))
}

/// Returns two values of the same shape, such as two times or two versions, in their order.
pub fn find_alike_values(request: &RequestWords<'_>) -> Option<(Range<usize>, Range<usize>)> {
    let values: Vec<&Range<usize>> = request
        .words
        .iter()
        .map(|word| &word.range)
        .filter(|range| request.text[(*range).clone()].chars().any(|c| c.is_ascii_digit()))
        .collect();
    let [one, other] = values.as_slice() else { return None };
    let shape = |range: &Range<usize>| shape_of(&request.text[range.clone()]);
    (shape(one) == shape(other)).then(|| ((*one).clone(), (*other).clone()))
}

/// Returns a value with every run of digits as one `9` and of letters as one `a`.
pub fn shape_of(value: &str) -> String {
    let mut shape = String::new();
    for c in value.chars() {
        let kind = match c {
            c if c.is_ascii_digit() => '9',
            c if c.is_alphabetic() => 'a',
            other => other,
        };
        if !shape.ends_with(kind) {
            shape.push(kind);
        }
    }
    shape
}

/// Returns the places where a text occurs and is no part of a longer number or word.
pub fn whole_occurrences(content: &str, wanted: &str) -> Vec<usize> {
    let joins = |a: Option<char>, b: Option<char>| match (a, b) {
        (Some(a), Some(b)) => {
            a.is_ascii_digit() && b.is_ascii_digit() || a.is_alphabetic() && b.is_alphabetic()
        }
        _ => false,
    };
    if wanted.is_empty() {
        return Vec::new();
    }
    content
        .match_indices(wanted)
        .filter(|(at, _)| {
            let before = content[..*at].chars().next_back();
            let after = content[at + wanted.len()..].chars().next();
            !joins(before, wanted.chars().next()) && !joins(wanted.chars().next_back(), after)
        })
        .map(|(at, _)| at)
        .collect()
}

/// Returns a text as the content has it, in other letters.
pub fn find_ignoring_case(content: &str, wanted: &str) -> Option<String> {
    let (lower, wanted) = (content.to_lowercase(), wanted.to_lowercase());
    if lower.len() != content.len() || wanted.is_empty() {
        return None;
    }
    let at = lower.find(&wanted)?;
    content.get(at..at + wanted.len()).map(str::to_owned)
}

/// Tells whether a text begins or ends with a digit, so that it may be a part of a longer number.
pub fn is_number_edge(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) || text.ends_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
