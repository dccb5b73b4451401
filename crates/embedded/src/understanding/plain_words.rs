//! Chooses the tool that the words of a request say plainly.

use super::evidence::class_of_tool;
use super::verbs::VerbClass;
use super::words::RequestWords;
use super::{Understanding, asks_for_change, find, web};

impl Understanding<'_> {
    /// Returns the tool that the words say plainly, whatever the encoder says.
    pub(super) fn tool_by_words(
        &self,
        name: &str,
        request: &RequestWords<'_>,
    ) -> Option<&'static str> {
        let is_where = request.has_any(&["where", "where's", "wheres"]);
        if is_where
            && request.has_any(&["defined", "declared", "set", "used", "implemented", "mentioned"])
        {
            return Some("fs_search");
        }
        if self.has_tool("fs_search") && asks_for_lines(request) {
            return Some("fs_search");
        }
        if name == "fs_list" && find::type_in(request).is_some() {
            return Some("fs_find");
        }
        // A question about something that is not set up, with a file in it, is about the file.
        if !self.has_tool(name) && !is_where {
            let named = self.mentioned_files(request);
            let is_question = request.text.trim_end().ends_with('?')
                || request.has_any(&["how", "what", "which", "when", "who"]);
            return match named.as_slice() {
                [path] if self.files.kind_of(path) == Some(false) && !asks_for_change(request) => {
                    Some(if is_question { "fs_search" } else { "fs_read" })
                }
                _ => None,
            };
        }
        let shows = request.has_any(&["show", "open", "read", "cat", "see", "display", "view"])
            || request.has_phrase(&[
                "pull up",
                "bring up",
                "what does",
                "what is in",
                "what's in",
                "whats in",
                "what is written",
                "what's written",
                "says",
                "what says",
            ]);
        let is_other_agent =
            ["memory_", "browser_", "rag_", "search_", "librarian_", "graph_", "list_skills"]
                .iter()
                .any(|prefix| name.starts_with(prefix));
        if is_other_agent
            && shows
            && web::find_address(request).is_none()
            && !request.has_any(&["ingested", "documents", "knowledge", "remember", "library"])
        {
            let excepted = self.find_exceptions(request);
            let mut named = self.mentioned_files(request);
            named.retain(|path| !excepted.contains(path));
            named.sort();
            named.dedup();
            let files = named.iter().filter(|path| self.files.kind_of(path) == Some(false));
            return match named.as_slice() {
                _ if files.count() == 1 => Some("fs_read"),
                [path] if path.len() > 3 => Some("fs_list"),
                _ => None,
            };
        }
        let ticks = request.has_any(&["tick", "untick"])
            || request.has_phrase(&[
                "check off",
                "mark off",
                "cross off",
                "as done",
                "as finished",
                "mark it",
            ]);
        (ticks && !self.mentioned_files(request).is_empty()).then_some("fs_edit")
    }
}

/// Tells whether a request asks for lines or files that have some words.
fn asks_for_lines(request: &RequestWords<'_>) -> bool {
    const LINES_WITH: &[&str] = &[
        "each line with",
        "every line with",
        "all lines with",
        "any line with",
        "the lines with",
        "each line that",
        "every line that",
        "all lines that",
        "lines containing",
        "lines that contain",
        "lines mentioning",
        "lines that mention",
        "lines that have",
    ];
    let shows = request.has_phrase(LINES_WITH) && !asks_for_change(request);
    let asks_which = request.has_phrase(&[
        "which file",
        "which files",
        "what file",
        "what files",
        "which of my",
        "which of the",
        "which of our",
    ]) && request.has_any(&["contains", "contain", "mention", "mentions", "says"]);
    let counts = request.has_phrase(&["how many lines", "number of lines", "count the lines"])
        && request.has_any(&[
            "say",
            "says",
            "contain",
            "contains",
            "containing",
            "with",
            "mention",
            "mentions",
            "match",
            "matching",
            "have",
            "include",
        ]);
    shows || asks_which || counts
}

/// Returns the tool of an order that the encoder takes for a plan: it begins with a verb, and has no other.
pub(super) fn tool_of_single_order(request: &RequestWords<'_>) -> Option<&'static str> {
    const ACTIONS: &[&str] = &[
        "copy",
        "cp",
        "duplicate",
        "move",
        "mv",
        "rename",
        "delete",
        "remove",
        "rm",
        "erase",
        "create",
        "make",
        "mkdir",
        "append",
        "add",
        "write",
        "put",
        "show",
        "run",
        "send",
        "remind",
        "remember",
        "replace",
        "change",
        "open",
        "list",
        "read",
        "new",
        "copies",
    ];
    let tool = imperative_tool(request)?;
    let said = request.unquoted().filter(|word| ACTIONS.contains(word)).count();
    (said == 1).then_some(tool)
}

/// Corrects a choice between tools that differ in what the words say plainly.
pub(super) fn correct_tool(tool: &'static str, request: &RequestWords<'_>) -> &'static str {
    let says = |class: VerbClass| class.is_said(request);
    match tool {
        "fs_move"
            if says(VerbClass::Copy)
                && !request.has_any(&["move", "mv", "rename"])
                && !wants_one(request) =>
        {
            "fs_copy"
        }
        "fs_copy" if (!says(VerbClass::Copy) || wants_one(request)) && says(VerbClass::Move) => {
            "fs_move"
        }
        _ if class_of_tool(tool).is_some() => imperative_tool(request).unwrap_or(tool),
        _ => tool,
    }
}

/// Returns the tool of the verb with which a request begins, where it can mean no other: "in tmp delete …".
fn imperative_tool(request: &RequestWords<'_>) -> Option<&'static str> {
    let mut words = request.unquoted().skip_while(|word| {
        matches!(*word, "please" | "pls" | "ok" | "now" | "and" | "can" | "could" | "you" | "just")
    });
    let first = words.next()?;
    let verb = if first == "in" { words.nth(1)? } else { first };
    match verb {
        "delete" | "erase" | "rm" | "remove"
            if !request.has_any(&["line", "lines", "row", "entry", "word"]) =>
        {
            Some("fs_delete")
        }
        "copy" | "cp" | "duplicate" => Some("fs_copy"),
        "move" | "mv" => Some("fs_move"),
        _ => None,
    }
}

/// Tells whether a file shall not be there twice: "and please only one copy".
fn wants_one(request: &RequestWords<'_>) -> bool {
    request.has_phrase(&["only one copy", "just one copy", "a single copy"])
}
