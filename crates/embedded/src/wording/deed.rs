//! What a call was about, for sentences about its failure: never what came of it.

use lango_model::AnsweredCall;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::answer::code;

/// The arguments as a type of ours; none where they do not fit.
pub(super) fn given<'a, T: Deserialize<'a>>(call: &'a AnsweredCall) -> Option<T> {
    serde_json::from_str(&call.arguments).ok()
}

/// The text of one argument.
fn argument(call: &AnsweredCall, name: &str) -> Option<String> {
    let mut arguments: Map<String, Value> = given(call)?;
    match arguments.remove(name)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// "Reading `notes.md`": what a call would do, at the beginning of a sentence.
pub(super) fn deed(call: &AnsweredCall) -> String {
    let (doing, of) = match call.name.as_str() {
        "fs_list" => ("Listing", "path"),
        "fs_read" => ("Reading", "path"),
        "fs_search" => ("Searching files for", "pattern"),
        "fs_stat" => ("Looking at", "path"),
        "fs_write" => ("Writing", "path"),
        "fs_edit" => ("Editing", "path"),
        "fs_mkdir" => ("Making the directory", "path"),
        "fs_move" => ("Moving", "from"),
        "fs_delete" => ("Deleting", "path"),
        "exec_shell" => ("Running", "command"),
        "exec_background" => ("Starting", "command"),
        "exec_status" => ("Asking about the background command", "id"),
        "exec_stop" => ("Stopping the background command", "id"),
        "skill_run" => ("Using the skill", "name"),
        "browser_navigate" => ("Opening", "url"),
        "browser_read" => ("Reading the page", ""),
        "browser_click" => ("Clicking on the page", ""),
        "browser_type" => ("Typing into the page", ""),
        "browser_wait" => ("Waiting for the page", ""),
        "browser_screenshot" => ("Taking a picture of the page", ""),
        "browser_back" => ("Going back a page", ""),
        "browser_close" => ("Closing the browser", ""),
        "search_web" => ("Searching the web for", "query"),
        "rag_retrieve" => ("Searching the documents for", "query"),
        "rag_ingest" => match argument(call, "path") {
            Some(_) => ("Taking in", "path"),
            None => ("Taking in", "url"),
        },
        "search_knowledge" => ("Looking for knowledge about", "query"),
        "search_learnings" => ("Looking for lessons about", "query"),
        "save_knowledge" => ("Saving knowledge under", "key"),
        "create_skill" => ("Writing the skill", "name"),
        "graph_traverse" => ("Following the relations of", "start_node"),
        "memory_store" => ("Remembering this", ""),
        "memory_search" => ("Searching the memories for", "query"),
        "memory_forget" => ("Forgetting this", ""),
        "observe_event" => ("Writing this down", ""),
        "transfer_to_agent" => ("Handing over to", "agent_name"),
        _ => return tool(call),
    };
    match argument(call, of) {
        Some(text) if !text.trim().is_empty() => format!("{doing} {}", code(&text)),
        _ if of.is_empty() => doing.to_owned(),
        _ => tool(call),
    }
}

/// The tool's name, where there is no better word.
pub(super) fn tool(call: &AnsweredCall) -> String {
    code(call.valid_name())
}
