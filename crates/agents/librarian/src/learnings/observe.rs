//! Observes a finished turn: failures, what helped against them, and whether advice did.
//!
//! This is a pure function over the turn's events. [`super::count`] processes the result.

use std::collections::HashMap;

use lango_protocol::{CallId, CallReport, CallStatus, Event, EventBody};
use lango_text::ellipsize_characters;

use super::advise::{advice_in, without_advice};
use super::difference::difference;
use super::mask::mask;

/// Limits the example of an error.
const MAX_EXAMPLE_CHARACTERS: usize = 300;

/// Holds what was seen in a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// Failures of tools, each kind once.
    pub failures: Vec<Failure>,
    /// Advice that was given, and whether it helped.
    pub advice: Vec<AdviceOutcome>,
}

/// Is one kind of failure of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The tool.
    pub tool: String,
    /// The error, masked.
    pub pattern: String,
    /// The last such error, as it was.
    pub example: String,
    /// The number of times it happened in the turn.
    pub times: u32,
    /// The difference in the next call of the tool that worked.
    pub fix: Option<String>,
}

/// Says whether advice helped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdviceOutcome {
    /// The lesson's id.
    pub id: String,
    /// True if the next call of the same tool worked.
    pub worked: bool,
}

struct Call<'a> {
    tool: &'a str,
    arguments: &'a str,
    author: Option<&'a str>,
    status: CallStatus,
    output: &'a str,
    report: Option<&'a CallReport>,
}

/// Returns the observation of one turn's events, in order.
pub fn observe(events: &[Event]) -> Observation {
    let calls = calls(events);
    let mut observation = Observation::default();
    for (position, call) in calls.iter().enumerate() {
        if !is_failure(call) {
            continue;
        }
        let same = |other: &&Call<'_>| other.tool == call.tool && other.author == call.author;
        let mut later = calls[position + 1..].iter().filter(same);
        if let (Some(id), Some(next)) = (advice_in(call.output), later.clone().next()) {
            let worked = next.status == CallStatus::Ok;
            if worked || is_failure(next) {
                observation.advice.push(AdviceOutcome { id: id.to_owned(), worked });
            }
        }
        let error = without_advice(call.output);
        let pattern = mask(error);
        if pattern.is_empty() {
            continue;
        }
        let fix = later
            .find(|other| other.status == CallStatus::Ok)
            .and_then(|worked| difference(call.arguments, worked.arguments));
        let example = ellipsize_characters(error.trim(), MAX_EXAMPLE_CHARACTERS);
        let known = |one: &&mut Failure| one.tool == call.tool && one.pattern == pattern;
        match observation.failures.iter_mut().find(known) {
            Some(failure) => {
                failure.times += 1;
                failure.example = example;
                // The last failure is the closest to the call that worked.
                failure.fix = fix.or(failure.fix.take());
            }
            None => observation.failures.push(Failure {
                tool: call.tool.to_owned(),
                pattern,
                example,
                times: 1,
                fix,
            }),
        }
    }
    observation
}

/// Tells whether a call ran and failed, or its arguments did not fit: a refusal says nothing about
/// how to call the tool.
fn is_failure(call: &Call<'_>) -> bool {
    match call.status {
        CallStatus::Error => true,
        CallStatus::Refused => call.report.is_some_and(|report| report.invalid_arguments),
        _ => false,
    }
}

/// Returns the calls that have a result, in the order of their results.
fn calls(events: &[Event]) -> Vec<Call<'_>> {
    let mut asked: HashMap<&CallId, (&str, Option<&str>)> = HashMap::new();
    let mut calls = Vec::new();
    for event in events {
        match &event.body {
            EventBody::ToolCall { call, arguments, .. } => {
                asked.insert(call, (arguments, event.author.as_deref()));
            }
            EventBody::ToolResult { call, tool, status, output, report, .. } => {
                if let Some((arguments, author)) = asked.get(call) {
                    let (author, status, report) = (*author, *status, report.as_deref());
                    calls.push(Call { tool, arguments, author, status, output, report });
                }
            }
            _ => {}
        }
    }
    calls
}
