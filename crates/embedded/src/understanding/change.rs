//! Makes the calls that change files. Each needs a verb that asks for the change.

use super::evidence::VerbClass;
use super::file_names::{FoundEntry, WantedEntry};
use super::look::is_here;
use super::sources::{FoundSources, strip_filler};
use super::spelling::strip_extension;
use super::words::RequestWords;
use super::{Completion, PlannedCall, RequestReading, Understanding, ask, ask_for, one_or_several};
use crate::arguments::Argument;

impl Understanding<'_> {
    pub(super) fn change_call(
        &self,
        tool: &'static str,
        request: &RequestWords<'_>,
    ) -> RequestReading {
        let Some(class) = VerbClass::of_tool(tool) else { return RequestReading::Open };
        let is_substitution =
            tool == "fs_edit" && super::edit::substitution(request.text).is_some();
        if !class.is_said(request) && !is_substitution {
            return ask(ask_what_to_do(&self.mentioned_files(request)));
        }
        match tool {
            "fs_move" | "fs_copy" => self.relocate_call(tool, request),
            "fs_delete" => self.delete_call(request),
            "fs_mkdir" => self.make_directory_call(request),
            "fs_write" => self.write_call(request),
            "fs_append" => self.append_call(request),
            _ => self.edit_call(request),
        }
    }

    fn relocate_call(&self, tool: &'static str, request: &RequestWords<'_>) -> RequestReading {
        let spans = self.spans(tool, request);
        let text = |name: &str| spans.get(name).and_then(Argument::as_text).map(strip_filler);
        let is_copy = tool == "fs_copy";
        let to = text("to").map(str::to_owned);
        let mention = text("from").filter(|from| !is_pronoun(from));
        let from = if let Some(from) = mention {
            self.find_sources(from, request, WantedEntry::Any)
        } else {
            let mut named = self.mentioned_files(request).into_iter();
            match named.find(|path| to.as_deref() != Some(path)) {
                Some(path) => FoundSources::Paths(vec![path]),
                None if is_copy => FoundSources::Ask("What should be copied?".to_owned()),
                None => FoundSources::Ask("What should be moved or renamed?".to_owned()),
            }
        };
        let from = match from {
            FoundSources::Paths(paths) => paths,
            FoundSources::Ask(question) => return ask(question),
        };
        let Some(to) = to.filter(|to| !is_pronoun(to)) else {
            let listed = from.join(", ");
            let question = if says_rename(request) {
                format!("What should {listed} be called?")
            } else {
                format!("Where should {listed} go?")
            };
            return ask_for(question, Completion::Relocate { tool, from });
        };
        self.relocate(tool, &from, &to, false)
    }

    /// Moves or copies files to a place, or to a new name. `is_exact` is a name that was typed in a command.
    pub(super) fn relocate(
        &self,
        tool: &'static str,
        from: &[String],
        to: &str,
        is_exact: bool,
    ) -> RequestReading {
        let to = to.trim_end_matches('/');
        let call = PlannedCall::new(tool);
        let directory = if is_here(to) && !is_exact || to == "." {
            Some(String::new())
        } else {
            match self.files.find(to, WantedEntry::Directory) {
                FoundEntry::One(path) if !has_extension(to) => Some(path),
                _ => None,
            }
        };
        match (from, directory) {
            ([one], Some(directory)) => {
                let target = join(&directory, base_name(one));
                if target == *one {
                    return RequestReading::Say(format!("{one} is there already."));
                }
                RequestReading::call(call.text("from", one.clone()).text("to", target))
            }
            (several, Some(directory)) => {
                let to = if directory.is_empty() { ".".to_owned() } else { directory };
                RequestReading::call(
                    call.with("from", one_or_several(several.to_vec())).text("to", to),
                )
            }
            ([one], None) => {
                let target = self.new_name(one, to, tool, is_exact);
                if self.files.kind_of(&target) == Some(false) {
                    return ask(format!(
                        "{target} exists already. Should it be overwritten, or should I use another name?"
                    ));
                }
                RequestReading::call(call.text("from", one.clone()).text("to", target))
            }
            (several, None) if has_extension(to) => {
                ask(format!("{} cannot all become {to}. Where should they go?", several.join(", ")))
            }
            (several, None) => RequestReading::call(
                call.with("from", one_or_several(several.to_vec())).text("to", to),
            ),
        }
    }

    /// Returns the new path of a file: in its own directory, unless the name says another one.
    fn new_name(&self, from: &str, to: &str, tool: &str, is_exact: bool) -> String {
        if is_exact || to.contains('/') {
            return to.to_owned();
        }
        let is_directory = self.files.kind_of(from) == Some(true);
        let parent = from.rsplit_once('/').map_or("", |(parent, _)| parent);
        if has_extension(to) || is_directory || to.starts_with('.') {
            return join(parent, to);
        }
        // A name without an extension keeps that of the file; "move it to archive" is a directory.
        let stem = strip_extension(base_name(from));
        let extension = &base_name(from)[stem.len()..];
        if tool == "fs_move" && extension.is_empty() {
            join(parent, to)
        } else {
            join(parent, &format!("{to}{extension}"))
        }
    }

    fn delete_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let mention = self
            .span_text("fs_delete", "path", request)
            .filter(|mention| !is_pronoun(strip_filler(mention)));
        let found = match mention {
            Some(mention) => self.find_sources(&mention, request, WantedEntry::Any),
            None => match self.mentioned_files(request).as_slice() {
                [one] => FoundSources::Paths(vec![one.clone()]),
                _ => FoundSources::Ask("What should be deleted?".to_owned()),
            },
        };
        let paths = match found {
            FoundSources::Paths(paths) => paths,
            FoundSources::Ask(question) => return ask(question),
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
        let Some(span) = self
            .span_text("fs_mkdir", "path", request)
            .filter(|span| !is_pronoun(strip_filler(span)))
        else {
            return unnamed();
        };
        let names = directory_names(with_article(&span, request.text), request);
        if names.is_empty() {
            return unnamed();
        }
        let calls = names.into_iter().map(|name| PlannedCall::new("fs_mkdir").text("path", name));
        RequestReading::Calls(calls.collect())
    }

    fn write_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let spans = self.spans("fs_write", request);
        let text = |name: &str| spans.get(name).and_then(Argument::as_text);
        let Some(path) = text("path").map(strip_filler).filter(|path| !is_pronoun(path)) else {
            return ask("What should the file be called?".to_owned());
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
        let empties = request.has_any(&["empty", "blank", "truncate", "touch", "clear"]);
        let content = text("content").filter(|_| !empties || !request.quotations.is_empty());
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
                FoundEntry::Nothing(_) if has_extension(mention) && !mention.contains(' ') => {
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

fn says_rename(request: &RequestWords<'_>) -> bool {
    request.has_any(&["rename", "called", "call", "name", "named", "renamed"])
}

fn says_new_file(request: &RequestWords<'_>) -> bool {
    request.has_any(&["new", "create", "make", "touch", "start", "add", "empty"])
}

/// Tells whether a mention only points to something.
pub(super) fn is_pronoun(mention: &str) -> bool {
    let mention = mention.to_lowercase();
    matches!(
        mention.trim_end_matches(['.', '!', '?']),
        "it" | "that"
            | "this"
            | "them"
            | "those"
            | "these"
            | "there"
            | "one"
            | "ones"
            | "here"
            | "same"
            | "same place"
            | "file"
            | "files"
            | "folder"
            | "both"
            | "all"
            | "something"
            | "stuff"
            | "stuff we dont need"
            | "somewhere"
            | "somewhere safe"
            | "that one"
            | "this one"
            | "the file"
            | "first one"
            | "second one"
            | "last one"
            | "other one"
            | "thing"
            | "things"
            | "that file"
            | "this file"
            | "chapter"
            | "new name"
            | "a new name"
    )
}

/// Tells whether a text only announces what is to be written.
fn is_placeholder(content: &str) -> bool {
    matches!(
        content.to_lowercase().trim(),
        "a line"
            | "line"
            | "something"
            | "a note"
            | "text"
            | "this"
            | "that"
            | "it"
            | "one"
            | "another line"
            | "a new line"
            | "some text"
    )
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

fn has_extension(name: &str) -> bool {
    let name = base_name(name);
    strip_extension(name).len() < name.len() || name.starts_with('.') && name.len() > 1
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}
