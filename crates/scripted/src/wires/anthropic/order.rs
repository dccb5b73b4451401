//! Checks the order of messages and blocks in a request.

use std::collections::HashSet;

use super::parse::Turn;
use super::wire::{Block, MessageRole};

/// Checks that the first message is the user's, and that every call has its result at the beginning
/// of the next.
pub(super) fn check(turns: &[Turn<'_>]) -> Result<(), String> {
    let Some(first) = turns.first() else {
        return Err("messages: at least one message is required".into());
    };
    if first.role != MessageRole::User {
        return Err("messages: first message must use the \"user\" role".into());
    }
    check_ids(turns)?;
    for (index, turn) in turns.iter().enumerate() {
        let called = calls(turn);
        let next = turns.get(index + 1);
        let answered = next.map(first_results).unwrap_or_default();
        let open: Vec<_> = called.iter().filter(|id| !answered.contains(id)).copied().collect();
        if !open.is_empty() {
            return Err(format!(
                "messages.{index}: `tool_use` ids were found without `tool_result` blocks \
                 immediately after: {}. Each `tool_use` block must have a corresponding \
                 `tool_result` block in the next message.",
                open.join(", ")
            ));
        }
        if turn.role == MessageRole::User {
            let before = index.checked_sub(1).map(|before| calls(&turns[before]));
            check_results(index, turn, &before.unwrap_or_default())?;
        }
    }
    check_last(turns)
}

fn check_ids(turns: &[Turn<'_>]) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut ids = turns.iter().flat_map(calls);
    match ids.find(|id| !seen.insert(*id)) {
        Some(_) => Err("messages: `tool_use` ids must be unique".into()),
        None => Ok(()),
    }
}

fn check_results(index: usize, turn: &Turn<'_>, called: &[&str]) -> Result<(), String> {
    let mut seen = HashSet::new();
    for id in results(turn) {
        if !called.contains(&id) {
            return Err(format!(
                "messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. \
                 Each `tool_result` block must have a corresponding `tool_use` block in the \
                 previous message."
            ));
        }
        if !seen.insert(id) {
            return Err(format!(
                "messages.{index}: each tool_use must have a single result. Found multiple \
                 `tool_result` blocks with id: {id}"
            ));
        }
    }
    Ok(())
}

/// Checks that the text to continue does not end in white space.
fn check_last(turns: &[Turn<'_>]) -> Result<(), String> {
    let last = turns.last().filter(|turn| turn.role == MessageRole::Assistant);
    match last.and_then(|turn| turn.blocks.last()) {
        Some(Block::Text { text, .. }) if text.ends_with(char::is_whitespace) => {
            Err("messages: final assistant content cannot end with trailing whitespace".into())
        }
        _ => Ok(()),
    }
}

fn calls<'t>(turn: &'t Turn<'_>) -> Vec<&'t str> {
    let ids = turn.blocks.iter().filter_map(|block| match block {
        Block::ToolUse { id, .. } => Some(&**id),
        _ => None,
    });
    ids.collect()
}

fn result_id<'t>(block: &'t Block<'_>) -> Option<&'t str> {
    match block {
        Block::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}

fn results<'t>(turn: &'t Turn<'_>) -> impl Iterator<Item = &'t str> {
    turn.blocks.iter().filter_map(result_id)
}

/// Returns the results at the beginning of a message; one after other content counts as missing.
fn first_results<'t>(turn: &'t Turn<'_>) -> Vec<&'t str> {
    turn.blocks.iter().map_while(result_id).collect()
}
