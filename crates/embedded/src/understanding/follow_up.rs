//! Understands requests that need what came before: "and docs?", "delete it", "make that 10".

use std::collections::BTreeMap;

use lango_model::EarlierCall;

use super::change::is_pronoun;
use super::file_names::{FoundEntry, WantedEntry};
use super::follow_edit::correct_memory;
use super::follow_search::list_counted;
use super::leads::{Lead, strip_lead, strip_prefix_ignoring_case};
use super::repetition::{change_lines, change_number, count_results, repeat_again};
use super::sources::strip_filler;
use super::words::RequestWords;
use super::{PlannedCall, RequestReading, Understanding, known_tool};
use crate::arguments::Argument;

impl Understanding<'_> {
    /// Returns what a request means after the calls of the turn before; none if it stands alone.
    pub(super) fn follow_up(&self, request: &RequestWords<'_>) -> Option<RequestReading> {
        let last = self.earlier.last()?;
        repeat_again(request, last)
            .or_else(|| change_lines(request, last))
            .or_else(|| list_counted(request, last))
            .or_else(|| self.narrow_list(request, last))
            .or_else(|| self.count_part(request, last))
            .or_else(|| self.repeat_for(request, last))
            .or_else(|| self.search_other_words(request, last))
            .or_else(|| change_number(request, last))
            .or_else(|| count_results(request, last))
            .or_else(|| self.take_back(request, last))
            .or_else(|| correct_memory(request, last))
            .or_else(|| self.make_inside(request, last))
            .or_else(|| self.resolve_nouns(request, last))
            .or_else(|| self.edit_last_file(request, last))
            .or_else(|| self.append_last_file(request, last))
            .or_else(|| self.resolve_place(request, last))
            .or_else(|| self.resolve_pronouns(request, last))
            .or_else(|| self.answer_from_last_file(request))
    }

    /// Repeats a call about something else: "and docs?", "same for b.txt", "no, I meant src".
    fn repeat_for(&self, request: &RequestWords<'_>, last: &EarlierCall) -> Option<RequestReading> {
        let (rest, how) = strip_lead(request.text)?;
        let rest = strip_filler(rest);
        if rest.is_empty() || rest.split_whitespace().count() > 7 || is_pronoun(rest) {
            return None;
        }
        let tool = known_tool(&last.tool)?;
        let arguments: BTreeMap<String, Argument> = parse_arguments(&last.arguments);
        // "no, I'd rather have it in docs"
        if how == Lead::Correction
            && matches!(tool, "fs_move" | "fs_copy")
            && let Some(reading) = self.correct_place(request, last)
        {
            return Some(reading);
        }
        // "actually call it c.txt"
        if how == Lead::Correction
            && matches!(tool, "fs_move" | "fs_copy" | "fs_write" | "fs_mkdir")
            && last.succeeded
        {
            let name = [
                "call it",
                "name it",
                "make it",
                "call that",
                "it should be called",
                "rename it to",
                "to",
            ]
            .iter()
            .find_map(|words| strip_prefix_ignoring_case(rest, words))
            .map(strip_filler)?;
            let current = last.files.first()?;
            if last.files.len() > 1 || self.files.kind_of(current).is_none() {
                return None;
            }
            return Some(self.relocate("fs_move", std::slice::from_ref(current), name, false));
        }
        let is_change = super::evidence::class_of_tool(tool).is_some();
        if is_change && how != Lead::Same {
            return None;
        }
        // "same text as docs/b.md too"
        if tool == "fs_write" {
            return same_content(rest, arguments);
        }
        let FoundEntry::One(any) = self.files.find(rest, WantedEntry::Any) else { return None };
        let is_directory = self.files.kind_of(&any) == Some(true);
        let mut call = PlannedCall { tool: tool.to_owned(), arguments };
        match tool {
            "fs_read" | "fs_list" => {
                let tool = if is_directory { "fs_list" } else { "fs_read" };
                tool.clone_into(&mut call.tool);
                if is_directory {
                    call.arguments.clear();
                }
                call = call.text("path", any);
            }
            "exec_shell" => {
                let command = call.arguments.get("command").and_then(Argument::as_text)?.to_owned();
                let old = command
                    .split_whitespace()
                    .find(|word| self.files.kind_of(word).is_some())?
                    .to_owned();
                call = call
                    .text("command", command.replace(&old, &super::look::quote_for_shell(&any)));
            }
            "fs_search" | "fs_find" | "fs_stat" | "fs_delete" => {
                if tool == "fs_delete" && is_directory {
                    call = call.with("recursive", Argument::Boolean(true));
                }
                call = call.text("path", any);
            }
            "fs_copy" | "fs_move" => {
                let to = call.arguments.get("to").and_then(Argument::as_text)?.to_owned();
                let directory =
                    to.rsplit_once('/').map_or(".", |(directory, _)| directory).to_owned();
                return Some(self.relocate(tool, &[any], &directory, true));
            }
            _ => return None,
        }
        Some(RequestReading::call(call))
    }

    /// Does the opposite of a change: "undo that".
    fn take_back(&self, request: &RequestWords<'_>, last: &EarlierCall) -> Option<RequestReading> {
        if !asks_to_take_back(request)
            || self.named_files(request).iter().any(|path| !last.files.contains(path))
        {
            return None;
        }
        let arguments = parse_arguments(&last.arguments);
        let text = |name: &str| arguments.get(name).and_then(Argument::as_text).map(str::to_owned);
        let understood = match last.tool.as_str() {
            _ if !last.succeeded => return None,
            "fs_move" => RequestReading::call(
                PlannedCall::new("fs_move")
                    .text("from", last.files.first()?.clone())
                    .text("to", text("from")?),
            ),
            "fs_edit" if text("new_text").is_some_and(|new| !new.is_empty()) => {
                RequestReading::call(
                    PlannedCall::new("fs_edit")
                        .text("path", text("path")?)
                        .text("old_text", text("new_text")?)
                        .text("new_text", text("old_text")?),
                )
            }
            "fs_mkdir" | "fs_copy" => {
                let path = last.files.first()?;
                let call = PlannedCall::new("fs_delete").text("path", path.clone());
                let is_directory = self.files.kind_of(path) == Some(true);
                RequestReading::call(if is_directory {
                    call.with("recursive", Argument::Boolean(true))
                } else {
                    call
                })
            }
            _ => RequestReading::Say(
                "To take back what file tools changed, type: lango undo".to_owned(),
            ),
        };
        Some(understood)
    }

    /// Moves what was moved or copied to another place than was said first.
    fn correct_place(
        &self,
        request: &RequestWords<'_>,
        last: &EarlierCall,
    ) -> Option<RequestReading> {
        let [current] = last.files.as_slice() else { return None };
        let place = self.find_directory_after(request, &["in", "into", "to", "inside", "under"])?;
        let is_there = current.rsplit_once('/').map(|(parent, _)| parent) == Some(place.as_str());
        (last.succeeded && !is_there && self.files.kind_of(current).is_some())
            .then(|| self.relocate("fs_move", std::slice::from_ref(current), &place, false))
    }

    /// Makes something in the directory of the call before: "and inside it one called drafts".
    fn make_inside(
        &self,
        request: &RequestWords<'_>,
        last: &EarlierCall,
    ) -> Option<RequestReading> {
        let [directory] = last.files.as_slice() else { return None };
        let is_directory = self.files.kind_of(directory) == Some(true);
        let points = request.has_phrase(&[
            "in it",
            "inside it",
            "in there",
            "inside that",
            "within it",
            "under it",
            "in that",
            "inside there",
        ]) || request.has_any(&["inside"]);
        let name = name_after(request, &["called", "named"])?;
        if last.tool != "fs_mkdir" || !is_directory || !points || request.words.len() > 12 {
            return None;
        }
        let path = format!("{directory}/{name}");
        let is_file = request.has_any(&["file", "document", "note"]) || name.contains('.');
        Some(RequestReading::call(if is_file {
            PlannedCall::new("fs_write").text("path", path).text("content", "")
        } else {
            PlannedCall::new("fs_mkdir").text("path", path)
        }))
    }

    /// Looks a question up in the file of the call before, if it is about what the file says.
    fn answer_from_last_file(&self, request: &RequestWords<'_>) -> Option<RequestReading> {
        let path = self.last_file()?;
        let asks = request.text.trim_end().ends_with('?')
            || request.has_any(&["what", "which", "when", "who", "where", "how"]);
        let others = self.named_files(request);
        if !asks || others.iter().any(|other| *other != path) || is_about_lango(request) {
            return None;
        }
        let content = self.files.read_text(&path)?.to_lowercase();
        let words: Vec<&str> = request
            .unquoted()
            .filter(|word| word.chars().count() > 2 && !lango_text::is_stop_word(word))
            .filter(|word| !QUESTION_FILLERS.contains(word))
            .collect();
        let said = |word: &&&str| {
            let stem = lango_text::stem_word(word);
            let short: String = word.chars().take(3).collect();
            content.contains(&stem)
                || content.split(|c: char| !c.is_alphanumeric()).any(|own| own == short)
        };
        let found = words.iter().filter(said).count();
        if found == 0 || 2 * found < words.len() {
            return None;
        }
        let pattern = self.best_words(request, &path)?;
        Some(RequestReading::call(
            PlannedCall::new("fs_search")
                .text("pattern", super::look::escape_pattern(&pattern))
                .text("path", path)
                .with("ignore_case", Argument::Boolean(true)),
        ))
    }

    /// Understands a request whose pronouns mean the files of the turn before.
    fn resolve_pronouns(
        &self,
        request: &RequestWords<'_>,
        last: &EarlierCall,
    ) -> Option<RequestReading> {
        let files: Vec<&String> =
            last.files.iter().filter(|path| self.files.kind_of(path).is_some()).collect();
        if files.is_empty() {
            return None;
        }
        let words = &request.words;
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        // "the second one", "number 3"
        for at in 0..words.len() {
            let Some(position) = ordinal(text(at), files.len()) else { continue };
            let follows = matches!(
                text(at + 1),
                "one" | "file" | "entry" | "" | "result" | "hit" | "match" | "item" | "folder"
            ) && !words[at].is_quoted;
            if follows && !matches!(text(at + 1), "line" | "lines") && files.len() > 1 {
                let start = if at > 0 && text(at - 1) == "the" {
                    words[at - 1].range.start
                } else {
                    words[at].range.start
                };
                let end = if text(at + 1).is_empty() {
                    words[at].range.end
                } else {
                    words[at + 1].range.end
                };
                return self.understand_with(request.text, start..end, &[files.get(position)?]);
            }
        }
        let all: Vec<&&String> = files.iter().collect();
        let pronoun = (0..words.len()).find(|at| {
            !words[*at].is_quoted
                && match text(*at) {
                    "it" | "them" | "those" | "these" | "both" => true,
                    "that" | "this" => {
                        !matches!(
                            text(at + 1),
                            "the"
                                | "i"
                                | "we"
                                | "you"
                                | "is"
                                | "s"
                                | "folder"
                                | "directory"
                                | "project"
                                | "computer"
                        ) && text(at + 1).is_empty()
                            || matches!(
                                text(at + 1),
                                "to" | "in" | "into" | "as" | "file" | "one" | "please"
                            )
                    }
                    "there" => {
                        matches!(text(at.wrapping_sub(1)), "in" | "from") || *at + 1 == words.len()
                    }
                    _ => false,
                }
        })?;
        let several = matches!(text(pronoun), "them" | "those" | "these" | "both");
        if !several && files.len() > 1 {
            return None;
        }
        let mut range = words[pronoun].range.clone();
        if matches!(text(pronoun + 1), "file" | "one" | "files" | "ones") {
            range.end = words[pronoun + 1].range.end;
        }
        let names: Vec<&String> = all.into_iter().copied().collect();
        if text(pronoun) == "there" && text(pronoun.wrapping_sub(1)) != "in" {
            let resolved = format!(
                "{} in {}{}",
                &request.text[..range.start].trim_end(),
                quote_name(names[0]),
                &request.text[range.end..]
            );
            return Some(self.understand_alone(&RequestWords::of(&resolved)));
        }
        self.understand_with(request.text, range, &names)
    }

    /// Understands a text in which names take the place of a pronoun.
    fn understand_with(
        &self,
        text: &str,
        range: std::ops::Range<usize>,
        names: &[&String],
    ) -> Option<RequestReading> {
        let names: Vec<String> = names.iter().map(|name| quote_name(name)).collect();
        let resolved =
            format!("{}{}{}", &text[..range.start], names.join(", "), &text[range.end..]);
        match self.understand_alone(&RequestWords::of(&resolved)) {
            RequestReading::Open => None,
            understood => Some(understood),
        }
    }

    /// Returns the one file that the call before was about.
    pub(super) fn last_file(&self) -> Option<String> {
        let [path] = self.earlier.last()?.files.as_slice() else { return None };
        (self.files.kind_of(path) == Some(false)).then(|| path.clone())
    }
}

/// Words of a question that say nothing about its subject.
#[rustfmt::skip]
const QUESTION_FILLERS: &[&str] = &[
    "again", "remind", "tell", "show", "right", "please", "day", "exactly", "say", "says", "there",
];

/// Tells whether a question is about the program itself.
fn is_about_lango(request: &RequestWords<'_>) -> bool {
    request.has_any(&["lango", "you", "your", "u"])
}

/// Tells whether a request wants the call before to be undone.
fn asks_to_take_back(request: &RequestWords<'_>) -> bool {
    let words: Vec<&str> = request.unquoted().collect();
    if words.len() > 16
        || request.has_phrase(&["how do i", "how can i", "can i", "how to", "will it"])
    {
        return false;
    }
    let by_word = request.has_any(&["undo", "revert", "unmove", "undelete"]);
    let by_phrase = request.has_phrase(&[
        "old name",
        "former name",
        "previous name",
        "where it was",
        "as it was",
        "the way it was",
        "like it was",
        "like before",
        "as before",
        "roll back",
        "roll it back",
    ]);
    // "put it back", "change that back"
    let verbs =
        ["put", "bring", "move", "take", "change", "get", "give", "set", "switch", "rename"];
    let by_verb = words.iter().enumerate().any(|(at, word)| {
        verbs.contains(word)
            && words[at + 1..].iter().take(3).any(|next| matches!(*next, "back" | "again"))
            && words[at + 1..].iter().take(2).any(|next| {
                matches!(*next, "it" | "that" | "them" | "this" | "back" | "everything")
            })
    });
    words.len() <= 8 && (by_word || by_verb) || by_phrase || by_verb && request.has_any(&["no"])
}

/// Returns the name after one of these words.
fn name_after(request: &RequestWords<'_>, before: &[&str]) -> Option<String> {
    let at = request.words.iter().position(|word| before.contains(&word.text.as_str()))?;
    let from = request.words.get(at + 1)?.range.start;
    let name = strip_filler(&request.text[from..]).trim_matches(['"', '\'', '`', '“', '”', '.']);
    (!name.is_empty() && name.split_whitespace().count() <= 4).then(|| name.to_owned())
}

/// Writes the same content to another file.
fn same_content(rest: &str, mut arguments: BTreeMap<String, Argument>) -> Option<RequestReading> {
    let path = rest.split_whitespace().find(|word| word.contains(['.', '/']))?;
    let path = path.trim_matches(['"', '\'', '`', ',']);
    arguments.get("content")?;
    arguments.insert("path".to_owned(), Argument::Text(path.to_owned()));
    Some(RequestReading::call(PlannedCall { tool: "fs_write".to_owned(), arguments }))
}

/// Reads the arguments of an earlier call.
pub(super) fn parse_arguments(json: &str) -> BTreeMap<String, Argument> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(json) else {
        return BTreeMap::new();
    };
    let value = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => Some(Argument::Text(text)),
        serde_json::Value::Bool(value) => Some(Argument::Boolean(value)),
        serde_json::Value::Number(number) => {
            number.as_i64().map(Argument::Integer).or_else(|| number.as_f64().map(Argument::Number))
        }
        serde_json::Value::Array(items) => Some(Argument::List(
            items.into_iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
        )),
        _ => None,
    };
    fields.into_iter().filter_map(|(name, field)| Some((name, value(field)?))).collect()
}

/// Returns the position that a word names in a list of this length.
pub(super) fn ordinal(word: &str, count: usize) -> Option<usize> {
    let position = match word {
        "first" | "1st" | "1" | "#1" => 0,
        "second" | "2nd" | "2" | "#2" => 1,
        "third" | "3rd" | "3" | "#3" => 2,
        "fourth" | "4th" | "4" | "#4" => 3,
        "fifth" | "5th" | "5" | "#5" => 4,
        "last" => count.checked_sub(1)?,
        _ => return None,
    };
    (position < count).then_some(position)
}

/// Writes a path so that it is read as one name.
pub(super) fn quote_name(path: &str) -> String {
    if path.contains(' ') { format!("\"{path}\"") } else { path.to_owned() }
}
