//! Repeats the call before: again, with another number, or its results counted.

use lango_model::EarlierCall;

use super::follow_up::parse_arguments;
use super::lines::{LineRange, find_lines};
use super::words::RequestWords;
use super::{PlannedCall, RequestReading, known_tool};
use crate::amounts::find_numbers;
use crate::arguments::Argument;

/// Changes the number of a call: "make that 10", "no, the last 5".
pub(super) fn change_number(
    request: &RequestWords<'_>,
    last: &EarlierCall,
) -> Option<RequestReading> {
    let tool = known_tool(&last.tool)?;
    let words: Vec<&str> = request.unquoted().collect();
    if words.len() > 6 || super::evidence::class_of_tool(tool).is_some() {
        return None;
    }
    let numbers = find_numbers(request.text);
    let [number] = numbers.as_slice() else { return None };
    let value = number.value_for_parameter("limit");
    if value.fract() != 0.0 || !(1.0..1e6).contains(&value) {
        return None;
    }
    let all_small = words.iter().all(|word| {
        matches!(
            *word,
            "make"
                | "that"
                | "it"
                | "no"
                | "the"
                | "last"
                | "first"
                | "lines"
                | "line"
                | "only"
                | "just"
                | "top"
                | "ok"
                | "now"
                | "show"
                | "me"
                | "actually"
                | "instead"
                | "please"
                | "and"
                | "rather"
                | "give"
                | "i"
                | "meant"
                | "want"
                | "more"
                | "then"
        ) || word.parse::<f64>().is_ok()
            || find_numbers(word).len() == 1
    });
    if !all_small {
        return None;
    }
    let mut call =
        PlannedCall { tool: tool.to_owned(), arguments: parse_arguments(&last.arguments) };
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and below a million")]
    let value = Argument::Integer(value as i64);
    let name = if request.has_any(&["last"]) && tool == "fs_read" {
        "last"
    } else {
        ["last", "limit"]
            .into_iter()
            .find(|name| call.arguments.contains_key(*name))
            .unwrap_or("limit")
    };
    if !matches!(tool, "fs_read" | "fs_find") {
        return None;
    }
    if name == "last" {
        call.arguments.remove("limit");
        call.arguments.remove("offset");
    }
    Some(RequestReading::call(call.with(name, value)))
}

/// Shows other lines of the file before: "2 to 7, sorry", "tail instead".
pub(super) fn change_lines(
    request: &RequestWords<'_>,
    last: &EarlierCall,
) -> Option<RequestReading> {
    if last.tool != "fs_read" || request.words.len() > 6 {
        return None;
    }
    let mut call =
        PlannedCall { tool: last.tool.clone(), arguments: parse_arguments(&last.arguments) };
    let lines = format!("lines {}", request.text);
    let is_range = request.words.iter().all(|word| {
        matches!(
            word.text.as_str(),
            "lines"
                | "line"
                | "to"
                | "-"
                | "sorry"
                | "no"
                | "i"
                | "meant"
                | "make"
                | "it"
                | "that"
                | "actually"
                | "through"
                | "until"
                | "please"
                | "wait"
                | "instead"
                | "rather"
        ) || word.text.chars().all(|c| c.is_ascii_digit() || c == '-' || c == '–')
    });
    if let Some(LineRange::Between(from, to)) = find_lines(&RequestWords::of(&lines))
        && is_range
    {
        call.arguments.remove("last");
        return Some(RequestReading::call(
            call.with("offset", Argument::Integer(from))
                .with("limit", Argument::Integer(to - from + 1)),
        ));
    }
    let switches = request.has_any(&["instead", "now", "rather"]) || request.words.len() <= 2;
    let count = ["limit", "last"].iter().find_map(|name| call.arguments.remove(*name))?;
    let name = if request.has_any(&["tail", "bottom", "end", "last"]) {
        "last"
    } else if request.has_any(&["head", "top", "beginning", "first", "start"]) {
        "limit"
    } else {
        return None;
    };
    call.arguments.remove("offset");
    let has_number = !find_numbers(request.text).is_empty();
    (switches && !has_number).then(|| RequestReading::call(call.with(name, count)))
}

/// Texts that ask for the same once more.
const AGAIN: &[&str] = &[
    "again",
    "once more",
    "repeat",
    "rerun",
    "redo",
    "one more time",
    "do it again",
    "run it again",
    "repeat that",
];

/// Repeats a call that changes nothing, or shows the lines after those that were shown.
pub(super) fn repeat_again(
    request: &RequestWords<'_>,
    last: &EarlierCall,
) -> Option<RequestReading> {
    let words: Vec<&str> = request
        .unquoted()
        .filter(|word| {
            !matches!(
                *word,
                "please" | "pls" | "ok" | "and" | "the" | "show" | "me" | "lines" | "line"
            )
        })
        .collect();
    let tool = known_tool(&last.tool)?;
    let mut call =
        PlannedCall { tool: tool.to_owned(), arguments: parse_arguments(&last.arguments) };
    match words.as_slice() {
        words
            if AGAIN.contains(&words.join(" ").as_str())
                && super::evidence::class_of_tool(tool).is_none() =>
        {
            Some(RequestReading::call(call))
        }
        ["next", rest @ ..] if tool == "fs_read" && rest.len() <= 1 => {
            let integer = |name: &str| match call.arguments.get(name) {
                Some(Argument::Integer(value)) => Some(*value),
                _ => None,
            };
            let shown = integer("limit")?;
            let next = integer("offset").unwrap_or(1) + shown;
            let count = rest.first().and_then(|word| word.parse().ok()).unwrap_or(shown);
            call = call
                .with("offset", Argument::Integer(next))
                .with("limit", Argument::Integer(count));
            Some(RequestReading::call(call))
        }
        _ => None,
    }
}

/// Answers "how many is that".
pub(super) fn count_results(
    request: &RequestWords<'_>,
    last: &EarlierCall,
) -> Option<RequestReading> {
    let asks = request.has_phrase(&[
        "how many is that",
        "how many are that",
        "how many are there",
        "how many are those",
        "how many was that",
        "how many were that",
        "how many in total",
        "how many is it",
        "how many are they",
        "how many files is that",
        "so how many",
    ]);
    let count = last.files.len();
    (asks && request.words.len() <= 7 && count > 0)
        .then(|| RequestReading::Say(lango_text::plural(count, "entry", "entries") + "."))
}
