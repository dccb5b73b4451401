//! Makes the calls that change files. Each needs a verb that asks for the change.

use super::evidence::class_of_tool;
use lango_phrases::folders::{names_of_folders, read_nested_folders};
use lango_phrases::lines::put_items_on_lines;
use lango_phrases::mentions::is_placeholder;
pub(super) use lango_phrases::mentions::is_pronoun;

use super::file_names::{FoundEntry, WantedEntry};
use super::sources::{FoundSources, strip_filler};
use super::spelling::{differ_only_in_numbers, strip_extension};
use super::verbs::VerbClass;
use super::words::RequestWords;
use super::{
    Completion, PlannedCall, Question, RequestReading, Understanding, ask, ask_for, one_or_several,
};
use crate::arguments::Argument;

/// Returns what stands between the verb and the path: "write two beds with a view into list.txt".
fn content_before_path<'t>(request: &RequestWords<'t>, path: Option<&str>) -> Option<&'t str> {
    let path = path.filter(|path| has_extension(path))?;
    let rest =
        request.text.strip_prefix("write ").or_else(|| request.text.strip_prefix("Write "))?;
    let before = rest.trim_end_matches(['.', '!', ' ']).strip_suffix(path)?.trim_end();
    let content = before.strip_suffix(" into").or_else(|| before.strip_suffix(" to"))?.trim();
    let is_plain = request.quotations.is_empty() && !content.contains([':', '\n']);
    (is_plain && !content.is_empty() && !is_pronoun(content)).then_some(content)
}

impl Understanding<'_> {
    pub(super) fn change_call(
        &self,
        tool: &'static str,
        request: &RequestWords<'_>,
    ) -> RequestReading {
        let Some(class) = class_of_tool(tool) else { return RequestReading::Open };
        let is_of_text = matches!(tool, "fs_edit" | "fs_append" | "fs_delete" | "fs_write");
        if is_of_text && let Some(reading) = self.line_change(request) {
            return self.check_change(reading, request);
        }
        let is_substitution =
            tool == "fs_edit" && super::edit::substitution(request.text).is_some();
        if !class.is_said(request) && !is_substitution {
            return ask(ask_what_to_do(&self.mentioned_files(request)));
        }
        // "make app.py print one instead of two": what is there is changed.
        let replaces = tool == "fs_write"
            && request.quotations.is_empty()
            && request.has_phrase(&["instead of", "rather than"])
            && !self.named_files(request).is_empty();
        let reading = match tool {
            "fs_move" | "fs_copy" => self.relocate_call(tool, request),
            "fs_delete" => self.delete_call(request),
            "fs_mkdir" => self.make_directory_call(request),
            "fs_write" if !replaces => self.write_call(request),
            "fs_append" => self.append_call(request),
            _ => self.edit_call(request),
        };
        self.check_change(reading, request)
    }

    fn delete_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let mention = self
            .span_text("fs_delete", "path", request)
            .filter(|mention| !is_pronoun(strip_filler(mention)));
        let found = match mention {
            Some(mention) => self.find_sources(&mention, request, WantedEntry::Any),
            None => match self.mentioned_files(request).as_slice() {
                [one] => FoundSources::Paths(vec![one.clone()]),
                _ => FoundSources::Ask(Question::new("What should be deleted?")),
            },
        };
        let paths = match found {
            FoundSources::Paths(paths) => paths,
            FoundSources::Ask(question) => return RequestReading::Ask(question),
        };
        let paths = self.add_listed(paths, None, request);
        if let Some(reading) = self.part_to_remove(request, &paths) {
            return reading;
        }
        let paths = match self.find_in_directory(request, &paths) {
            Some(FoundSources::Paths(inside)) => inside,
            Some(FoundSources::Ask(question)) => return RequestReading::Ask(question),
            None => paths,
        };
        let keeps_directory = request.has_any(&["keep", "stays", "stay", "leave"])
            && request.has_any(&["folder", "directory", "dir"])
            || request.has_phrase(&[
                "files of",
                "files in",
                "all files",
                "all the files",
                "everything in",
                "contents of",
                "content of",
                "files inside",
                "everything inside",
            ]);
        let paths: Vec<String> = if keeps_directory {
            let inside = |path: String| match self.files.kind_of(&path) {
                Some(true) => {
                    self.files.files_within(&path).into_iter().map(str::to_owned).collect()
                }
                _ => vec![path],
            };
            paths.into_iter().flat_map(inside).collect()
        } else {
            paths
        };
        if paths.is_empty() {
            return RequestReading::Say("There is nothing in it to delete.".to_owned());
        }
        let has_directory = paths.iter().any(|path| self.files.kind_of(path) == Some(true));
        if has_directory && paths.iter().any(|path| path == ".") {
            return ask(
                "Which files should be deleted? I do not delete the whole workspace.".to_owned()
            );
        }
        let mut call = PlannedCall::new("fs_delete").with("path", one_or_several(paths));
        if has_directory {
            call = call.with("recursive", Argument::Boolean(true));
        }
        RequestReading::call(call)
    }

    fn make_directory_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let make = PlannedCall::new("fs_mkdir");
        let unnamed = || {
            ask_for(
                "What should the folder be called?",
                Completion::Argument { call: make.clone(), name: "path" },
            )
        };
        if let Some(nested) = read_nested_folders(request.text) {
            let outer = clean_directory(&nested.outer);
            let inner = nested.inner.iter().map(|name| join(&outer, &clean_directory(name)));
            let names = std::iter::once(outer.clone()).chain(inner);
            let calls = names.map(|name| PlannedCall::new("fs_mkdir").text("path", name));
            return RequestReading::Calls(calls.collect());
        }
        let Some(span) = self
            .span_text("fs_mkdir", "path", request)
            .filter(|span| !is_pronoun(strip_filler(span)))
        else {
            return unnamed();
        };
        let names = directory_names(with_article(&span, request.text), request);
        let names = self.names_at_place(names, request);
        if names.is_empty() {
            return unnamed();
        }
        let calls = names.into_iter().map(|name| PlannedCall::new("fs_mkdir").text("path", name));
        RequestReading::Calls(calls.collect())
    }

    /// Returns names with the directory that they are to be made in: "a folder 2026 in docs".
    fn names_at_place(&self, names: Vec<String>, request: &RequestWords<'_>) -> Vec<String> {
        const PLACES: &[&str] = &["in", "inside", "under", "within", "into"];
        let Some(at) = request
            .words
            .iter()
            .rposition(|word| PLACES.contains(&word.text.as_str()) && !word.is_quoted)
        else {
            return names;
        };
        let Some(place) = self.find_directory_after(request, PLACES) else { return names };
        let is_place = |name: &String| name.trim_end_matches('/').eq_ignore_ascii_case(&place);
        // The place was taken for the name.
        let names = if names.iter().all(is_place) {
            names_of_folders(&request.text[..request.words[at].range.start])
        } else {
            names
        };
        let is_new = |name: &String| !name.contains('/') && !is_place(name);
        names
            .into_iter()
            .map(|name| if is_new(&name) { join(&place, &name) } else { name })
            .collect()
    }

    /// Deletes the files of a directory: "empty tmp".
    fn empty_directory(&self, request: &RequestWords<'_>) -> Option<RequestReading> {
        let empties = request
            .unquoted()
            .find(|word| !matches!(*word, "please" | "pls" | "can" | "you" | "could" | "now"))
            .is_some_and(|word| matches!(word, "empty" | "clear"));
        let mentioned = self.mentioned_files(request);
        let [directory] = mentioned.as_slice() else { return None };
        if !empties || self.files.kind_of(directory) != Some(true) || directory == "." {
            return None;
        }
        let kept = self.find_exceptions(request);
        let files = self.files.files_within(directory).into_iter().map(str::to_owned);
        let files: Vec<String> = files.filter(|path| !kept.contains(path)).collect();
        Some(if files.is_empty() {
            RequestReading::Say(format!("There is nothing in {directory} to delete."))
        } else {
            RequestReading::call(PlannedCall::new("fs_delete").with("path", one_or_several(files)))
        })
    }

    fn write_call(&self, request: &RequestWords<'_>) -> RequestReading {
        if let Some(reading) = self.empty_directory(request) {
            return reading;
        }
        let spans = self.spans("fs_write", request);
        let text = |name: &str| spans.get(name).and_then(Argument::as_text);
        let Some(path) = text("path").map(strip_filler).filter(|path| !is_pronoun(path)) else {
            return ask_for("What should the file be called?", Completion::NewFile);
        };
        let empties = request.has_any(&["empty", "blank", "truncate", "touch", "clear"]);
        if let Some(calls) = empty_files(path, empties) {
            return RequestReading::Calls(calls);
        }
        let named = named_new_file(request);
        let path = match &named {
            // "put an empty VERSION file in releases": the place is no name.
            Some(named) if self.files.kind_of(path) == Some(true) => named.as_str(),
            _ => path,
        };
        let path = match self.files.find(path, WantedEntry::File) {
            FoundEntry::One(found)
                if found.eq_ignore_ascii_case(path)
                    || !has_extension(path) && names_it(&found, path) =>
            {
                found
            }
            // "put a file x in docs"
            _ if !path.contains('/') => {
                let place = self
                    .find_directory_after(request, &["in", "inside", "into", "under", "within"]);
                join(&place.unwrap_or_default(), path)
            }
            _ => path.to_owned(),
        };
        let exists = self.files.kind_of(&path) == Some(false) && !self.files.is_expected(&path);
        let overwrites = VerbClass::Overwrite.is_said(request);
        if overwrites
            && let FoundEntry::Nothing(near) = self.files.find(&path, WantedEntry::File)
            && is_other_number(&path, &near)
        {
            return super::look::ask_for_file(Some(&path), &near);
        }
        let is_quoted = !request.quotations.is_empty();
        let content =
            text("content").filter(|content| is_quoted || !empties && !is_placeholder(content));
        let content = content_before_path(request, text("path")).or(content);
        let on_lines = content.and_then(|content| put_items_on_lines(request.text, content));
        let content = on_lines.as_deref().or(content);
        match (content, exists) {
            (Some(_), true)
                if !overwrites && request.has_any(&["add", "append", "insert", "also"]) =>
            {
                self.append_call(request)
            }
            (Some(content), true) if !overwrites => ask_for(
                format!("{path} exists already. Should its content be replaced?"),
                Completion::Confirm(vec![
                    PlannedCall::new("fs_write")
                        .text("path", path.clone())
                        .text("content", content),
                ]),
            ),
            (None, true) if !overwrites => {
                ask(format!("{path} exists already. What should happen to it?"))
            }
            (Some(content), _) => RequestReading::call(
                PlannedCall::new("fs_write").text("path", path).text("content", content),
            ),
            (None, _) if empties || has_extension(&path) && !exists && says_new_file(request) => {
                RequestReading::call(
                    PlannedCall::new("fs_write").text("path", path).text("content", ""),
                )
            }
            (None, _) => {
                let call = PlannedCall::new("fs_write").text("path", path.clone());
                ask_for(
                    format!("What should {path} contain?"),
                    Completion::Argument { call, name: "content" },
                )
            }
        }
    }

    fn append_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let spans = self.spans("fs_append", request);
        let text = |name: &str| spans.get(name).and_then(Argument::as_text);
        let mention = text("path").map(strip_filler).filter(|path| !is_pronoun(path));
        let path = match mention {
            Some(mention) => match self.files.find(mention, WantedEntry::File) {
                FoundEntry::One(path) => path,
                FoundEntry::Several(paths) => return super::look::ask_which(&paths),
                FoundEntry::Nothing(near)
                    if has_extension(mention)
                        && !mention.contains(' ')
                        && !is_other_number(mention, &near) =>
                {
                    mention.to_owned()
                }
                FoundEntry::Nothing(near) => {
                    return super::look::ask_for_file(Some(mention), &near);
                }
            },
            None => match self.mentioned_files(request).as_slice() {
                [one] => one.clone(),
                _ => match self.last_file() {
                    Some(path) => path,
                    None => return ask("To which file should it be added?"),
                },
            },
        };
        match text("content").filter(|content| !is_placeholder(content)) {
            Some(content) if listed_lines(content).is_some() => RequestReading::call(
                PlannedCall::new("fs_append")
                    .text("path", path)
                    .text("content", listed_lines(content).unwrap_or_default()),
            ),
            Some(content) if content.contains(" and then ") && request.quotations.is_empty() => {
                ask(format!(
                    "What exactly should be added to {path}? Put each line into quotation marks."
                ))
            }
            Some(content) => RequestReading::call(
                PlannedCall::new("fs_append").text("path", path).text("content", content),
            ),
            None => {
                let call = PlannedCall::new("fs_append").text("path", path.clone());
                ask_for(
                    format!("What should be added to {path}?"),
                    Completion::Argument { call, name: "content" },
                )
            }
        }
    }
}

/// Tells whether a name that is not there differs in its numbers alone from one that is.
fn is_other_number(mention: &str, near: &[String]) -> bool {
    near.iter().any(|path| differ_only_in_numbers(base_name(mention), base_name(path)))
}

/// Returns the lines of "first a and then b".
fn listed_lines(content: &str) -> Option<String> {
    let rest = content.strip_prefix("first ")?;
    let lines: Vec<&str> =
        rest.split(" and then ").flat_map(|part| part.split(", then ")).map(str::trim).collect();
    (lines.len() > 1).then(|| lines.join("\n"))
}

/// Returns the calls that make several empty files.
fn empty_files(paths: &str, empties: bool) -> Option<Vec<PlannedCall>> {
    let names: Vec<&str> = paths
        .split(" and ")
        .flat_map(|part| part.split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let are_names = names.iter().all(|name| has_extension(name) && !name.contains(' '));
    let write = |name: &&str| PlannedCall::new("fs_write").text("path", *name).text("content", "");
    (empties && names.len() > 1 && are_names).then(|| names.iter().map(write).collect())
}

/// Returns the name of a new file that stands before or after the word "file": "an empty VERSION file".
fn named_new_file(request: &RequestWords<'_>) -> Option<String> {
    let at = request.words.iter().position(|word| word.text == "file")?;
    let text = |at: usize| request.words.get(at).map(|word| &request.text[word.range.clone()]);
    let is_name = |name: &&str| {
        has_extension(name)
            || name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    let before = at.checked_sub(1).and_then(text).filter(is_name);
    before.or_else(|| text(at + 1).filter(is_name)).map(str::to_owned)
}

/// Returns a name with the article that belongs to it: "a folder called The Lighthouse".
fn with_article<'t>(span: &'t str, text: &'t str) -> &'t str {
    let Some(at) = text.find(span) else { return span };
    let called = ["called The ", "named The ", "\"The ", "'The "];
    if called.iter().any(|words| text[..at].ends_with(words)) {
        &text[at - 4..at + span.len()]
    } else {
        span
    }
}

/// Returns the names of directories to make: several, and some within others.
fn directory_names(span: &str, request: &RequestWords<'_>) -> Vec<String> {
    let lower = request.text.to_lowercase();
    let split = |text: &str| -> Vec<String> {
        let mut parts = vec![text.to_owned()];
        for separator in [", and ", " and ", ", ", ","] {
            parts = parts
                .iter()
                .flat_map(|part| part.split(separator).map(str::to_owned).collect::<Vec<_>>())
                .collect();
        }
        let parts: Vec<String> = parts
            .iter()
            .map(|part| clean_directory(part))
            .filter(|part| !part.is_empty())
            .collect();
        parts
    };
    // "a folder A with a folder B inside", "A with subdirectories Q1, Q2"
    for words in [
        " with subdirectories ",
        " with subfolders ",
        " with folders ",
        " with sub folders ",
        " containing ",
    ] {
        if let Some(at) = lower.find(words).filter(|_| lower.len() == request.text.len()) {
            let parent = split(span.split(words).next().unwrap_or(span)).into_iter().next();
            let inside = split(
                request.text[at + words.len()..].trim_end_matches(" inside").trim_end_matches('.'),
            );
            if let Some(parent) = parent {
                return std::iter::once(parent.clone())
                    .chain(inside.iter().map(|name| join(&parent, name)))
                    .collect();
            }
        }
    }
    if let Some(at) = lower.find(" with a folder ").filter(|_| lower.len() == request.text.len()) {
        let rest = request.text[at + " with a folder ".len()..]
            .trim_end_matches('.')
            .trim_end_matches(" inside")
            .trim_end_matches(" in it");
        let parent = clean_directory(span.split(" with ").next().unwrap_or(span));
        return vec![parent.clone(), join(&parent, &clean_directory(rest))];
    }
    let names = split(span);
    // "make three folders: week1 week2 week3"
    if let [one] = names.as_slice()
        && one.contains(' ')
        && request.has_any(&["folders", "dirs", "directories", "two", "three", "four", "five"])
        && !request.quotations.iter().any(|quotation| request.text[quotation.clone()] == *one)
    {
        return one.split_whitespace().map(str::to_owned).collect();
    }
    names
}

fn clean_directory(name: &str) -> String {
    let name = strip_filler(name).trim_matches(['"', '\'', '`', '“', '”']);
    let name =
        name.strip_prefix("a folder ").or_else(|| name.strip_prefix("folder ")).unwrap_or(name);
    name.trim_end_matches(" folder")
        .trim_end_matches(" inside")
        .trim_end_matches('.')
        .trim()
        .to_owned()
}

pub(super) fn says_rename(request: &RequestWords<'_>) -> bool {
    request.has_any(&["rename", "called", "call", "name", "named", "renamed"])
}

fn says_new_file(request: &RequestWords<'_>) -> bool {
    request.has_any(&["new", "create", "make", "touch", "start", "add", "empty"])
}

fn ask_what_to_do(files: &[String]) -> String {
    match files {
        [] => "What exactly should I do, and with which file?".to_owned(),
        files => format!("What exactly should I do with {}?", files.join(", ")),
    }
}

/// Tells whether a path is named by a mention without its extension.
fn names_it(path: &str, mention: &str) -> bool {
    strip_extension(base_name(path)).eq_ignore_ascii_case(mention)
}

pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(super) fn has_extension(name: &str) -> bool {
    let name = base_name(name);
    strip_extension(name).len() < name.len() || name.starts_with('.') && name.len() > 1
}

pub(super) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}
