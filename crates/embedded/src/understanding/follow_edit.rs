//! Changes the file of the call before: "make it say hello", "3.11 -> 3.12", "debug off".

use lango_model::EarlierCall;
use lango_phrases::replacements::shape_of;

use super::edit::{replacement, setting};
use super::follow_up::parse_arguments;
use super::leads::strip_prefix_ignoring_case;
use super::words::RequestWords;
use super::{PlannedCall, RequestReading, Understanding};
use crate::arguments::Argument;

/// Words before the new content of a file.
const SAYS: &[&str] = &[
    "make it say",
    "it should say",
    "let it say",
    "should say",
    "make it read",
    "change it to say",
];
/// Words before a new value.
const BECOMES: &[&str] =
    &["make it", "make that", "set it to", "change it to", "switch it to", "to"];

impl Understanding<'_> {
    /// Returns the change of the file that the call before was about.
    pub(super) fn edit_last_file(
        &self,
        request: &RequestWords<'_>,
        last: &EarlierCall,
    ) -> Option<RequestReading> {
        let path = self.last_file()?;
        if self.named_files(request).iter().any(|other| *other != path) {
            return None;
        }
        let content = self.files.read_text(&path)?;
        if let Some((old, new)) = arrow(request.text)
            && content.matches(old).count() == 1
        {
            return Some(replacement(&path, old, new, false));
        }
        if matches!(last.tool.as_str(), "fs_write")
            && let Some(new) = SAYS.iter().find_map(|words| text_after(request.text, words))
        {
            let call = PlannedCall::new("fs_write").text("path", path).text("content", clean(new));
            return Some(RequestReading::call(call));
        }
        if request.has_any(&["mark", "tick", "untick", "check", "cross", "uncheck"])
            && let Some((old, new)) = super::edit::ticked(request, None, &content)
        {
            return Some(replacement(&path, &old, &new, false));
        }
        let (old, new) = searched_value(request, last, &content)
            .or_else(|| switched(request, &content))
            .or_else(|| named_value(request, &content))
            .or_else(|| same_shape(request, &content))?;
        Some(replacement(&path, &old, &new, false))
    }

    /// Adds to the file of the call before: "put there also: buy bags".
    pub(super) fn append_last_file(
        &self,
        request: &RequestWords<'_>,
        _: &EarlierCall,
    ) -> Option<RequestReading> {
        let path = self.last_file()?;
        let adds = request.has_any(&["add", "append", "put", "write", "note", "jot"]);
        let points = request.has_any(&["there", "it", "also", "too", "that", "this"]);
        if !adds || !points || self.named_files(request).iter().any(|other| *other != path) {
            return None;
        }
        let (before, content) = request.text.split_once(": ")?;
        let content = clean(content);
        if content.is_empty() || before.split_whitespace().count() > 8 {
            return None;
        }
        let call = PlannedCall::new("fs_append").text("path", path).text("content", content);
        Some(RequestReading::call(call))
    }
}

/// Replaces what the user told before: "no, it is at 10:00".
pub(super) fn correct_memory(
    request: &RequestWords<'_>,
    last: &EarlierCall,
) -> Option<RequestReading> {
    if !matches!(last.tool.as_str(), "memory_store" | "save_knowledge") || !last.succeeded {
        return None;
    }
    let corrects = request.has_any(&["no", "sorry", "wrong", "actually", "wait", "correction"])
        || request.has_phrase(&["i meant", "i mean"]);
    if !corrects || request.words.len() > 14 {
        return None;
    }
    let mut arguments = parse_arguments(&last.arguments);
    let content = arguments.get("content").and_then(Argument::as_text)?.to_owned();
    let (old, new) = same_shape(request, &content)?;
    arguments.insert("content".to_owned(), Argument::Text(content.replacen(&old, &new, 1)));
    Some(RequestReading::call(PlannedCall { tool: last.tool.clone(), arguments }))
}

/// Reads "old -> new".
fn arrow(text: &str) -> Option<(&str, &str)> {
    let text = text.trim().trim_end_matches(['.', '!']);
    let (old, new) = ["->", "→", "=>"].iter().find_map(|arrow| text.split_once(arrow))?;
    let (old, new) = (old.trim(), new.trim());
    let is_short = |part: &str| !part.is_empty() && part.split_whitespace().count() <= 4;
    (is_short(old) && is_short(new)).then_some((old, new))
}

/// Returns the text after these words, wherever they stand.
fn text_after<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    text.char_indices()
        .filter(|(at, _)| *at == 0 || text[..*at].ends_with([' ', ',', '.', '…']))
        .find_map(|(at, _)| strip_prefix_ignoring_case(&text[at..], words))
        .filter(|rest| !rest.is_empty())
}

fn clean(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_suffix(" instead").unwrap_or(text);
    text.trim_end_matches(" please").trim_matches(['"', '\'', '`', '“', '”'])
}

/// Returns the setting that the call before looked for, with the value after words such as "make it".
fn searched_value(
    request: &RequestWords<'_>,
    last: &EarlierCall,
    content: &str,
) -> Option<(String, String)> {
    if last.tool != "fs_search" || request.words.len() > 7 {
        return None;
    }
    let arguments = parse_arguments(&last.arguments);
    let key = arguments.get("pattern").and_then(Argument::as_text)?;
    let value = clean(BECOMES.iter().find_map(|words| text_after(request.text, words))?);
    let is_value = !value.is_empty()
        && !value.contains(' ')
        && !lango_text::is_stop_word(&value.to_lowercase());
    is_value.then(|| setting(content, key, value)).flatten().filter(|(old, new)| old != new)
}

/// Returns a setting that is switched on or off.
fn switched(request: &RequestWords<'_>, content: &str) -> Option<(String, String)> {
    const PAIRS: [(&str, &str); 3] = [("true", "false"), ("on", "off"), ("yes", "no")];
    let off = request.has_any(&["off", "disable", "disabled"]);
    let on = request.has_any(&["on", "enable", "enabled"]);
    if off == on {
        return None;
    }
    let (key, line) = key_in(request, content)?;
    let value = line.rsplit([':', '=']).next()?.trim().trim_end_matches(',').to_lowercase();
    let (yes, no) = PAIRS.into_iter().find(|(yes, no)| value == *yes || value == *no)?;
    setting(content, &key, if off { no } else { yes })
}

/// Returns a setting that is named, with the value after words such as "make it".
fn named_value(request: &RequestWords<'_>, content: &str) -> Option<(String, String)> {
    let (key, _) = key_in(request, content)?;
    let value = BECOMES.iter().find_map(|words| text_after(request.text, words))?;
    let value = value.split_whitespace().next()?.trim_matches(['"', '\'', '`', ',', '.', ';', '!']);
    if value.is_empty() || lango_text::is_stop_word(&value.to_lowercase()) {
        return None;
    }
    setting(content, &key, value).filter(|(old, new)| old != new)
}

/// Returns the one setting whose name the request has, with its line.
fn key_in(request: &RequestWords<'_>, content: &str) -> Option<(String, String)> {
    let said = request.unquoted().collect::<Vec<_>>().join(" ");
    let said = format!(" {said} ");
    let mut found = content.lines().filter_map(|line| {
        let at = line.find([':', '='])?;
        let key = line[..at].trim().trim_start_matches('{').trim().trim_matches(['"', '\'']);
        let words = key.replace(['_', '-', '.'], " ").to_lowercase();
        let is_said = words.len() > 2
            && (said.contains(&format!(" {words} ")) || said.contains(&format!(" {key} ")));
        is_said.then(|| (key.to_owned(), line.to_owned()))
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Returns the one part of a content that looks like a value of the request, such as an amount or a
/// time: what it is replaced by is clear without its name.
fn same_shape(request: &RequestWords<'_>, content: &str) -> Option<(String, String)> {
    let asks =
        request.has_any(&["change", "make", "set", "update", "should", "instead", "to", "is"]);
    let values: Vec<&str> = request
        .words
        .iter()
        .map(|word| &request.text[word.range.clone()])
        .filter(|word| word.chars().any(|c| c.is_ascii_digit()))
        .collect();
    let [value] = values.as_slice() else { return None };
    if !asks {
        return None;
    }
    let shape = shape_of(value);
    if shape.len() < 2 {
        return None;
    }
    let mut alike = content
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '"'))
        .map(|part| part.trim_end_matches(['.', ':', '!']))
        .filter(|part| shape_of(part) == shape);
    let old = alike.next()?;
    (alike.next().is_none() && old != *value).then(|| (old.to_owned(), (*value).to_owned()))
}

#[cfg(test)]
mod tests;
