//! Reads which lines of a file are meant: "the last 20 lines", "lines 10 to 20", "head -3".

use super::words::RequestWords;
use crate::amounts::find_numbers;

/// Says which part of a file is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineRange {
    /// This many from the beginning.
    First(i64),
    /// This many from the end.
    Last(i64),
    /// From one line to another, both included.
    Between(i64, i64),
}

const LAST: &[&str] =
    &["last", "tail", "bottom", "final", "newest", "latest", "end", "lst", "letzten", "últimas"];
const FIRST: &[&str] =
    &["first", "head", "top", "beginning", "start", "frist", "opening", "ersten", "primeras"];
const LINES: &[&str] =
    &["line", "lines", "row", "rows", "entry", "entries", "lns", "zeilen", "líneas"];

/// Finds the lines that a request names.
pub fn find_lines(request: &RequestWords<'_>) -> Option<LineRange> {
    let numbers: Vec<i64> = find_numbers(request.text)
        .into_iter()
        .filter(|number| !is_in_a_name(request, number.range.start))
        .map(|number| number.value_for_parameter("limit"))
        .filter(|value| value.fract() == 0.0 && *value >= 0.0 && *value < 1e9)
        .map(whole)
        .collect();
    let says_lines = request.has_any(LINES) || ends_with_count(request);
    let is_last = request.has_any(LAST);
    let is_first = request.has_any(FIRST);
    let between = request.has_any(&["to", "through", "until", "till", "bis", "and", "-"])
        || request.words.iter().any(|word| is_dashed(&word.text));
    if let Some((from, to)) = request.words.iter().find_map(|word| parse_dashed(&word.text))
        && says_lines
    {
        return Some(LineRange::Between(from, to));
    }
    if says_lines
        && !is_last
        && between
        && let [from, to, ..] = numbers.as_slice()
        && from <= to
        && *from > 0
    {
        return Some(LineRange::Between(*from, *to));
    }
    // "the first twelve": the number word "first" counts as one.
    let mut counts = numbers.clone();
    if is_first {
        let said_first = counts.iter().position(|number| *number == 1);
        if counts.len() > 1
            && let Some(at) = said_first
        {
            counts.remove(at);
        }
    }
    let count = counts.first().copied();
    if is_last && (says_lines || request.has_any(&["tail"])) {
        return Some(LineRange::Last(
            count.unwrap_or(if request.has_any(&["line", "entry", "row"]) { 1 } else { 10 }),
        ));
    }
    if is_first && (says_lines || request.has_any(&["head"])) {
        return Some(LineRange::First(count.unwrap_or(if request.has_any(&["head"]) {
            10
        } else {
            1
        })));
    }
    match count {
        Some(line)
            if request.has_any(&["line", "row"])
                && line > 0
                && request.has_phrase(&["line number"])
                || says_single_line(request) =>
        {
            count.map(|line| LineRange::Between(line, line)).filter(|_| line_after_word(request))
        }
        Some(count) if says_lines && count > 0 && request.has_any(&["lines"]) => {
            Some(LineRange::First(count))
        }
        _ => None,
    }
}

/// Tells whether a request ends with a number of what is not named: "and show the last 2".
fn ends_with_count(request: &RequestWords<'_>) -> bool {
    let words: Vec<&str> = request.unquoted().collect();
    matches!(words.as_slice(), [.., place, count]
        if (LAST.contains(place) || FIRST.contains(place)) && count.parse::<i64>().is_ok())
}

/// Tells whether a number directly follows the word "line".
fn line_after_word(request: &RequestWords<'_>) -> bool {
    request
        .words
        .windows(2)
        .any(|pair| pair[0].text == "line" && pair[1].text.parse::<i64>().is_ok())
}

fn says_single_line(request: &RequestWords<'_>) -> bool {
    line_after_word(request)
}

/// Tells whether a place is within the name of a file.
fn is_in_a_name(request: &RequestWords<'_>, at: usize) -> bool {
    request.words.iter().any(|word| {
        word.range.contains(&at)
            && (word.text.contains(['.', '/', '_'])
                || word.text.starts_with(char::is_alphabetic)
                    && word.text.contains(|c: char| c.is_ascii_digit()))
            && word.text.parse::<f64>().is_err()
            && !word.text.starts_with("-n")
    })
}

fn is_dashed(word: &str) -> bool {
    parse_dashed(word).is_some()
}

fn parse_dashed(word: &str) -> Option<(i64, i64)> {
    let (from, to) = word.split_once(['-', '–'])?;
    let (from, to): (i64, i64) = (from.parse().ok()?, to.parse().ok()?);
    (from > 0 && from <= to).then_some((from, to))
}

fn whole(value: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and below a thousand million")]
    {
        value as i64
    }
}

#[cfg(test)]
mod tests;
