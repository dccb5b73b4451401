//! Files that were looked at.

use lango_model::AnsweredCall;
use lango_tool::visible_short;
use serde::Deserialize;

use super::answer::{Answer, code, count};
use super::deed::given;

/// What most of these take.
#[derive(Deserialize)]
pub(super) struct Path {
    path: String,
}

/// The path as the tools write it.
pub(super) fn path(call: &AnsweredCall) -> Option<String> {
    given(call).map(|Path { path }| visible_short(&path))
}

/// What a listing takes: without a path it is of the workspace.
#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    path: Option<String>,
}

/// `fs_list`.
pub(super) fn listed(call: &AnsweredCall) -> Option<Answer> {
    let Place { path } = given(call)?;
    let path = visible_short(path.as_deref().unwrap_or("."));
    let rest = call.result.strip_prefix(path.as_str())?.strip_prefix(": ")?;
    let (head, lines) = rest.split_once('\n').unwrap_or((rest, ""));
    let (number, more) = head.split_once(" entries")?;
    let number: usize = number.parse().ok()?;
    let place = if path == "." { "the workspace".to_owned() } else { code(&path) };
    if number == 0 {
        return more.is_empty().then(|| Answer::new(format!("There is nothing in {place}.")));
    }
    let entries = count(number, "entry", "entries");
    let answer = match more {
        "" => Answer::new(format!("{entries} in {place}:")),
        more if more.starts_with(" shown, there are more") => {
            Answer::new(format!("The first {entries} in {place}; there are more:"))
        }
        _ => return None,
    };
    let lines: Vec<String> = lines.lines().map(entry).collect();
    Some(answer.lines(lines.join("\n")))
}

/// One line of a listing: kind, size, time and name.
fn entry(line: &str) -> String {
    let Some((kind, rest)) = line.split_once(' ') else { return line.to_owned() };
    let (kind, rest) = match (kind, rest.trim_start()) {
        ("special", rest) => {
            ("special file", rest.strip_prefix("file").unwrap_or(rest).trim_start())
        }
        known => known,
    };
    let mut parts = rest.splitn(3, ' ');
    let (Some(size), Some(_), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
        // Where the runtime cut a long listing.
        return line.to_owned();
    };
    let name = code(name);
    match kind {
        "file" if size == "1" => format!("- {name}, 1 byte"),
        "file" => format!("- {name}, {size} bytes"),
        "directory" => format!("- {name}"),
        kind => format!("- {name} ({kind})"),
    }
}

/// `fs_read`.
pub(super) fn read(call: &AnsweredCall) -> Option<Answer> {
    let path = path(call)?;
    let rest = call.result.strip_prefix(path.as_str())?.strip_prefix(": ")?;
    let name = code(&path);
    if rest == "empty file" {
        return Some(Answer::new(format!("{name} is empty.")));
    }
    if let Some(what) = rest.strip_suffix(", not shown because it is not text") {
        return Some(Answer::new(format!("{name} is not text: {what}.")));
    }
    let (range, text) = rest.strip_prefix("lines ")?.split_once('\n')?;
    let (lines, extra) = range.split_once(", ").unwrap_or((range, ""));
    let (numbers, total) = lines.split_once(" of ").unwrap_or((lines, ""));
    let (first, last) = numbers.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let total: Option<u64> = total.parse().ok();
    let lead = match total {
        Some(1) => format!("{name} (1 line):"),
        Some(total) if first == 1 && last == total => format!("{name} ({total} lines):"),
        Some(total) => format!("{name}, lines {first} to {last} of {total}:"),
        None => format!("{name}, lines {first} to {last}; more follow:"),
    };
    let answer = if text.trim_matches('\n').is_empty() {
        Answer::new(format!("{lead} only empty lines."))
    } else {
        Answer::new(lead).fenced(text)
    };
    let replaced = extra.contains("not UTF-8");
    Some(if replaced {
        answer.note("It is not UTF-8: some bytes are shown as �.")
    } else {
        answer
    })
}

#[derive(Deserialize)]
struct Search {
    pattern: String,
}

/// `fs_search`.
pub(super) fn searched(call: &AnsweredCall) -> Option<Answer> {
    let pattern = given(call).map(|Search { pattern }| code(&pattern))?;
    let (head, lines) = call.result.split_once('\n').unwrap_or((&call.result, ""));
    let (number, rest) = head.split_once(" matching lines in ")?;
    let number: usize = number.parse().ok()?;
    let (files, extra) = rest.split_once(" files searched")?;
    let files = count(files.parse().ok()?, "file", "files");
    let extra = match extra.strip_prefix("; ") {
        Some(extra) => format!("; {extra}"),
        None if extra.is_empty() => String::new(),
        None => return None,
    };
    Some(match number {
        0 => Answer::new(format!("Nothing was found for {pattern} ({files} searched{extra}).")),
        1 => Answer::new(format!("1 line matches {pattern} ({files} searched{extra}):"))
            .fenced(lines),
        number => Answer::new(format!("{number} lines match {pattern} ({files} searched{extra}):"))
            .fenced(lines),
    })
}

/// `fs_stat`.
pub(super) fn status(call: &AnsweredCall) -> Option<Answer> {
    let path = path(call)?;
    let rest = call.result.strip_prefix(path.as_str())?.strip_prefix(": ")?;
    let (kind, facts) = rest.split_once(", ")?;
    let kinds = ["file", "directory", "link", "fifo", "socket", "device", "special file"];
    let (size, _) = facts.split_once(" bytes")?;
    let is_size = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
    let is_status = kinds.contains(&kind) && is_size && facts.contains(", modified ");
    is_status.then(|| Answer::new(format!("{} is a {kind}: {facts}.", code(&path))))
}
