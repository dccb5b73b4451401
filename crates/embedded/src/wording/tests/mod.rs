//! Real results of real tools, as they were printed, and what is said about them.

mod failures;
mod librarian;
mod memory;
mod operator;
mod others;
mod properties;
mod web;

use lango_model::AnsweredCall;
use lango_protocol::CallId;

use super::tell;

/// What is said about a call.
fn told(name: &str, arguments: &str, result: &str) -> String {
    let id = CallId::generate();
    tell(&AnsweredCall {
        id,
        name: name.into(),
        arguments: arguments.into(),
        result: result.into(),
    })
}

/// Words by which a call is told that did not do its work.
fn is_failure(told: &str) -> bool {
    [
        " failed",
        " was not done",
        " was not run",
        " is not permitted",
        " was stopped",
        "is not known",
    ]
    .iter()
    .any(|words| told.lines().next().unwrap_or_default().contains(words))
}
