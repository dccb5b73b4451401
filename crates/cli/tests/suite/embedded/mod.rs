//! The embedded model, in whole turns from a fresh home directory: no key, no server, no network.

mod can;
mod cannot;
mod hostile;
mod mcp;
mod natural;
mod questions;
mod router;
mod unseen;
mod vault;

use lango_protocol::EventBody;
use serde_json::Value;

use crate::fixture::Lango;
use crate::invocation::Invocation;
use crate::journal::Turn;

/// `lango run` with nothing set up, and so with the embedded model.
fn ask<'a>(lango: &'a Lango, text: &str) -> Invocation<'a> {
    lango.bare(&["run", "--output-format", "stream-json", text])
}

/// The same in a conversation of this name.
fn ask_in<'a>(lango: &'a Lango, session: &str, text: &str) -> Invocation<'a> {
    ask(lango, text).with(&["--session", session])
}

/// What was called, with its arguments.
fn calls(turn: &Turn) -> Vec<(&str, Value)> {
    let called = turn.events.iter().filter_map(|event| match &event.body {
        EventBody::ToolCall { tool, arguments, .. } => {
            Some((tool.as_str(), serde_json::from_str(arguments).unwrap()))
        }
        _ => None,
    });
    called.collect()
}

/// Which model decided each transfer.
fn deciders(turn: &Turn) -> Vec<&str> {
    let decided = turn.events.iter().filter_map(|event| match &event.body {
        EventBody::Transfer { decided_by, .. } => decided_by.as_deref(),
        _ => None,
    });
    decided.collect()
}
