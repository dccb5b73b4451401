//! Makes the calls that change a part of a file. What is replaced is looked up in the file.

use super::change::is_pronoun;
use super::file_names::{FoundEntry, WantedEntry};
use super::sources::strip_filler;
use lango_phrases::replacements::{
    find_alike_values, find_ignoring_case, find_replacement, is_number_edge, whole_occurrences,
};
use lango_phrases::settings::{is_of_data, list_named_settings};
pub(super) use lango_phrases::settings::{setting, substitution};

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
        let (old, new) = widen_pair(request.text, text("old_text"), text("new_text"));
        self.edit_file(&path, request, old, new)
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
                // "denial.txt should say …": nothing is replaced.
                (Some(old), Some(new)) if old == new => RequestReading::call(
                    PlannedCall::new("fs_write").text("path", path).text("content", new),
                ),
                (Some(old), Some(new)) => replacement(path, old, new, false),
                _ => ask(format!("What should be changed in {path}?")),
            };
        };
        let (old, new) = match substitution(request.text) {
            Some((old, new)) => (Some(old), Some(new)),
            None => (old.map(str::to_owned), new.map(str::to_owned)),
        };
        let settings = list_named_settings(request, &content);
        let is_one_said = settings.len() == 1 && is_of_data(path);
        if (settings.len() > 1 || is_one_said) && substitution(request.text).is_none() {
            return edits(path, &settings);
        }
        if let Some(line) = line_to_remove(request, old.as_deref(), new.as_deref(), &content) {
            return replacement(path, &line, "", false);
        }
        let ticked_items = list_ticked(request, &content);
        if ticked_items.len() > 1 {
            return edits(path, &ticked_items);
        }
        if let Some((old, new)) = ticked(request, old.as_deref(), &content) {
            return replacement(path, &old, &new, false);
        }
        let said = said_pair(request, &content);
        let is_said_whole = said.is_some() && request.has_phrase(&["instead of", "rather than"]);
        let spans = (old.as_deref().map(strip_text), new.as_deref().map(strip_text));
        let spans = if is_said_whole { (None, None) } else { spans };
        let (old, new) = match spans {
            (Some(old), Some(new)) if old != new => (old, new),
            _ => match &said {
                Some((old, new)) => (old.as_str(), new.as_str()),
                None => return ask(format!("What should be changed in {path}, and to what?")),
            },
        };
        if let Some((found, replaced)) = setting(&content, old, new)
            && !is_word_of_prose(path, &found, old, new)
        {
            return replacement(path, &found, &replaced, false);
        }
        let found = if content.contains(old) {
            Some(old.to_owned())
        } else {
            find_ignoring_case(&content, old)
        };
        let found = found.filter(|found| {
            !is_number_edge(found)
                || substitution(request.text).is_some()
                || !whole_occurrences(&content, found).is_empty()
        });
        match found {
            Some(found)
                if is_number_edge(&found)
                    && substitution(request.text).is_none()
                    && whole_occurrences(&content, &found).len()
                        < content.matches(&*found).count() =>
            {
                replace_whole_number(path, &content, &found, new)
            }
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
            None => match value_of_key(&content, old, new, request).or_else(|| said.clone()) {
                Some((found, replaced)) => {
                    let count = content.matches(found.as_str()).count();
                    replacement(path, &found, &replaced, count > 1)
                }
                None => {
                    ask(format!("I do not find “{old}” in {path}. What should be replaced there?"))
                }
            },
        }
    }
}

/// Returns what is replaced by what in words such as "swap every foo for baz" and "at 03:30 now and not
/// 02:00", where it is in the file.
fn said_pair(request: &RequestWords<'_>, content: &str) -> Option<(String, String)> {
    let text = |range: std::ops::Range<usize>| strip_text(&request.text[range]);
    if let Some((old, new)) = find_replacement(request) {
        let old = strip_text(text(old));
        let found = if content.contains(old) {
            Some(old.to_owned())
        } else {
            find_ignoring_case(content, old)
        };
        if let Some(found) = found
            && (!is_number_edge(&found) || !whole_occurrences(content, &found).is_empty())
        {
            return Some((found, text(new).to_owned()));
        }
    }
    let (one, other) = find_alike_values(request)?;
    let (one, other) = (text(one), text(other));
    let is_there = |value: &str| !whole_occurrences(content, value).is_empty();
    match (is_there(one), is_there(other)) {
        (true, false) => Some((one.to_owned(), other.to_owned())),
        (false, true) => Some((other.to_owned(), one.to_owned())),
        _ => None,
    }
}

/// Replaces a number that is also a part of longer ones, which stay as they are.
fn replace_whole_number(path: &str, content: &str, found: &str, new: &str) -> RequestReading {
    let places = whole_occurrences(content, found);
    let [at] = places.as_slice() else {
        return ask(format!(
            "“{found}” occurs {} times in {path}, and within longer numbers. Which line should be changed?",
            places.len()
        ));
    };
    let start = content[..*at].rfind('\n').map_or(0, |at| at + 1);
    let end = content[*at..].find('\n').map_or(content.len(), |length| at + length);
    let line = &content[start..end];
    let replaced = format!("{}{new}{}", &content[start..*at], &content[at + found.len()..end]);
    if content.matches(line).count() > 1 {
        return ask(format!(
            "“{line}” occurs several times in {path}. Which one should be changed?"
        ));
    }
    replacement(path, line, &replaced, false)
}

/// Tells whether what looks like a setting is a word of a text: "change TODO to DONE" where a line is
/// "TODO: describe the page".
fn is_word_of_prose(path: &str, line: &str, old: &str, new: &str) -> bool {
    let value = line.split_once([':', '=']).map_or("", |(_, value)| value);
    let is_capital =
        |text: &str| text.chars().any(char::is_alphabetic) && !text.chars().any(char::is_lowercase);
    !is_of_data(path)
        && value.split_whitespace().count() > 1
        && line.contains(old)
        && (is_capital(old) && is_capital(new) || new.ends_with(':') && old.ends_with(':'))
}

/// Widens what is replaced, and what replaces it, by the words that belong to both: "my opponents to my
/// colleagues", "it says Best before 2025 and ought to be Best before 2027".
fn widen_pair<'t>(
    text: &'t str,
    old: Option<&'t str>,
    new: Option<&'t str>,
) -> (Option<&'t str>, Option<&'t str>) {
    let (Some(old_text), Some(new_text)) = (old, new) else { return (old, new) };
    let place =
        |part: &str| text.find(part).filter(|at| text[at + part.len()..].find(part).is_none());
    // "my" stands before both, and is a part of only one.
    if let Some((first, _)) = new_text.split_once(' ')
        && ["my", "our", "your", "his", "her", "their", "the", "a", "an"].contains(&first)
        && !old_text.starts_with(&format!("{first} "))
        && let Some(at) = place(old_text)
        && text[..at].ends_with(&format!(" {first} "))
    {
        return (text.get(at - first.len() - 1..at + old_text.len()), new);
    }
    if let Some((before, _)) = old_text.rsplit_once(' ')
        && !new_text.contains(' ')
        && let Some(at) = text.rfind(new_text)
        && text[..at].ends_with(&format!(" {before} "))
        && place(old_text).is_none_or(|old| old + old_text.len() < at)
    {
        return (old, text.get(at - before.len() - 1..at + new_text.len()));
    }
    (old, new)
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

/// Makes several changes in a file.
fn edits(path: &str, changes: &[(String, String)]) -> RequestReading {
    let edit = |(old, new): &(String, String)| {
        PlannedCall::new("fs_edit").text("path", path).text("old_text", old).text("new_text", new)
    };
    RequestReading::Calls(changes.iter().map(edit).collect())
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

/// Returns an item of a list and the same item ticked, or not ticked any more.
pub(super) fn ticked(
    request: &RequestWords<'_>,
    old: Option<&str>,
    content: &str,
) -> Option<(String, String)> {
    let unticks = request.has_any(&["untick", "uncheck", "reopen"]);
    let ticks = request.has_any(&[
        "tick",
        "check",
        "done",
        "finished",
        "complete",
        "completed",
        "cross",
        "mark",
    ]) || unticks;
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
    let line = match (lines.next(), lines.next()) {
        (Some(line), None) => line,
        (Some(_), Some(_)) => return None,
        (None, _) => item_of(request, content, from)?,
    };
    Some((line.to_owned(), line.replacen(from, to, 1)))
}

/// Returns the items of a list that a request names whole, and the same items ticked.
fn list_ticked(request: &RequestWords<'_>, content: &str) -> Vec<(String, String)> {
    if !request.has_any(&["tick", "check", "mark", "cross", "complete", "done"]) {
        return Vec::new();
    }
    let lower = request.text.to_lowercase();
    let is_named = |line: &&str| {
        let item = line.split_once("[ ]").map_or("", |(_, item)| item).trim().to_lowercase();
        item.contains(' ') && lower.contains(&item)
    };
    let ticked = |line: &str| (line.to_owned(), line.replacen("[ ]", "[x]", 1));
    content.lines().filter(is_named).map(ticked).collect()
}

/// Returns the one item of a list that has the most words of a request.
fn item_of<'c>(request: &RequestWords<'_>, content: &'c str, open: &str) -> Option<&'c str> {
    const OTHERS: [&str; 9] =
        ["mark", "tick", "done", "finished", "todo", "list", "off", "item", "complete"];
    let words: Vec<String> = request
        .words
        .iter()
        .filter(|word| word.text.chars().count() > 2 && !word.text.contains('.'))
        .filter(|word| {
            !lango_text::is_stop_word(&word.text) && !OTHERS.contains(&word.text.as_str())
        })
        .map(|word| lango_text::stem_word(&word.text))
        .collect();
    let count = |line: &str| {
        let own: Vec<String> =
            lango_text::split_words(line).map(|word| lango_text::stem_word(&word)).collect();
        words.iter().filter(|word| own.contains(word)).count()
    };
    let items = content.lines().filter(|line| line.contains(open));
    let most = items.clone().map(count).max().filter(|most| *most > 0)?;
    let mut best = items.filter(|line| count(line) == most);
    let first = best.next()?;
    best.next().is_none().then_some(first)
}
