//! Takes a request of several actions apart, where each of them is clear.

use lango_model::EarlierCall;

use super::file_names::FileNames;
use super::words::RequestWords;
use super::{PlannedCall, Question, RequestReading, Understanding};
use crate::arguments::{Argument, to_json};
use crate::steps::RequestStructure;

/// Verbs with which a further action begins.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "make", "create", "mkdir", "move", "mv", "copy", "cp", "rename", "delete", "remove", "rm",
    "add", "append", "put", "write", "save", "show", "list", "ls", "cat", "open", "read", "print",
    "display", "find", "search", "grep", "count", "run", "execute", "tell", "give", "replace",
    "change", "set", "update", "edit", "check", "start", "touch", "echo", "duplicate", "back",
    "throw", "erase", "trash", "remember", "remind", "note", "store", "ingest", "read", "view",
    "get", "drop", "bump", "tick", "let", "call", "look", "wipe", "clear", "stick", "do", "git",
    "python3", "npm", "cargo", "undo", "say", "zip", "name", "how", "what", "which", "also",
    "nuke", "toss",
];
/// Words between two actions, longest first.
#[rustfmt::skip]
const SEPARATORS: &[&str] = &[
    ", and after that ", " and after that ", ", after that ", "; after that ", ". after that ",
    ", and then also ", ", and then ", " and then ", ", then ", "; then ", ". then ", " then ",
    " afterwards ", ", and also ", " and also ", ", also ", ". also ", ", and finally ",
    " and finally ", ", finally ", ". finally ", ", and ", " and ", " & ", " && ", "; ", ". ",
    ", ", " plus ", "\n", " -> then ", " before you ",
];
/// Words before an action that say nothing.
#[rustfmt::skip]
const LEADS: &[&str] = &[
    "first", "then", "next", "finally", "please", "and", "also", "second", "third", "now",
    "afterwards", "after that", "lastly", "just", "can you", "could you", "i want you to",
    "i want to", "i need to", "go ahead and", "pls", "plz", "ok", "so", "hey", "1.", "2.", "3.",
    "-",
];

/// Says what a request of several actions means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StepReadings {
    /// It is one action, or it is not clear that it is several.
    One,
    /// Each is clear: the part of the text and its calls.
    Steps(Vec<(String, Vec<PlannedCall>)>),
    /// One of them needs an answer before anything is done.
    Ask(Question),
}

impl Understanding<'_> {
    /// Takes a request apart.
    pub(crate) fn understand_steps(&self, text: &str) -> StepReadings {
        let parts = split_actions(text);
        if parts.len() < 2 {
            return StepReadings::One;
        }
        let mut steps: Vec<(String, Vec<PlannedCall>)> = Vec::new();
        let mut earlier: Vec<EarlierCall> = self.earlier.to_vec();
        for part in &parts {
            let mut files = FileNames::new(self.files.surroundings());
            for (_, calls) in &steps {
                for call in calls {
                    for (path, is_directory) in outcome_of(call, &self.files) {
                        files.expect(&path, is_directory);
                    }
                }
            }
            let next = Understanding {
                reader: self.reader,
                own: self.own,
                colleagues: self.colleagues.clone(),
                files,
                earlier: &earlier,
            };
            // What only names a file is shown, as the part before it was.
            let is_name =
                !begins_with_verb(part) && next.mentioned_files(&RequestWords::of(part)).len() == 1;
            let understood = match steps.last() {
                Some(_) if is_name => next.understand(&format!("show me {part}")),
                _ => next.understand(part),
            };
            match understood {
                RequestReading::Calls(calls) => {
                    let made: Vec<EarlierCall> =
                        calls.iter().map(|call| expected_call(call, &next.files)).collect();
                    earlier.extend(made);
                    steps.push(((*part).to_owned(), calls));
                }
                RequestReading::Ask(question) if !steps.is_empty() => {
                    return StepReadings::Ask(Question {
                        text: format!("Before I begin: {}", question.text),
                        completion: super::Completion::Together,
                    });
                }
                RequestReading::Ask(question) => return StepReadings::Ask(question),
                RequestReading::Say(_) | RequestReading::Open => return StepReadings::One,
            }
        }
        StepReadings::Steps(steps)
    }
}

/// Returns a call as later steps will see it.
fn expected_call(call: &PlannedCall, files: &FileNames<'_>) -> EarlierCall {
    EarlierCall {
        tool: call.tool.clone(),
        arguments: to_json(&call.arguments),
        succeeded: true,
        files: outcome_of(call, files).into_iter().map(|(path, _)| path).collect(),
    }
}

/// Returns the files that there will be after a call, or that it is about.
fn outcome_of(call: &PlannedCall, files: &FileNames<'_>) -> Vec<(String, bool)> {
    let texts = |name: &str| match call.arguments.get(name) {
        Some(Argument::Text(text)) => vec![text.clone()],
        Some(Argument::List(texts)) => texts.clone(),
        _ => Vec::new(),
    };
    let known = |path: String| {
        let is_directory = files.kind_of(&path) == Some(true);
        (path, is_directory)
    };
    match call.tool.as_str() {
        "fs_mkdir" => texts("path").into_iter().map(|path| (path, true)).collect(),
        "fs_write" | "fs_append" | "fs_edit" | "fs_read" | "fs_stat" | "fs_list" => {
            texts("path").into_iter().map(known).collect()
        }
        "fs_move" | "fs_copy" => {
            let from = texts("from");
            let Some(to) = texts("to").into_iter().next() else { return Vec::new() };
            match from.as_slice() {
                [one] => vec![(to, files.kind_of(one) == Some(true))],
                several => several
                    .iter()
                    .map(|path| (format!("{to}/{}", super::change::base_name(path)), false))
                    .collect(),
            }
        }
        "fs_find" => {
            let within = texts("path").into_iter().next().unwrap_or_else(|| ".".to_owned());
            let patterns: Vec<String> =
                texts("glob").into_iter().flat_map(|glob| expand_braces(&glob)).collect();
            patterns
                .iter()
                .flat_map(|pattern| files.match_pattern(pattern, &within))
                .map(|path| (path, false))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn expand_braces(glob: &str) -> Vec<String> {
    match glob.split_once('{').and_then(|(before, rest)| {
        rest.split_once('}').map(|(inside, after)| (before, inside, after))
    }) {
        Some((before, inside, after)) => {
            inside.split(',').map(|part| format!("{before}{part}{after}")).collect()
        }
        None => vec![glob.to_owned()],
    }
}

/// Splits a text into actions: at words such as "then", and at "and" and commas before a verb.
pub(super) fn split_actions(text: &str) -> Vec<&str> {
    if let RequestStructure::List(items) = RequestStructure::of(text) {
        return items;
    }
    let lower = text.to_ascii_lowercase();
    let request = RequestWords::of(text);
    let is_quoted = |at: usize| request.quotations.iter().any(|quotation| quotation.contains(&at));
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        if !text.is_char_boundary(at) || is_quoted(at) {
            at += 1;
            continue;
        }
        let separator = SEPARATORS.iter().find(|separator| lower[at..].starts_with(**separator));
        if let Some(separator) = separator
            && begins_with_verb(&text[at + separator.len()..])
            && begins_with_verb(&text[start..at])
        {
            parts.push(&text[start..at]);
            start = at + separator.len();
            at = start;
            continue;
        }
        at += 1;
    }
    parts.push(&text[start..]);
    let parts: Vec<&str> =
        parts.into_iter().map(strip_lead_words).filter(|part| !part.is_empty()).collect();
    if let [one] = parts.as_slice()
        && let Some((before, after)) = split_shown(one)
    {
        return vec![before, after];
    }
    if parts.len() > 12 { Vec::new() } else { parts }
}

/// Splits "show me a and then b": the second has no verb of its own.
fn split_shown(text: &str) -> Option<(&str, &str)> {
    let first = text.split_whitespace().next()?.to_lowercase();
    if !matches!(first.as_str(), "show" | "read" | "open" | "cat" | "display" | "print") {
        return None;
    }
    let separator = [" and then ", ", then ", " then "]
        .into_iter()
        .find(|separator| text.contains(separator))?;
    let (before, after) = text.split_once(separator)?;
    Some((before.trim(), after.trim()))
}

fn strip_lead_words(part: &str) -> &str {
    let mut part = part.trim().trim_end_matches([',', ';']);
    loop {
        let before = part;
        for lead in LEADS {
            let begins =
                part.get(..lead.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(lead));
            if begins && let Some(rest) = part[lead.len()..].strip_prefix([' ', ',', ':']) {
                part = rest.trim_start();
            }
        }
        if part == before {
            return part;
        }
    }
}

pub(super) fn begins_with_verb(part: &str) -> bool {
    let part = strip_lead_words(part);
    // "in draft.md replace …"
    if let Some(rest) = part.strip_prefix("in ").or_else(|| part.strip_prefix("In ")) {
        let mut words = rest.split_whitespace();
        return words
            .by_ref()
            .take(4)
            .any(|word| VERBS.contains(&word.trim_end_matches(',').to_lowercase().as_str()));
    }
    let first: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '\'').collect();
    let rest = &part[first.len()..];
    let is_verb = VERBS.contains(&first.to_lowercase().as_str());
    // "show and tell", "read.me"
    is_verb && rest.starts_with([' ', ':']) && rest.trim().len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_told_from_lists_of_names() {
        for (text, expected) in [
            (
                "make a folder x and move the jpgs there",
                vec!["make a folder x", "move the jpgs there"],
            ),
            ("copy a.txt and b.txt to docs", vec!["copy a.txt and b.txt to docs"]),
            ("please create x.txt, then show it", vec!["create x.txt", "show it"]),
            (
                "add \"eggs and make tea\" to todo.txt",
                vec!["add \"eggs and make tea\" to todo.txt"],
            ),
            ("delete a.txt. then list the folder", vec!["delete a.txt", "list the folder"]),
        ] {
            assert_eq!(split_actions(text), expected, "{text}");
        }
    }
}
