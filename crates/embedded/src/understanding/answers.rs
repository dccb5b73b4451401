//! Understands the answer to a question: what it makes of the request that was asked about.

use super::file_names::{FoundEntry, WantedEntry};
use super::follow_up::{ordinal, quote_name};
use super::leads::strip_prefix_ignoring_case;
use super::sources::strip_filler;
use super::words::RequestWords;
use super::{Completion, PlannedCall, Question, RequestReading, Understanding};

impl Understanding<'_> {
    /// Returns what an answer makes of the request before it.
    pub(crate) fn answer_question(
        &self,
        before: &str,
        question: &Question,
        answer: &str,
    ) -> Option<RequestReading> {
        let answer = answer.trim();
        let value = strip_filler(answer).trim_matches(['"', '\'', '`', '“', '”']).trim();
        if value.is_empty() {
            return None;
        }
        let is_order = super::several::begins_with_verb(answer)
            && answer.split_whitespace().count() > 2
            || answer.contains(", ");
        if is_order
            && matches!(
                question.completion,
                Completion::File { .. } | Completion::Relocate { .. } | Completion::NewFile
            )
            && !answer.to_lowercase().starts_with("call it")
        {
            return None;
        }
        match &question.completion {
            Completion::Confirm(calls) => {
                is_yes(answer).then(|| RequestReading::Calls(calls.clone()))
            }
            Completion::Argument { call, name } => {
                Some(RequestReading::call(call.clone().text(name, value)))
            }
            Completion::Relocate { tool, from } => {
                let value = ["to", "into", "in", "call it", "name it"]
                    .iter()
                    .find_map(|words| strip_prefix_ignoring_case(value, words))
                    .unwrap_or(value);
                Some(self.relocate(tool, from, strip_filler(value), false))
            }
            Completion::File { call, name, candidates } => {
                let by_number = ordinal(
                    value.trim_end_matches(" one").trim_start_matches("the "),
                    candidates.len(),
                )
                .and_then(|at| candidates.get(at).cloned());
                let path = by_number.or_else(|| {
                    let named = candidates
                        .iter()
                        .filter(|path| path.to_lowercase().contains(&value.to_lowercase()));
                    let named: Vec<&String> = named.collect();
                    match named.as_slice() {
                        [one] => Some((*one).clone()),
                        _ => match self.files.find(value, WantedEntry::Any) {
                            FoundEntry::One(path) => Some(path),
                            _ => None,
                        },
                    }
                })?;
                let mut call = call.clone();
                if call.tool == "fs_read" && self.files.kind_of(&path) == Some(true) {
                    "fs_list".clone_into(&mut call.tool);
                }
                Some(RequestReading::call(call.text(name, path)))
            }
            Completion::NewFile => {
                let name = ["call it", "name it", "it should be called", "called", "named"]
                    .iter()
                    .find_map(|words| strip_prefix_ignoring_case(value, words))
                    .unwrap_or(value);
                let is_name = name.split_whitespace().count() <= 4;
                is_name.then(|| {
                    let call = PlannedCall::new("fs_write").text("path", strip_filler(name));
                    RequestReading::call(call.text("content", ""))
                })
            }
            Completion::Name { mention } => {
                let named = match self.files.find(value, WantedEntry::Any) {
                    FoundEntry::One(path) if answer.split_whitespace().count() <= 5 => path,
                    _ => match self.mentioned_files(&RequestWords::of(answer)).as_slice() {
                        [one] => one.clone(),
                        _ => return None,
                    },
                };
                let corrected = before.replacen(mention.as_str(), &quote_name(&named), 1);
                match self.understand_alone(&RequestWords::of(&corrected)) {
                    understood @ RequestReading::Calls(_) if corrected != before => {
                        Some(understood)
                    }
                    _ => None,
                }
            }
            Completion::Together => {
                let together = format!("{before} {answer}");
                match self.understand_alone(&RequestWords::of(&together)) {
                    RequestReading::Calls(calls) => Some(RequestReading::Calls(calls)),
                    _ => None,
                }
            }
        }
    }
}

fn is_yes(answer: &str) -> bool {
    let answer = answer.to_lowercase();
    let first = answer.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    matches!(
        first,
        "yes"
            | "y"
            | "yep"
            | "yeah"
            | "sure"
            | "ok"
            | "okay"
            | "yup"
            | "please"
            | "replace"
            | "overwrite"
            | "do"
    )
}
