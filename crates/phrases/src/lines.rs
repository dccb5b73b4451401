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
    /// This line and all after it.
    From(i64),
}

/// Returns the number that an ordinal word says: "2nd", "second".
pub fn parse_ordinal(word: &str) -> Option<i64> {
    const WORDS: [&str; 12] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth", "eleventh", "twelfth",
    ];
    if let Some(at) = WORDS.iter().position(|known| *known == word) {
        return i64::try_from(at + 1).ok();
    }
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &word[digits.len()..];
    let number: i64 = digits.parse().ok()?;
    (matches!(ending, "st" | "nd" | "rd" | "th") && number > 0).then_some(number)
}

/// Returns the line that an ordinal names: "the 2nd line", "the third and fourth rows".
fn find_ordinal_line(request: &RequestWords<'_>) -> Option<LineRange> {
    let words: Vec<&str> = request.unquoted().collect();
    let at = words.iter().position(|word| LINES.contains(word))?;
    let last = parse_ordinal(words.get(at.checked_sub(1)?)?)?;
    let joint = at.checked_sub(2).map(|at| words[at]);
    let first = at.checked_sub(3).and_then(|at| parse_ordinal(words[at]));
    match (first, joint) {
        (Some(first), Some("and" | "to" | "&" | "through")) if first < last => {
            Some(LineRange::Between(first, last))
        }
        // "The second to last line" is counted from the end, and "the first line" is the first of all.
        _ if last > 1 => Some(LineRange::Between(last, last)),
        _ => None,
    }
}

/// Returns the lines of "from line 120, give me forty lines", "lines from 200 on, 40 lines".
fn find_lines_from(request: &RequestWords<'_>) -> Option<LineRange> {
    let words: Vec<&str> = request.unquoted().collect();
    let from = words.iter().enumerate().find_map(|(at, word)| {
        if *word != "from" && *word != "starting" {
            return None;
        }
        let rest = &words[at + 1..];
        let (skipped, number) = match rest {
            ["line" | "row", number, ..] => (2, number),
            ["at" | "from", "line", number, ..] => (3, number),
            [number, ..] if words[..at].iter().any(|word| LINES.contains(word)) => (1, number),
            _ => return None,
        };
        let after = rest.get(skipped).copied().unwrap_or_default();
        let ends = matches!(after, "to" | "until" | "till" | "through" | "-" | "and");
        number.parse::<i64>().ok().filter(|number| *number > 0 && !ends)
    })?;
    let numbers = find_numbers(request.text);
    let count = numbers.iter().find_map(|number| {
        let after = request.text[number.range.end..].trim_start().to_lowercase();
        let value = number.value_for_parameter("limit");
        let counts = ["lines", "rows", "entries"].iter().any(|word| after.starts_with(word));
        (counts && value.fract() == 0.0 && (1.0..1e9).contains(&value)).then(|| whole(value))
    });
    Some(match count {
        Some(count) => LineRange::Between(from, from + count - 1),
        None => LineRange::From(from),
    })
}

const LAST: &[&str] =
    &["last", "tail", "bottom", "final", "newest", "latest", "end", "lst", "letzten", "últimas"];
const FIRST: &[&str] =
    &["first", "head", "top", "beginning", "start", "frist", "opening", "ersten", "primeras"];
const LINES: &[&str] =
    &["line", "lines", "row", "rows", "entry", "entries", "lns", "zeilen", "líneas"];

/// Finds the lines that a request names.
pub fn find_lines(request: &RequestWords<'_>) -> Option<LineRange> {
    if let Some(range) = find_lines_from(request).or_else(|| find_ordinal_line(request)) {
        return Some(range);
    }
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

/// Words that want each item of a list on a line of its own.
const ON_LINES: &[&str] = &[
    "one on each line",
    "one per line",
    "one a line",
    "one to a line",
    "each on its own line",
    "each on a line",
    "each on a new line",
    "each on a separate line",
    "each in its own line",
    "on separate lines",
    "on their own lines",
    "a line each",
    "one line each",
];

/// Returns the items of a list, each on a line, where a request wants them so: "milk, bread and teabags in,
/// one on each line". A content that was read too far ends with the list.
pub fn put_items_on_lines(text: &str, content: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    if !ON_LINES.iter().any(|words| lower.contains(words)) {
        return None;
    }
    let spoken = content.to_ascii_lowercase();
    let end = ON_LINES.iter().filter_map(|words| spoken.find(words)).min();
    let end = end.unwrap_or(content.len());
    let list = content[..end].trim_end_matches([' ', ',', ':', '(', '-', ';']);
    let list = list.strip_suffix(" in").or_else(|| list.strip_suffix(" in it")).unwrap_or(list);
    let (others, final_item) = list.rsplit_once(" and ").unwrap_or((list, ""));
    let items =
        others.split(',').chain([final_item]).map(str::trim).filter(|item| !item.is_empty());
    let items: Vec<&str> = items.collect();
    (items.len() > 1).then(|| items.join("\n"))
}

#[cfg(test)]
mod tests;
