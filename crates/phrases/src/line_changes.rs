//! Reads changes of whole lines: "delete the debug line", "get rid of the last line", "add a first line".

use crate::lines::parse_ordinal;
use crate::words::RequestWords;

/// Says which line is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinePlace {
    /// The first one.
    First,
    /// The last one.
    Last,
    /// The one with this number, from 1.
    Number(i64),
    /// The one that has these words.
    With(String),
}

const LINES: &[&str] = &["line", "row", "entry", "paragraph", "bullet", "lines"];
const REMOVES: &[&str] = &[
    "remove", "delete", "drop", "strip", "rm", "erase", "kill", "cut", "lose", "scrap", "discard",
    "removed", "deleted", "gone",
];
/// Words before "line" that do not say which one.
#[rustfmt::skip]
const NO_PLACES: &[&str] = &[
    "the", "this", "that", "a", "an", "whole", "entire", "one", "each", "every", "blank", "empty",
    "new", "single", "my", "in", "of", "very", "command", "dead", "bottom", "top", "all", "two",
    "three", "no", "to",
];
/// Words between "line" and what is in it.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "about", "with", "containing", "mentioning", "saying", "says", "for", "that", "which", "reading",
    "contains", "mentions", "has", "on", "regarding", "starting", "beginning",
];
/// Words before the name of a file.
const PLACES: &[&str] = &["in", "from", "of", "out", "inside", "at", "please", "entirely", "pls"];

/// Tells whether a request wants something to be gone.
pub fn asks_to_remove(request: &RequestWords<'_>) -> bool {
    let takes_out = request.has_any(&["take", "throw", "get"])
        && request.has_any(&["out", "rid", "away", "off"]);
    request.has_any(REMOVES) || takes_out
}

/// Returns the line that a request wants to be gone.
pub fn find_removed_line(request: &RequestWords<'_>) -> Option<LinePlace> {
    if !asks_to_remove(request) {
        return None;
    }
    if let Some(about) = everything_about(request) {
        return Some(LinePlace::With(about));
    }
    let words = &request.words;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let at = (0..words.len()).find(|at| LINES.contains(&text(*at)) && !words[*at].is_quoted)?;
    let before = at.checked_sub(1).map_or("", &text);
    let place = match before {
        "first" | "top" | "opening" => return Some(LinePlace::First),
        "last" | "final" | "bottom" => return Some(LinePlace::Last),
        before => before,
    };
    if let Some(number) = parse_ordinal(place).or_else(|| text(at + 1).parse().ok()) {
        return (number > 0).then_some(LinePlace::Number(number));
    }
    // "the line about rope", "the line that says hello"
    if ABOUT.contains(&text(at + 1)) {
        let from = (at + 1..words.len()).find(|at| {
            words[*at].is_quoted
                || !ABOUT.contains(&text(*at)) && !matches!(text(*at), "the" | "is")
        })?;
        return with_words(request, from);
    }
    if words.get(at + 1).is_some_and(|word| word.is_quoted) {
        return with_words(request, at + 1);
    }
    // "the debug line", "the 'log level' line"
    let first =
        (0..at).rev().take_while(|at| words[*at].is_quoted || !is_limit(text(*at))).last()?;
    let said = &request.text[words[first].range.start..words[at - 1].range.end];
    Some(LinePlace::With(said.trim_matches(['"', '\'', '`']).to_owned()))
}

fn is_limit(word: &str) -> bool {
    NO_PLACES.contains(&word) || REMOVES.contains(&word) || matches!(word, "take" | "rid" | "out")
}

/// Returns what "everything about rope" is about.
fn everything_about(request: &RequestWords<'_>) -> Option<String> {
    let words = &request.words;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let at = (0..words.len()).find(|at| {
        matches!(
            text(*at),
            "everything" | "anything" | "all" | "mention" | "mentions" | "bit" | "part"
        ) && matches!(text(at + 1), "about" | "mentioning" | "regarding" | "of")
    })?;
    let place = with_words(request, at + 2)?;
    let LinePlace::With(words) = place else { return None };
    Some(words)
}

/// Returns the words from here to the name of a file.
fn with_words(request: &RequestWords<'_>, from: usize) -> Option<LinePlace> {
    let words = &request.words;
    let first = words.get(from)?;
    if first.is_quoted
        && let Some(quotation) = request.quotations.iter().find(|q| q.contains(&first.range.start))
    {
        return Some(LinePlace::With(request.text[quotation.clone()].to_owned()));
    }
    let end = (from..words.len())
        .find(|at| PLACES.contains(&words[*at].text.as_str()))
        .unwrap_or(words.len());
    let said = (from < end).then(|| &request.text[first.range.start..words[end - 1].range.end])?;
    let said = said.strip_prefix("the ").unwrap_or(said);
    Some(LinePlace::With(said.to_owned()))
}

/// Returns the line by its place: "line 2", "the second line", "the last line".
fn numbered_line(request: &RequestWords<'_>, from: usize) -> Option<(LinePlace, usize)> {
    let words = &request.words;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let at = (from..words.len())
        .find(|at| matches!(text(*at), "line" | "row" | "entry") && !words[*at].is_quoted)?;
    if let Ok(number) = text(at + 1).parse() {
        return (number > 0).then_some((LinePlace::Number(number), at + 2));
    }
    let place = match text(at.checked_sub(1)?) {
        "last" | "final" | "bottom" => LinePlace::Last,
        "top" => LinePlace::First,
        before => LinePlace::Number(parse_ordinal(before)?),
    };
    Some((place, at + 1))
}

/// Returns the line before or after which a request adds something; true if it is before it.
pub fn find_insertion(request: &RequestWords<'_>) -> Option<(bool, LinePlace)> {
    let adds = request.has_any(&["add", "insert", "put", "write", "stick", "place", "adding"]);
    let at = request.words.iter().position(|word| {
        !word.is_quoted
            && matches!(word.text.as_str(), "after" | "below" | "under" | "before" | "above")
    })?;
    let is_before = matches!(request.words[at].text.as_str(), "before" | "above");
    let (place, end) = numbered_line(request, at)?;
    // "after that add a line 2 …" is about something else.
    (adds && end <= at + 5).then_some((is_before, place))
}

/// Returns the line that a request replaces, and what stands there instead.
pub fn find_replaced_line<'t>(request: &RequestWords<'t>) -> Option<(LinePlace, &'t str)> {
    let verb = request.words.iter().position(|word| {
        !word.is_quoted
            && matches!(word.text.as_str(), "replace" | "change" | "rewrite" | "set" | "edit")
    })?;
    let (place, end) = numbered_line(request, verb)?;
    let words = &request.words;
    let joint = (end..words.len()).find(|at| {
        !words[*at].is_quoted && matches!(words[*at].text.as_str(), "with" | "to" | "by" | "into")
    })?;
    let from = words[joint].range.end;
    let new = request.text[from..].trim().trim_matches(['"', '`', '“', '”']);
    let new = new.strip_prefix("read ").or_else(|| new.strip_prefix("say ")).unwrap_or(new);
    (!new.is_empty()).then_some((place, new))
}

/// Tells whether a request wants something to be added at the beginning of a file.
pub fn adds_at_beginning(request: &RequestWords<'_>) -> bool {
    const PHRASES: &[&str] = &[
        "at the top",
        "at the beginning",
        "at the start",
        "at the very top",
        "at the very beginning",
        "at the very start",
        "to the top",
        "to the beginning",
        "to the start",
        "on top",
        "on the top",
        "as first line",
        "as the first line",
        "very first line",
        "a first line",
        "as the top line",
        "as line 1",
        "before everything",
        "above everything",
        "in the first line",
        "as the very first",
        "the first line of",
        "new first line",
        "at top",
    ];
    let adds = request.has_any(&[
        "add", "insert", "put", "prepend", "write", "needs", "need", "stick", "place", "include",
        "adding", "have", "want", "should",
    ]);
    adds && (request.has_phrase(PHRASES) || request.has_any(&["prepend"]))
}

/// Returns the text after words such as "saying", or in quotation marks.
pub fn added_text<'t>(request: &RequestWords<'t>) -> Option<&'t str> {
    if let [quotation] = request.quotations.as_slice() {
        return Some(&request.text[quotation.clone()]);
    }
    let words = &request.words;
    let at = words.iter().position(|word| {
        !word.is_quoted && matches!(word.text.as_str(), "saying" | "says" | "reading" | "reads")
    });
    let from = match at {
        Some(at) => words.get(at + 1)?.range.start,
        None => request.text.find(": ").map(|at| at + 2)?,
    };
    let text = request.text[from..].trim();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
