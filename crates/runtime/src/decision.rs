//! Interprets a model's reply. Pure: a reply and an offer in, events to record out.

use std::sync::Arc;

use lango_model::RequestedCall;
use lango_protocol::{
    CallId, CallStatus, EventBody, TRANSFER_TOOL, TransferArguments, WarningCode, marker,
};
use lango_text::truncate;

use crate::call_report::CallSubject;
use crate::offer::AgentOffer;

/// Holds a complete reply.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompleteReply {
    pub(crate) text: String,
    pub(crate) calls: Vec<RequestedCall>,
    /// The model that replied.
    pub(crate) by: String,
}

/// The meaning of an agent's reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decision {
    /// It is the answer.
    Answer(String),
    /// It is a question that the agent needs an answer to before it can continue.
    Ask(String),
    /// The agent rejects the task.
    Reject(String),
    /// The agent requests actions: the events that record them, including refusals.
    Act(Vec<EventBody>),
    /// The reply is empty.
    Empty,
}

/// Holds the rules that a reply is checked against.
pub(crate) struct ReplyRules<'a> {
    pub(crate) offer: &'a AgentOffer,
    pub(crate) agent: &'a str,
    /// Only specialists can reject, because the task was delegated to them.
    pub(crate) may_reject: bool,
    /// The transfers made so far, and the limit.
    pub(crate) rounds: u32,
    pub(crate) round_limit: u32,
    /// Calls that may still be made in this turn.
    pub(crate) calls_left: u32,
    pub(crate) calls_per_reply: usize,
    /// Tells whether a call would only repeat an earlier result.
    pub(crate) is_repetition: &'a dyn Fn(&str, &str) -> bool,
}

/// Limits the tool name that is recorded; a hostile model may send anything.
const MAX_NAME_BYTES: usize = 128;
/// Limits the arguments that are recorded.
const MAX_ARGUMENT_BYTES: usize = 1024 * 1024;

/// Interprets a reply.
pub(crate) fn interpret_reply(reply: CompleteReply, rules: &ReplyRules<'_>) -> Decision {
    if rules.may_reject
        && let Some(reason) = marker::find_rejection_reason(&reply.text)
    {
        return Decision::Reject(reason);
    }
    let text = marker::remove_rejection_markers(&reply.text);
    if reply.calls.is_empty() {
        if let Some(question) = marker::find_question(&text) {
            return if question.is_empty() { Decision::Empty } else { Decision::Ask(question) };
        }
        return if text.trim().is_empty() {
            Decision::Empty
        } else {
            Decision::Answer(text.trim().to_owned())
        };
    }
    let mut events = Vec::with_capacity(reply.calls.len() + 1);
    if !text.trim().is_empty() {
        events.push(EventBody::Message { text: text.trim().to_owned(), answer: false });
    }
    events.extend(decide_calls(reply.calls, &reply.by, rules));
    Decision::Act(events)
}

/// Returns the events that record the calls of a reply, each as accepted or refused. `by` names the
/// model that made them.
pub(crate) fn decide_calls(
    calls: Vec<RequestedCall>,
    by: &str,
    rules: &ReplyRules<'_>,
) -> Vec<EventBody> {
    let mut events = Vec::with_capacity(calls.len());
    let mut rounds = rules.rounds;
    let mut calls_left = rules.calls_left;
    for (index, requested) in calls.into_iter().enumerate() {
        if requested.name == TRANSFER_TOOL {
            events.push(record_transfer(&requested, by, rules, &mut rounds));
            continue;
        }
        let mut repeats = false;
        let refusal = if index >= rules.calls_per_reply {
            let limit = rules.calls_per_reply;
            Some(RefusedCall::beyond_reply_limit(format!(
                "at most {limit} calls are run from one reply"
            )))
        } else if calls_left == 0 {
            Some(RefusedCall::out_of_calls())
        } else if let Some(refusal) = find_refusal(&requested, rules) {
            Some(refusal)
        } else {
            repeats = (rules.is_repetition)(&requested.name, &requested.arguments);
            repeats.then(|| RefusedCall::repetition(&requested.name))
        };
        if repeats {
            events.push(EventBody::Warning {
                code: WarningCode::Repetition,
                text: format!("{} was called again with the same arguments", requested.name),
            });
        }
        calls_left = calls_left.saturating_sub(1);
        push_call(&mut events, &requested, refusal, rules);
    }
    events
}

/// Says why a call is refused before its arguments are even read.
struct RefusedCall {
    /// The text for the model.
    output: String,
    /// The reason for a person.
    reason: String,
}

impl RefusedCall {
    fn beyond_reply_limit(reason: String) -> Self {
        Self { output: format!("{reason}; this one was not"), reason }
    }

    fn out_of_calls() -> Self {
        let reason = "this turn has no tool calls left".to_owned();
        Self { output: format!("{reason}; answer with what you have"), reason }
    }

    fn repetition(name: &str) -> Self {
        Self {
            output: format!(
                "{name} was not run: you made this very call before and the result was the same \
                 each time. Use that result, do something else, or answer"
            ),
            reason: "this very call was made before, with the same result each time".to_owned(),
        }
    }

    fn not_offered(name: &str, rules: &ReplyRules<'_>) -> Self {
        let names: Vec<&str> = rules.offer.tools.iter().map(|tool| tool.name()).collect();
        let agent = rules.agent;
        if names.is_empty() {
            let reason = format!("{agent} has no tools it may call now");
            return Self { output: format!("{name:?} was not run: {reason}"), reason };
        }
        let reason = format!("it is not a tool of {agent}");
        let output = format!("{name:?} was not run: {reason}. Its tools are: {}", names.join(", "));
        Self { output, reason }
    }

    fn too_long(name: &str) -> Self {
        let reason = "its arguments are longer than 1 MiB".to_owned();
        Self { output: format!("{name} was not run: {reason}"), reason }
    }
}

fn find_refusal(requested: &RequestedCall, rules: &ReplyRules<'_>) -> Option<RefusedCall> {
    let name = truncate(&requested.name, MAX_NAME_BYTES);
    if rules.offer.find_tool(&requested.name).is_none() {
        return Some(RefusedCall::not_offered(name, rules));
    }
    (requested.arguments.len() > MAX_ARGUMENT_BYTES).then(|| RefusedCall::too_long(name))
}

fn push_call(
    events: &mut Vec<EventBody>,
    requested: &RequestedCall,
    refusal: Option<RefusedCall>,
    rules: &ReplyRules<'_>,
) {
    let call = CallId::generate();
    let tool = truncate(&requested.name, MAX_NAME_BYTES).to_owned();
    let read_only = rules.offer.find_tool(&requested.name).is_some_and(|tool| tool.read_only);
    let arguments = truncate(&requested.arguments, MAX_ARGUMENT_BYTES).to_owned();
    events.push(EventBody::ToolCall {
        call: call.clone(),
        tool: tool.clone(),
        arguments,
        read_only: read_only || refusal.is_some(),
    });
    if let Some(RefusedCall { output, reason }) = refusal {
        let report = CallSubject::of_tool(&tool).report_not_run(&reason).bounded();
        events.push(EventBody::ToolResult {
            call,
            tool,
            status: CallStatus::Refused,
            output,
            full_output: None,
            report: Some(Arc::new(report)),
            milliseconds: 0,
        });
    }
}

fn record_transfer(
    requested: &RequestedCall,
    by: &str,
    rules: &ReplyRules<'_>,
    rounds: &mut u32,
) -> EventBody {
    let call = CallId::generate();
    let parsed = TransferArguments::from_json(&requested.arguments);
    let name = parsed.as_ref().map(|a| a.agent_name.clone()).unwrap_or_default();
    let refused = |reason: String| EventBody::TransferRefused {
        call: call.clone(),
        requested: truncate(&name, MAX_NAME_BYTES).to_owned(),
        reason,
        valid: rules.offer.targets.clone(),
    };
    let valid = || {
        let names: Vec<&str> = rules.offer.targets.iter().map(AsRef::as_ref).collect();
        names.join(", ")
    };
    if rules.offer.targets.is_empty() {
        let agent = rules.agent;
        let mut reason = format!("{agent} cannot transfer a task now. Answer with what you have");
        if rules.may_reject {
            reason += &format!(", or reject the task with {} and a reason", marker::REJECT);
        }
        return refused(reason);
    }
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => {
            return refused(format!("the arguments are not understood ({error})"));
        }
    };
    let Some(target) = rules.offer.find_target(&arguments.agent_name) else {
        let shown = truncate(&arguments.agent_name, MAX_NAME_BYTES);
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
        task: truncate(&arguments.task, MAX_ARGUMENT_BYTES).to_owned(),
        returns: arguments.returns,
        round: *rounds,
        decided_by: Some(by.to_owned()),
    }
}

#[cfg(test)]
mod tests;
