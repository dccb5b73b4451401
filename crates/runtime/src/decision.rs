//! What a model's reply means. Pure: a reply and an offer in, events to record out.

use lango_model::{RequestedCall, TRANSFER_TOOL};
use lango_protocol::{CallId, CallStatus, EventBody, WarningCode};

use crate::marker;
use crate::offer::{Offer, TransferArguments};
use crate::output::cut_at;

/// A whole reply.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) calls: Vec<RequestedCall>,
    /// The model whose reply it is.
    pub(crate) by: String,
}

/// The reply of an agent, understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decision {
    /// It is the answer.
    Answer(String),
    /// It is a question, without whose answer the agent cannot go on.
    Ask(String),
    /// The task is not this agent's.
    Reject(String),
    /// It wants to do something: the events that say what, refusals included.
    Act(Vec<EventBody>),
    /// It said nothing at all.
    Nothing,
}

/// What a decision is checked against.
pub(crate) struct Rules<'a> {
    pub(crate) offer: &'a Offer,
    pub(crate) agent: &'a str,
    /// Only specialists can reject: somebody handed them the task.
    pub(crate) may_reject: bool,
    /// Hand-overs made so far, and the limit.
    pub(crate) rounds: u32,
    pub(crate) round_limit: u32,
    /// Calls that may still be made in this turn.
    pub(crate) calls_left: u32,
    pub(crate) calls_per_reply: usize,
    /// Whether a call would only repeat what was answered before.
    pub(crate) is_repetition: &'a dyn Fn(&str, &str) -> bool,
}

/// The longest tool name or argument text that is recorded; a hostile model sends anything.
const MAX_NAME_BYTES: usize = 128;
const MAX_ARGUMENT_BYTES: usize = 1024 * 1024;

/// Understands a reply.
pub(crate) fn decide(reply: Reply, rules: &Rules<'_>) -> Decision {
    if rules.may_reject
        && let Some(reason) = marker::rejection_reason(&reply.text)
    {
        return Decision::Reject(reason);
    }
    let text = marker::without_marker(&reply.text);
    if reply.calls.is_empty() {
        if let Some(question) = marker::question(&text) {
            return if question.is_empty() { Decision::Nothing } else { Decision::Ask(question) };
        }
        return if text.trim().is_empty() {
            Decision::Nothing
        } else {
            Decision::Answer(text.trim().to_owned())
        };
    }
    let mut events = Vec::with_capacity(reply.calls.len() + 1);
    if !text.trim().is_empty() {
        events.push(EventBody::Message { text: text.trim().to_owned(), answer: false });
    }
    let mut rounds = rules.rounds;
    let mut calls_left = rules.calls_left;
    for (index, requested) in reply.calls.into_iter().enumerate() {
        if requested.name == TRANSFER_TOOL {
            events.push(transfer(&requested, &reply.by, rules, &mut rounds));
            continue;
        }
        let mut repeats = false;
        let verdict = if index >= rules.calls_per_reply {
            let limit = rules.calls_per_reply;
            Some(format!("at most {limit} calls are run from one reply; this one was not"))
        } else if calls_left == 0 {
            Some("this turn has no tool calls left; answer with what you have".to_owned())
        } else if let Some(reason) = refusal(&requested, rules) {
            Some(reason)
        } else {
            repeats = (rules.is_repetition)(&requested.name, &requested.arguments);
            repeats.then(|| repetition(&requested.name))
        };
        if repeats {
            events.push(EventBody::Warning {
                code: WarningCode::Repetition,
                text: format!("{} was called again with the same arguments", requested.name),
            });
        }
        calls_left = calls_left.saturating_sub(1);
        push_call(&mut events, &requested, verdict, rules);
    }
    Decision::Act(events)
}

/// Why a call must not run, before its arguments are even read.
fn refusal(requested: &RequestedCall, rules: &Rules<'_>) -> Option<String> {
    let name = cut_at(&requested.name, MAX_NAME_BYTES);
    if rules.offer.tool(&requested.name).is_none() {
        let names: Vec<&str> = rules.offer.tools.iter().map(|tool| tool.name()).collect();
        let agent = rules.agent;
        return Some(if names.is_empty() {
            format!("{name:?} was not run: {agent} has no tools it may call now")
        } else {
            format!(
                "{name:?} was not run: it is not a tool of {agent}. Its tools are: {}",
                names.join(", ")
            )
        });
    }
    (requested.arguments.len() > MAX_ARGUMENT_BYTES)
        .then(|| format!("{name} was not run: its arguments are longer than 1 MiB"))
}

fn repetition(name: &str) -> String {
    format!(
        "{name} was not run: you made this very call before and the result was the same each \
         time. Use that result, do something else, or answer"
    )
}

fn push_call(
    events: &mut Vec<EventBody>,
    requested: &RequestedCall,
    refusal: Option<String>,
    rules: &Rules<'_>,
) {
    let call = CallId::generate();
    let tool = cut_at(&requested.name, MAX_NAME_BYTES).to_owned();
    let read_only = rules.offer.tool(&requested.name).is_some_and(|tool| tool.read_only);
    let arguments = cut_at(&requested.arguments, MAX_ARGUMENT_BYTES).to_owned();
    events.push(EventBody::ToolCall {
        call: call.clone(),
        tool: tool.clone(),
        arguments,
        read_only: read_only || refusal.is_some(),
    });
    if let Some(output) = refusal {
        events.push(EventBody::ToolResult {
            call,
            tool,
            status: CallStatus::Refused,
            output,
            full_output: None,
            milliseconds: 0,
        });
    }
}

fn transfer(requested: &RequestedCall, by: &str, rules: &Rules<'_>, rounds: &mut u32) -> EventBody {
    let call = CallId::generate();
    let parsed = serde_json::from_str::<TransferArguments>(&requested.arguments);
    let name = parsed.as_ref().map(|a| a.agent_name.clone()).unwrap_or_default();
    let refused = |reason: String| EventBody::TransferRefused {
        call: call.clone(),
        requested: cut_at(&name, MAX_NAME_BYTES).to_owned(),
        reason,
        valid: rules.offer.targets.clone(),
    };
    let valid = || {
        let names: Vec<&str> = rules.offer.targets.iter().map(AsRef::as_ref).collect();
        names.join(", ")
    };
    if rules.offer.targets.is_empty() {
        let agent = rules.agent;
        return refused(format!(
            "{agent} cannot hand over now. Answer with what you have{}",
            if rules.may_reject { ", or reject the task with [REJECT] and a reason" } else { "" }
        ));
    }
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => {
            return refused(format!("the arguments are not understood ({error})"));
        }
    };
    let Some(target) = rules.offer.target(&arguments.agent_name) else {
        let shown = cut_at(&arguments.agent_name, MAX_NAME_BYTES);
        return refused(format!("there is no agent {shown:?}. Valid names: {}", valid()));
    };
    if *rounds >= rules.round_limit {
        return refused(format!(
            "the limit of {} delegation rounds is reached. Answer with what you have",
            rules.round_limit
        ));
    }
    *rounds += 1;
    EventBody::Transfer {
        call,
        to: target.clone(),
        task: cut_at(&arguments.task, MAX_ARGUMENT_BYTES).to_owned(),
        returns: arguments.returns,
        round: *rounds,
        decided_by: Some(by.to_owned()),
    }
}

#[cfg(test)]
mod tests;
