//! Changes whole lines of a file: removes one, or adds a first one. Which lines there are is looked up.

use lango_phrases::line_changes::{
    LinePlace, added_text, adds_at_beginning, asks_to_remove, find_insertion, find_removed_line,
    find_replaced_line,
};

use super::edit::replacement;
use super::words::RequestWords;
use super::{PlannedCall, RequestReading, Understanding, ask};

/// Words before the file that something is taken out of.
const OUT_OF: &[&str] = &["from", "in", "inside", "of", "out"];
/// Objects of "delete … in x" that are all of it.
#[rustfmt::skip]
const WHOLE: &[&str] = &[
    "the", "file", "files", "all", "everything", "content", "contents", "document", "a", "my", "called",
    "named", "old", "whole", "entire", "this", "that", "one", "please", "just", "also", "and", "it",
    "doc", "script", "both", "each", "every", "copy", "duplicate",
];

impl Understanding<'_> {
    /// Returns the change of a line, where a request asks for one of a file that is there.
    pub(super) fn line_change(&self, request: &RequestWords<'_>) -> Option<RequestReading> {
        let removed = find_removed_line(request);
        let inserted = find_insertion(request);
        let replaced = find_replaced_line(request);
        if removed.is_none()
            && inserted.is_none()
            && replaced.is_none()
            && !adds_at_beginning(request)
        {
            return None;
        }
        let path = self.file_of_lines(request)?;
        let content = self.files.read_text(&path)?;
        match (removed, replaced, inserted) {
            (Some(place), _, _) => Some(remove_line(&path, &content, &place)),
            (None, Some((place, new)), _) => Some(match find_line(&path, &content, &place) {
                Ok(index) => replace_block(&path, &content, index, |line| put_in_place(line, new)),
                Err(question) => question,
            }),
            (None, None, Some((is_before, place))) => {
                let found = self.span_text("fs_append", "content", request);
                let text = added_text(request).map(str::to_owned).or(found)?;
                let text = text.trim();
                Some(match find_line(&path, &content, &place) {
                    Ok(index) => replace_block(&path, &content, index, |line| {
                        let end = if line.ends_with('\n') { "" } else { "\n" };
                        if is_before {
                            format!("{text}\n{line}")
                        } else {
                            format!("{line}{end}{text}\n")
                        }
                    }),
                    Err(question) => question,
                })
            }
            (None, None, None) => self.add_first_line(&path, &content, request),
        }
    }

    /// Asks what to take out of a file, where a request to delete names a part of it and not the file:
    /// "delete the typo in notes.txt".
    pub(super) fn part_to_remove(
        &self,
        request: &RequestWords<'_>,
        paths: &[String],
    ) -> Option<RequestReading> {
        let [path] = paths else { return None };
        if self.files.kind_of(path) != Some(false) || !asks_to_remove(request) {
            return None;
        }
        let part = object_before(request, super::change::base_name(path))?;
        let content = self.files.read_text(path)?;
        Some(match remove_line(path, &content, &LinePlace::With(part.clone())) {
            RequestReading::Ask(_) => ask(format!(
                "Should {path} be deleted, or only a part of it? To take “{part}” out of it, say which line."
            )),
            reading => reading,
        })
    }

    fn file_of_lines(&self, request: &RequestWords<'_>) -> Option<String> {
        let mut files = self.mentioned_files(request);
        files.retain(|path| self.files.kind_of(path) == Some(false));
        files.dedup();
        match files.as_slice() {
            [one] => Some(one.clone()),
            [] => self.last_file(),
            // "delete the readme line in todo.txt"
            several => {
                let named = self.named_files(request);
                let mut named = named.into_iter().filter(|path| several.contains(path));
                let first = named.next()?;
                named.next().is_none().then_some(first)
            }
        }
    }

    fn add_first_line(
        &self,
        path: &str,
        content: &str,
        request: &RequestWords<'_>,
    ) -> Option<RequestReading> {
        let found = self.span_text("fs_append", "content", request);
        let text = added_text(request).map(str::to_owned).or(found)?;
        let text = text.trim();
        if text.is_empty() || text.contains(path) {
            return None;
        }
        if content.is_empty() {
            let call = PlannedCall::new("fs_append").text("path", path).text("content", text);
            return Some(RequestReading::call(call));
        }
        Some(replace_block(path, content, 0, |line| format!("{text}\n{line}")))
    }
}

/// Returns the call that removes a line.
fn remove_line(path: &str, content: &str, place: &LinePlace) -> RequestReading {
    match find_line(path, content, place) {
        Ok(index) => replace_block(path, content, index, |_| String::new()),
        Err(question) => question,
    }
}

/// Returns a line with another text, and the same end.
fn put_in_place(line: &str, new: &str) -> String {
    let end = if line.ends_with('\n') { "\n" } else { "" };
    format!("{new}{end}")
}

/// Returns the number of a line, from 0, or the question which one is meant.
fn find_line(path: &str, content: &str, place: &LinePlace) -> Result<usize, RequestReading> {
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let index = match place {
        LinePlace::First => (!lines.is_empty()).then_some(0),
        LinePlace::Last => lines.len().checked_sub(1),
        LinePlace::Number(number) => {
            usize::try_from(number - 1).ok().filter(|index| *index < lines.len())
        }
        LinePlace::With(words) => {
            let found = lines_with(&lines, words);
            match found.as_slice() {
                [one] => Some(*one),
                [] => {
                    return Err(ask(format!(
                        "I find no line with “{words}” in {path}. Which one do you mean?"
                    )));
                }
                several => {
                    let listed: Vec<String> = several
                        .iter()
                        .map(|at| format!("- {}: {}", at + 1, lines[*at].trim()))
                        .collect();
                    return Err(ask(format!(
                        "“{words}” is in {} lines of {path}. Which one do you mean?\n{}",
                        several.len(),
                        listed.join("\n")
                    )));
                }
            }
        }
    };
    index.ok_or_else(|| ask(format!("{path} has {} lines. Which one do you mean?", lines.len())))
}

/// Returns the call that makes something else of a line.
fn replace_block(
    path: &str,
    content: &str,
    index: usize,
    change: impl Fn(&str) -> String,
) -> RequestReading {
    let (old, new) = unique_block(content, index, change);
    if old == new {
        return RequestReading::Say(format!("{path} says that already."));
    }
    replacement(path, &old, &new, false)
}

/// Returns the lines that have these words: all of them as they are, or else each somewhere.
fn lines_with(lines: &[&str], words: &str) -> Vec<usize> {
    let wanted = words.to_lowercase();
    let matching = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let lower = lines.iter().map(|line| line.to_lowercase());
        lower.enumerate().filter(|(_, line)| fits(line)).map(|(at, _)| at).collect()
    };
    let whole =
        matching(&|line| !lango_phrases::replacements::whole_occurrences(line, &wanted).is_empty());
    if !whole.is_empty() {
        return whole;
    }
    let parts: Vec<&str> =
        wanted.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    matching(&|line| !parts.is_empty() && parts.iter().all(|part| line.contains(part)))
}

/// Returns a line with as many of its neighbours as make it unique, and the same with the line changed.
fn unique_block(content: &str, index: usize, change: impl Fn(&str) -> String) -> (String, String) {
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let (mut from, mut to) = (index, index + 1);
    loop {
        let block: String = lines[from..to].concat();
        if content.matches(block.as_str()).count() <= 1 || from == 0 && to == lines.len() {
            let changed = change(lines[index]);
            return (
                block,
                [lines[from..index].concat(), changed, lines[index + 1..to].concat()].concat(),
            );
        }
        if to < lines.len() {
            to += 1;
        } else {
            from -= 1;
        }
    }
}

/// Returns what stands between the verb and "from notes.txt".
fn object_before(request: &RequestWords<'_>, name: &str) -> Option<String> {
    let words = &request.words;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let name = name.to_lowercase();
    let stem = super::spelling::strip_extension(&name);
    let at = (1..words.len()).find(|at| {
        let word = text(*at);
        word == name || word == stem || word.ends_with(&format!("/{name}"))
    })?;
    let place = (0..at).rev().take(3).find(|at| OUT_OF.contains(&text(*at)))?;
    // "get rid of notes.txt"
    if text(place) == "of"
        && place
            .checked_sub(1)
            .is_none_or(|before| matches!(text(before), "rid" | "copy" | "version" | "all"))
    {
        return None;
    }
    let end = if text(place) == "of" && text(place - 1) == "out" { place - 1 } else { place };
    let verb = (0..end).find(|at| {
        lango_phrases::line_changes::asks_to_remove(&RequestWords::of(text(*at)))
            || matches!(text(*at), "take" | "get" | "throw")
    })?;
    let first = (verb + 1..end)
        .find(|at| !WHOLE.contains(&text(*at)) && text(*at) != "rid" && text(*at) != "of")?;
    Some(request.text[words[first].range.start..words[end - 1].range.end].to_owned())
}

#[cfg(test)]
mod tests;
