//! Makes the calls that move, rename and copy files.

use super::change::{base_name, has_extension, is_pronoun, join, says_rename};
use super::file_names::{FoundEntry, WantedEntry};
use super::look::is_here;
use super::sources::{FoundSources, strip_filler};
use super::spelling::strip_extension;
use super::words::RequestWords;
use super::{
    Completion, PlannedCall, Question, RequestReading, Understanding, ask, ask_for, one_or_several,
};
use crate::arguments::Argument;

/// Words between two names of a list.
const LISTED: &[&str] = &[
    " and ",
    ", ",
    ", and ",
    " & ",
    " and also ",
    " and the file ",
    " and also the file ",
    " and the folder ",
    " and also the folder ",
];

impl Understanding<'_> {
    pub(super) fn relocate_call(
        &self,
        tool: &'static str,
        request: &RequestWords<'_>,
    ) -> RequestReading {
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
                None if is_copy => FoundSources::Ask(Question::new("What should be copied?")),
                None => FoundSources::Ask(Question::new("What should be moved or renamed?")),
            }
        };
        let from = match from {
            FoundSources::Paths(paths) => {
                self.find_in_directory(request, &paths).unwrap_or(FoundSources::Paths(paths))
            }
            ask @ FoundSources::Ask(_) => ask,
        };
        let from = match from {
            FoundSources::Paths(paths) => self.add_listed(paths, to.as_deref(), request),
            FoundSources::Ask(question) => return RequestReading::Ask(question),
        };
        if let Some(calls) = self.relocate_to_each(tool, &from, request) {
            return RequestReading::Calls(calls);
        }
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

    /// Adds the files that are listed after the first one: "move log.txt and build.log in there".
    pub(super) fn add_listed(
        &self,
        from: Vec<String>,
        to: Option<&str>,
        request: &RequestWords<'_>,
    ) -> Vec<String> {
        let [one] = from.as_slice() else { return from };
        let lower = request.text.to_lowercase();
        let name = base_name(one).to_lowercase();
        let is_listed = |path: &String| {
            let other = base_name(path).to_lowercase();
            // "the folder tmp and also the file a.txt", of which only the last one was found.
            let is_before = LISTED.iter().any(|between| {
                !between.starts_with(',') && lower.contains(&format!("{other}{between}{name}"))
            });
            is_before
                || LISTED.iter().any(|between| {
                    let pair = format!("{name}{between}{other}");
                    let after = lower.find(&pair).map(|at| lower[at + pair.len()..].trim_start());
                    // A directory may also be a word of the sentence.
                    after.is_some_and(|after| {
                        has_extension(&other)
                            || after.is_empty()
                            || after.starts_with([',', '.', '!', '/'])
                            || ["please", "pls", "too", "and "]
                                .iter()
                                .any(|end| after.starts_with(end))
                    })
                })
        };
        let mut listed = self.named_files(request);
        listed.extend(
            self.mentioned_files(request)
                .into_iter()
                .filter(|path| self.files.kind_of(path) == Some(true)),
        );
        let kept = self.find_exceptions(request);
        listed.retain(|path| !kept.contains(path));
        listed.retain(|path| path != one && to != Some(path.as_str()) && is_listed(path));
        from.into_iter().chain(listed).collect()
    }

    /// Copies a file to each directory of the call before: "copy it into both".
    fn relocate_to_each(
        &self,
        tool: &'static str,
        from: &[String],
        request: &RequestWords<'_>,
    ) -> Option<Vec<PlannedCall>> {
        let points = request.has_phrase(&[
            "into both",
            "to both",
            "in both",
            "into each",
            "to each",
            "into them",
            "in each",
        ]);
        // The directories of one turn were made by one call each.
        let made = self.earlier.iter().rev().take_while(|call| call.tool == "fs_mkdir");
        let mut directories: Vec<&String> = made.flat_map(|call| &call.files).collect();
        directories.reverse();
        if !points || tool != "fs_copy" || directories.len() < 2 {
            return None;
        }
        let call = |directory: &&String| match from {
            [one] => PlannedCall::new(tool)
                .text("from", one.clone())
                .text("to", join(directory, base_name(one))),
            several => PlannedCall::new(tool)
                .with("from", one_or_several(several.to_vec()))
                .text("to", (*directory).clone()),
        };
        Some(directories.iter().map(call).collect())
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
}
