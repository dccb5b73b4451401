//! Makes the calls that change a part of a file. What is replaced is looked up in the file.

use super::change::is_pronoun;
use super::file_names::{FoundEntry, WantedEntry};
use super::sources::strip_filler;
use super::words::RequestWords;
use super::{PlannedCall, RequestReading, Understanding, ask};
use crate::arguments::Argument;

impl Understanding<'_> {
    pub(super) fn edit_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let spans = self.spans("fs_edit", request);
        let text = |name: &str| spans.get(name).and_then(Argument::as_text);
        let mention = text("path").map(strip_filler).filter(|path| !is_pronoun(path));
        let path = match mention {
            Some(mention) => match self.files.find(mention, WantedEntry::File) {
                FoundEntry::One(path) => path,
                FoundEntry::Several(paths) => return super::look::ask_which(&paths),
                FoundEntry::Nothing(near) => match self.mentioned_files(request).as_slice() {
                    [one] => one.clone(),
                    _ => match self.last_file() {
                        Some(path) => path,
                        None => return super::look::ask_for_file(Some(mention), &near),
                    },
                },
            },
            None => match self.mentioned_files(request).as_slice() {
                [one] => one.clone(),
                _ => match self.last_file() {
                    Some(path) => path,
                    None => return ask("In which file?"),
                },
            },
        };
        self.edit_file(&path, request, text("old_text"), text("new_text"))
    }

    /// Makes the change of a part of a file, if the part is there.
    pub(super) fn edit_file(
        &self,
        path: &str,
        request: &RequestWords<'_>,
        old: Option<&str>,
        new: Option<&str>,
    ) -> RequestReading {
        let Some(content) = self.files.read_text(path) else {
            return match (old, new) {
                (Some(old), Some(new)) => replacement(path, old, new, false),
                _ => ask(format!("What should be changed in {path}?")),
            };
        };
        let (old, new) = match substitution(request.text) {
            Some((old, new)) => (Some(old), Some(new)),
            None => (old.map(str::to_owned), new.map(str::to_owned)),
        };
        let settings = named_settings(request, &content);
        if settings.len() > 1 {
            let edit = |(old, new): &(String, String)| {
                PlannedCall::new("fs_edit")
                    .text("path", path)
                    .text("old_text", old)
                    .text("new_text", new)
            };
            return RequestReading::Calls(settings.iter().map(edit).collect());
        }
        if let Some(line) = line_to_remove(request, old.as_deref(), new.as_deref(), &content) {
            return replacement(path, &line, "", false);
        }
        if let Some((old, new)) = ticked(request, old.as_deref(), &content) {
            return replacement(path, &old, &new, false);
        }
        let (Some(old), Some(new)) =
            (old.as_deref().map(strip_text), new.as_deref().map(strip_text))
        else {
            return ask(format!("What should be changed in {path}, and to what?"));
        };
        if old == new {
            return ask(format!("What should be changed in {path}, and to what?"));
        }
        if let Some((found, replaced)) = setting(&content, old, new) {
            return replacement(path, &found, &replaced, false);
        }
        let found = if content.contains(old) {
            Some(old.to_owned())
        } else {
            find_ignoring_case(&content, old)
        };
        match found {
            Some(found) => {
                let found = extend_to_repeated_word(&content, found, new);
                let count = content.matches(found.as_str()).count();
                let only_one = request.has_any(&["first", "once"]);
                if count > 1 && only_one {
                    return ask(format!(
                        "“{found}” occurs {count} times in {path}. Should all be changed?"
                    ));
                }
                replacement(path, &found, new, count > 1)
            }
            None => match value_of_key(&content, old, new, request) {
                Some((found, replaced)) => replacement(path, &found, &replaced, false),
                None => {
                    ask(format!("I do not find “{old}” in {path}. What should be replaced there?"))
                }
            },
        }
    }
}

/// Returns the whole line that a request wants to be gone.
fn line_to_remove(
    request: &RequestWords<'_>,
    old: Option<&str>,
    new: Option<&str>,
    content: &str,
) -> Option<String> {
    let removes =
        request.has_any(&["remove", "delete", "drop", "strip", "rm", "erase", "kill", "cut"]);
    if !removes || new.is_some_and(|new| !new.is_empty()) {
        return None;
    }
    let wanted = strip_text(old?);
    let wanted = wanted
        .trim_end_matches(" line")
        .trim_end_matches(" entry")
        .trim_end_matches(" row")
        .to_lowercase();
    let mut lines =
        content.split_inclusive('\n').filter(|line| line.to_lowercase().contains(&wanted));
    let line = lines.next()?;
    lines.next().is_none().then(|| line.to_owned())
}

/// Returns the line of a setting that is named by words of the request, with its new value.
fn value_of_key(
    content: &str,
    old: &str,
    new: &str,
    request: &RequestWords<'_>,
) -> Option<(String, String)> {
    let words: Vec<String> =
        old.split_whitespace().chain(request.unquoted()).map(str::to_lowercase).collect();
    let mut found =
        words.iter().filter(|word| word.len() > 2).filter_map(|word| setting(content, word, new));
    let first = found.next()?;
    Some(first)
}

pub(super) fn replacement(path: &str, old: &str, new: &str, all: bool) -> RequestReading {
    let call =
        PlannedCall::new("fs_edit").text("path", path).text("old_text", old).text("new_text", new);
    RequestReading::call(if all { call.text("expected_matches", "all") } else { call })
}

/// Returns every setting for which a request names a value: "port to 3000 and debug to false".
fn named_settings(request: &RequestWords<'_>, content: &str) -> Vec<(String, String)> {
    let words = &request.words;
    let pair = |at: usize| {
        let (key, to, value) = (words.get(at)?, words.get(at + 1)?, words.get(at + 2)?);
        let is_pair = matches!(to.text.as_str(), "to" | "=" | "->" | "→") && !key.is_quoted;
        let value = &request.text[value.range.clone()];
        is_pair.then(|| setting(content, &key.text, value)).flatten()
    };
    (0..words.len()).filter_map(pair).collect()
}

/// Adds the word after the replaced text if the new text ends with it: "14" becomes "7 days", and "days"
/// stands there already.
fn extend_to_repeated_word(content: &str, found: String, new: &str) -> String {
    let Some((_, last)) = new.rsplit_once(' ') else { return found };
    let follows = format!("{found} {last}");
    if !found.ends_with(last) && content.contains(&follows) { follows } else { found }
}

/// Returns a text without quotation marks around it.
fn strip_text(text: &str) -> &str {
    text.trim().trim_matches(['"', '`', '“', '”'])
}

/// Reads "s/old/new/g".
pub(super) fn substitution(text: &str) -> Option<(String, String)> {
    let at = text.find("s/")?;
    if at > 0 && !text[..at].ends_with([' ', '\'', '"', '`']) {
        return None;
    }
    let mut parts = text[at + 2..].splitn(3, '/');
    let (old, new) = (parts.next()?, parts.next()?);
    parts.next()?;
    (!old.is_empty()).then(|| (old.to_owned(), new.to_owned()))
}

/// Returns the line of a setting and the same line with another value: `key: value`, `key = value`,
/// `"key": "value"`.
pub(super) fn setting(content: &str, key: &str, new: &str) -> Option<(String, String)> {
    let key = key.trim().trim_matches(['"', '\'']).replace(' ', "_").to_lowercase();
    if key.is_empty() {
        return None;
    }
    let mut found = content.lines().filter_map(|line| {
        let at = line.find([':', '='])?;
        let name = line[..at]
            .trim()
            .trim_start_matches('{')
            .trim()
            .trim_matches(['"', '\''])
            .to_lowercase();
        if name != key {
            return None;
        }
        let value = line[at + 1..].trim();
        let (value, end) = match value.strip_suffix(',') {
            Some(value) => (value, ","),
            None => (value, ""),
        };
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let new = new.trim_matches(['"', '\'']);
        let new = quote.map_or_else(|| new.to_owned(), |quote| format!("{quote}{new}{quote}"));
        let space = if line[at + 1..].starts_with(' ') { " " } else { "" };
        Some((line.to_owned(), format!("{}{space}{new}{end}", &line[..=at])))
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Returns an item of a list and the same item ticked, or not ticked any more.
fn ticked(
    request: &RequestWords<'_>,
    old: Option<&str>,
    content: &str,
) -> Option<(String, String)> {
    let unticks = request.has_any(&["untick", "uncheck", "reopen"]);
    let ticks =
        request.has_any(&["tick", "check", "done", "finished", "complete", "completed", "cross"])
            || unticks;
    if !ticks {
        return None;
    }
    let wanted: Vec<String> = match old {
        Some(old) => vec![strip_text(old).to_lowercase()],
        None => request
            .quotations
            .iter()
            .map(|quotation| request.text[quotation.clone()].to_lowercase())
            .collect(),
    };
    let (from, to) = if unticks { ("[x]", "[ ]") } else { ("[ ]", "[x]") };
    let wanted: Vec<&str> = wanted
        .iter()
        .map(|words| words.trim_start_matches("[ ]").trim_start_matches("[x]").trim())
        .collect();
    let mut lines = content.lines().filter(|line| {
        let lower = line.to_lowercase();
        line.contains(from) && wanted.iter().any(|words| !words.is_empty() && lower.contains(words))
    });
    let line = lines.next()?;
    lines.next().is_none().then(|| (line.to_owned(), line.replacen(from, to, 1)))
}

/// Returns a text as the content has it, in other letters.
fn find_ignoring_case(content: &str, wanted: &str) -> Option<String> {
    let (lower, wanted) = (content.to_lowercase(), wanted.to_lowercase());
    if lower.len() != content.len() || wanted.is_empty() {
        return None;
    }
    let at = lower.find(&wanted)?;
    content.get(at..at + wanted.len()).map(str::to_owned)
}

#[cfg(test)]
mod tests;
