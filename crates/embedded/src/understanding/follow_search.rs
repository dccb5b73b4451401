//! Changes the search or the list of the call before: other words, fewer files, or their number.

use lango_model::EarlierCall;

use super::find::{glob_of, sort_of, type_in};
use super::follow_up::parse_arguments;
use super::leads::{Lead, strip_lead};
use super::look::escape_pattern;
use super::sources::strip_filler;
use super::words::RequestWords;
use super::{PlannedCall, RequestReading, Understanding};
use crate::arguments::Argument;

/// Limits the words of a request that only changes the call before.
const MAX_WORDS: usize = 7;

/// What the call before searched for.
struct EarlierSearch {
    pattern: String,
    path: Option<String>,
}

impl EarlierSearch {
    /// Reads a search, or a command that searches.
    fn of(call: &EarlierCall) -> Option<Self> {
        let arguments = parse_arguments(&call.arguments);
        let text = |name: &str| arguments.get(name).and_then(Argument::as_text).map(str::to_owned);
        match call.tool.as_str() {
            "fs_search" => Some(Self { pattern: text("pattern")?, path: text("path") }),
            "exec_shell" => {
                let command = text("command")?;
                let mut words = command.split_whitespace();
                if !matches!(words.next(), Some("grep" | "rg" | "egrep" | "ag"))
                    || command.contains(['|', ';', '&', '>', '$', '`'])
                {
                    return None;
                }
                let mut plain = words.filter(|word| !word.starts_with('-'));
                let pattern = plain.next()?.trim_matches(['"', '\'']).to_owned();
                Some(Self { pattern, path: plain.next().map(str::to_owned) })
            }
            _ => None,
        }
    }

    fn call(&self, pattern: &str) -> PlannedCall {
        let call = PlannedCall::new("fs_search").text("pattern", pattern);
        match &self.path {
            Some(path) => call.text("path", path.clone()),
            None => call,
        }
    }
}

impl Understanding<'_> {
    /// Searches for other words at the same place: "now WARN", "and error?".
    pub(super) fn search_other_words(
        &self,
        request: &RequestWords<'_>,
        last: &EarlierCall,
    ) -> Option<RequestReading> {
        let search = EarlierSearch::of(last)?;
        let (rest, lead) = strip_lead(request.text)?;
        let rest = strip_filler(rest.strip_prefix("for ").unwrap_or(rest));
        let is_word = rest.split_whitespace().count() <= 2 && !rest.is_empty();
        if !is_word || lead == Lead::Place || super::several::begins_with_verb(rest) {
            return None;
        }
        let pattern = rest.trim_matches(['"', '\'', '`', '“', '”']);
        if self.files.kind_of(pattern).is_some() {
            return None;
        }
        let occurs = self.words_that_occur(pattern, search.path.as_deref().filter(|p| *p != "."));
        let pattern = occurs?;
        let mut call = search.call(&escape_pattern(&pattern));
        if pattern.chars().all(|c| !c.is_uppercase()) {
            call = call.with("ignore_case", Argument::Boolean(true));
        }
        Some(RequestReading::call(call))
    }

    /// Counts a part of what was shown: "how many of those are errors", "how many of these are in rust
    /// files".
    pub(super) fn count_part(
        &self,
        request: &RequestWords<'_>,
        last: &EarlierCall,
    ) -> Option<RequestReading> {
        let words: Vec<&str> = request.unquoted().collect();
        let at = words.windows(4).position(|four| {
            matches!(four, ["how", "many", "of", "those" | "these" | "them" | "which"])
        })?;
        let counted = |call: PlannedCall| {
            Some(RequestReading::call(call.with("count", Argument::Boolean(true))))
        };
        if let (Some(search), Some(extensions)) = (EarlierSearch::of(last), type_in(request)) {
            return counted(search.call(&search.pattern).text("glob", glob_of(&extensions)));
        }
        let path = self.last_file()?;
        let wanted = words[at + 4..].iter().find(|word| {
            !lango_text::is_stop_word(word)
                && !matches!(**word, "lines" | "line" | "contain" | "mention" | "say" | "have")
        })?;
        let pattern = self.words_that_occur(wanted, Some(&path))?;
        counted(
            PlannedCall::new("fs_search")
                .text("pattern", escape_pattern(&pattern))
                .text("path", path)
                .with("ignore_case", Argument::Boolean(true)),
        )
    }

    /// Shows one end of what was listed: "only the largest one", "and the newest?".
    pub(super) fn narrow_list(
        &self,
        request: &RequestWords<'_>,
        last: &EarlierCall,
    ) -> Option<RequestReading> {
        let (key, reverse) = sort_of(request)?;
        let is_list = matches!(last.tool.as_str(), "fs_list" | "fs_find");
        if !is_list
            || request.words.len() > MAX_WORDS
            || type_in(request).is_some()
            || !self.mentioned_files(request).is_empty()
            || !request.has_any(&["one", "ones", "only", "just", "which", "what's", "the"])
            || request.has_any(&["here", "everywhere", "project", "computer"])
        {
            return None;
        }
        let arguments = parse_arguments(&last.arguments);
        let mut call = PlannedCall::new("fs_find").text("sort", key);
        for name in ["path", "glob"] {
            if let Some(value) = arguments.get(name) {
                call = call.with(name, value.clone());
            }
        }
        if !call.arguments.contains_key("glob") {
            call = call.text("kind", "file");
        }
        if reverse {
            call = call.with("reverse", Argument::Boolean(true));
        }
        Some(RequestReading::call(call.with("limit", Argument::Integer(1))))
    }
}

/// Lists what was counted: "what are they called".
pub(super) fn list_counted(
    request: &RequestWords<'_>,
    last: &EarlierCall,
) -> Option<RequestReading> {
    let asks = request.has_phrase(&[
        "what are they called",
        "what are they",
        "which are they",
        "which ones",
        "list them",
        "show them",
        "name them",
        "what are their names",
        "their names",
        "which are those",
        "what are those",
        "which files are they",
        "show me them",
    ]);
    let mut arguments = parse_arguments(&last.arguments);
    let was_counted = arguments.remove("count").is_some();
    (asks && was_counted && request.words.len() <= MAX_WORDS)
        .then(|| RequestReading::call(PlannedCall { tool: last.tool.clone(), arguments }))
}
