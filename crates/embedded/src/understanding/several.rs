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
    "nuke", "toss", "empty", "truncate", "take", "visit", "switch", "turn", "compute", "encrypt",
    "sign", "hash", "pay", "send", "schedule", "put", "bring", "ping", "jot", "inside",
];
/// Words between two actions, longest first.
#[rustfmt::skip]
const SEPARATORS: &[&str] = &[
    ", and after that ", " and after that ", ", after that ", "; after that ", ". after that ",
    ", and then also ", ", and then ", " and then ", ", then ", "; then ", ". then ", " then ",
    " afterwards ", ", and also ", " and also ", ", also ", ". also ", ", and finally ",
    " and finally ", ", finally ", ". finally ", ", and ", " and ", " & ", " && ", "; ", ". ",
    ", ", " plus ", "\n", " -> then ", " before you ", ", after ", " after ",
];
/// Words before an action that say nothing.
#[rustfmt::skip]
const LEADS: &[&str] = &[
    "first", "then", "next", "finally", "please", "and", "also", "second", "third", "now",
    "afterwards", "after that", "lastly", "just", "can you", "could you", "i want you to",
    "i want to", "i need to", "go ahead and", "pls", "plz", "ok", "so", "hey", "1.", "2.", "3.",
    "-",
];

/// Limits the files that are looked at for what a search will find.
const MAX_SEARCHED_FILES: usize = 400;

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
            let shortened = strip_reason(part);
            let is_name = !begins_with_verb(shortened)
                && next.mentioned_files(&RequestWords::of(shortened)).len() == 1;
            let is_counted = lango_phrases::steps::split_counted(text).is_some();
            let understood = match steps.last() {
                _ if is_name && is_counted => match next.understand(shortened) {
                    calls @ RequestReading::Calls(_) => calls,
                    _ => next.understand(&format!("show me {shortened}")),
                },
                Some((_, calls)) if is_name || is_shown(shortened, calls) => {
                    next.understand(&format!("show me {shortened}"))
                }
                Some((_, calls)) => match make_in_last(part, calls) {
                    Some(calls) => RequestReading::Calls(calls),
                    None => next.understand(shortened),
                },
                None => next.understand(shortened),
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

/// Makes files in the directory that the step before made: "inside a file a.txt that says hello", "in it
/// three empty files: a.md, b.md and c.md".
fn make_in_last(part: &str, before: &[PlannedCall]) -> Option<Vec<PlannedCall>> {
    let made = before.iter().rev().find(|call| call.tool == "fs_mkdir")?;
    let directory = made.arguments.get("path").and_then(Argument::as_text)?;
    let request = RequestWords::of(part);
    let base = super::change::base_name(directory).to_lowercase();
    let points =
        request.has_any(&["inside", "there"])
            || request.has_phrase(&["in it", "in there", "in that"])
            || request.words.iter().zip(request.words.iter().skip(1)).any(|(one, next)| {
                matches!(one.text.as_str(), "in" | "inside") && next.text == base
            });
    let names: Vec<&str> = request
        .words
        .iter()
        .filter(|word| !word.is_quoted)
        .map(|word| &request.text[word.range.clone()])
        .filter(|word| super::change::has_extension(word) && !word.contains('/'))
        .collect();
    let moves = request.has_any(&["move", "copy", "cp", "mv", "put", "rename", "delete"]);
    // "inside it a folder 2026"
    let relocates =
        request.has_any(&["move", "copy", "cp", "mv", "rename", "delete", "show", "list"]);
    if points && names.is_empty() && !relocates && !request.has_any(&["from", "file", "files"]) {
        let mut folders = lango_phrases::folders::names_of_folders(part);
        // "the photos folder" is there already.
        let lower = part.to_lowercase();
        folders.retain(|name| !lower.contains(&format!("the {} ", name.to_lowercase())));
        let make_folder = |name: &String| {
            PlannedCall::new("fs_mkdir").text("path", format!("{directory}/{name}"))
        };
        return (!folders.is_empty()).then(|| folders.iter().map(make_folder).collect());
    }
    if !points || names.is_empty() || moves {
        return None;
    }
    let content = match names.as_slice() {
        [_] => content_of(&request)?,
        _ if ["says", "with", "saying", "containing"]
            .iter()
            .any(|word| request.has_any(&[word])) =>
        {
            return None;
        }
        _ => String::new(),
    };
    let write = |name: &&str| {
        PlannedCall::new("fs_write")
            .text("path", format!("{directory}/{name}"))
            .text("content", content.clone())
    };
    Some(names.iter().map(write).collect())
}

/// Returns the content that a request gives a new file; empty if it gives none.
fn content_of(request: &RequestWords<'_>) -> Option<String> {
    const BEFORE: [&str; 8] = [
        "that just says",
        "that says",
        "which says",
        "saying",
        "containing",
        "with the text",
        "with the content",
        "that reads",
    ];
    let lower = request.text.to_lowercase();
    if lower.len() != request.text.len() {
        return None;
    }
    match BEFORE.iter().find_map(|words| lower.find(words).map(|at| at + words.len())) {
        Some(at) => {
            let content = request.text.get(at..)?.trim_start_matches([' ', ':']).trim();
            let content = content.strip_suffix(" for now").unwrap_or(content);
            Some(content.trim_matches(['"', '\'', '`', '“', '”']).to_owned())
        }
        None if request.has_any(&["with"]) => None,
        None => Some(String::new()),
    }
}

/// Tells whether a part without a verb goes on showing: "show me the guide and then the install doc".
fn is_shown(part: &str, before: &[PlannedCall]) -> bool {
    !begins_with_verb(part)
        && part.split_whitespace().count() <= 5
        && before.iter().all(|call| matches!(call.tool.as_str(), "fs_read" | "fs_list"))
}

/// Returns a part without a clause at its end that only gives a reason.
fn strip_reason(part: &str) -> &str {
    const REASONS: [&str; 9] = [
        ", i'm ",
        ", i am ",
        ", because ",
        " because ",
        " since that",
        ", since ",
        ", so that ",
        ", as i ",
        ", i want to ",
    ];
    let lower = part.to_lowercase();
    if lower.len() != part.len() || part.contains(['"', '“', '`']) {
        return part;
    }
    let cut = REASONS.iter().filter_map(|words| lower.find(words)).min();
    cut.and_then(|at| part.get(..at)).map_or(part, str::trim_end)
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
        "fs_search" => {
            let Some(pattern) = texts("pattern").into_iter().next() else { return Vec::new() };
            let wanted = pattern.replace('\\', "").to_lowercase();
            let within = texts("path").into_iter().next().unwrap_or_else(|| ".".to_owned());
            let paths = match files.kind_of(&within) {
                Some(false) => vec![within.as_str()],
                _ => files.files_within(&within),
            };
            paths
                .into_iter()
                .take(MAX_SEARCHED_FILES)
                .filter(|path| {
                    files.read_text(path).is_some_and(|text| text.to_lowercase().contains(&wanted))
                })
                .map(|path| (path.to_owned(), false))
                .collect()
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
    if let Some(parts) = lango_phrases::steps::split_counted(text) {
        return parts;
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

pub(crate) fn begins_with_verb(part: &str) -> bool {
    let part = strip_lead_words(part);
    if announces_new_file(part) {
        return true;
    }
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

/// Tells whether a part without a verb adds a file to a new directory: "three empty files in it: …".
fn announces_new_file(part: &str) -> bool {
    const COUNTS: [&str; 9] = ["a", "an", "one", "two", "three", "four", "five", "another", "in"];
    let lower = part.to_lowercase();
    let begin = lower.split(". ").next().unwrap_or(&lower);
    let first = begin.split_whitespace().next().unwrap_or_default();
    let places = [" in it", " inside", " in there", "in there ", "in it ", "inside "];
    COUNTS.contains(&first)
        && begin.contains("file")
        && places.iter().any(|place| begin.contains(place))
}

#[cfg(test)]
mod tests;
