//! What one speaker said and did in one turn.

use lango_model::{AnsweredCall, Keepsake, Message, ModelId, TRANSFER_TOOL, handover};
use lango_protocol::{CallId, CallStatus, DelegationStatus, Event, EventBody, WarningCode};

use super::{Delegation, Phase};
use crate::offer::TransferArguments;
use crate::words;

/// A call that waits for its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingCall {
    pub(crate) call: CallId,
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) read_only: bool,
    /// It was about to run; without a result its effect is unknown.
    pub(crate) started: bool,
}

/// The speaker's own words and calls, by model call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    steps: Vec<Step>,
    empty_replies: u32,
    repetitions: u32,
}

#[derive(Debug, Clone, Default)]
struct Step {
    number: u32,
    text: String,
    calls: Vec<Call>,
    keepsake: Option<Keepsake>,
}

#[derive(Debug, Clone)]
struct Call {
    pending: PendingCall,
    delegation: Option<Delegation>,
    result: Option<String>,
    /// It was answered without anything being run.
    refused: bool,
}

impl Transcript {
    pub(super) fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::Message { text, .. } => self.step(event).text.clone_from(text),
            EventBody::Reasoning { model, keepsake: Some(data), .. } => {
                let from =
                    model.split_once('/').map(|(provider, name)| ModelId::new(provider, name));
                let keepsake = from.map(|from| Keepsake { from, data: data.clone() });
                self.step(event).keepsake = keepsake;
            }
            EventBody::Warning { code: WarningCode::EmptyReply, .. } => self.empty_replies += 1,
            EventBody::Warning { code: WarningCode::Repetition, .. } => self.repetitions += 1,
            EventBody::ToolCall { call, tool, arguments, read_only } => {
                let pending = PendingCall {
                    call: call.clone(),
                    tool: tool.clone(),
                    arguments: arguments.clone(),
                    read_only: *read_only,
                    started: false,
                };
                self.push(event, Call { pending, delegation: None, result: None, refused: false });
            }
            EventBody::ToolStarted { call } => {
                if let Some(call) = self.find(call) {
                    call.pending.started = true;
                }
            }
            EventBody::ToolResult { call, status, output, .. } => {
                if let Some(call) = self.find(call) {
                    call.result = Some(output.clone());
                    call.refused = matches!(status, CallStatus::Refused | CallStatus::Denied);
                }
            }
            EventBody::Transfer { call, to, task, returns, .. } => {
                let arguments = TransferArguments::new(to.as_str(), task, *returns).to_json();
                let delegation = Delegation {
                    call: call.clone(),
                    to: to.clone(),
                    task: task.clone(),
                    returns: *returns,
                };
                let call = transfer_call(call, arguments, Some(delegation), None);
                self.push(event, call);
            }
            EventBody::TransferRefused { call, requested, reason, .. } => {
                let arguments = TransferArguments::new(requested, "", false).to_json();
                self.push(event, transfer_call(call, arguments, None, Some(reason.clone())));
            }
            _ => {}
        }
        // A hand-over comes back into the root's transcript, whoever recorded it.
        if let EventBody::TransferFinished { call, to, status, text } = &event.body
            && let Some(call) = self.find(call)
        {
            call.refused = *status == DelegationStatus::Rejected;
            call.result = Some(match status {
                DelegationStatus::Answered => handover::answered(to.as_str(), text),
                DelegationStatus::Rejected => {
                    format!("{to} rejected the task: {text}. Choose another agent, or answer.")
                }
                DelegationStatus::NeedsInput => handover::asks(to.as_str(), text),
                DelegationStatus::Failed => format!("{to} could not finish: {text}"),
                DelegationStatus::Cancelled => format!("{to} was stopped: {text}"),
            });
        }
    }

    /// What comes next.
    pub(crate) fn phase(&self) -> Phase {
        let calls: Vec<PendingCall> = self.open_calls().collect();
        if !calls.is_empty() {
            return Phase::Act(calls);
        }
        let delegations: Vec<Delegation> = self
            .steps
            .iter()
            .flat_map(|step| &step.calls)
            .filter(|call| call.result.is_none())
            .filter_map(|call| call.delegation.clone())
            .collect();
        if delegations.is_empty() { Phase::Think } else { Phase::Delegate(delegations) }
    }

    /// How many hand-overs were made in the same reply as `call`.
    pub(crate) fn hand_overs_beside(&self, call: &CallId) -> usize {
        let step =
            self.steps.iter().find(|step| step.calls.iter().any(|c| c.pending.call == *call));
        step.map_or(0, |step| step.calls.iter().filter(|c| c.delegation.is_some()).count())
    }

    /// Calls of tools without a result.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = PendingCall> {
        let calls = self.steps.iter().flat_map(|step| &step.calls);
        calls
            .filter(|call| call.result.is_none() && call.delegation.is_none())
            .map(|call| call.pending.clone())
    }

    /// The arguments of a call.
    pub(crate) fn arguments(&self, call: &CallId) -> Option<&str> {
        let mut calls = self.steps.iter().flat_map(|step| &step.calls);
        calls.find(|c| c.pending.call == *call).map(|c| c.pending.arguments.as_str())
    }

    /// The newest replies in a row of which nothing came.
    pub(crate) fn fruitless_replies(&self) -> usize {
        let fruitless =
            |step: &&Step| !step.calls.is_empty() && step.calls.iter().all(|call| call.refused);
        self.steps.iter().rev().take_while(fruitless).count()
    }

    pub(crate) fn empty_replies(&self) -> u32 {
        self.empty_replies
    }

    pub(crate) fn repetitions(&self) -> u32 {
        self.repetitions
    }

    /// The transcript for a model: no call without a result can come out of here.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Message> {
        let said = |step: &&Step| !step.calls.is_empty() || !step.text.is_empty();
        self.steps.iter().filter(said).map(|step| {
            if step.calls.is_empty() {
                return Message::Assistant { author: None, text: step.text.clone() };
            }
            let calls = step.calls.iter().map(|call| AnsweredCall {
                id: call.pending.call.clone(),
                name: call.pending.tool.clone(),
                arguments: call.pending.arguments.clone(),
                result: call.result.clone().unwrap_or_else(|| words::OUTCOME_UNKNOWN.to_owned()),
            });
            let (text, keepsake) = (step.text.clone(), step.keepsake.clone());
            Message::Exchange { text, calls: calls.collect(), keepsake }
        })
    }

    fn step(&mut self, event: &Event) -> &mut Step {
        let number = event.step.unwrap_or(0);
        let known = self.steps.iter().position(|step| step.number == number);
        let index = known.unwrap_or_else(|| {
            self.steps.push(Step { number, ..Step::default() });
            self.steps.len() - 1
        });
        &mut self.steps[index]
    }

    fn push(&mut self, event: &Event, call: Call) {
        self.step(event).calls.push(call);
    }

    fn find(&mut self, id: &CallId) -> Option<&mut Call> {
        let mut calls = self.steps.iter_mut().rev().flat_map(|step| &mut step.calls);
        calls.find(|call| call.pending.call == *id)
    }
}

fn transfer_call(
    id: &CallId,
    arguments: String,
    delegation: Option<Delegation>,
    refusal: Option<String>,
) -> Call {
    let pending = PendingCall {
        call: id.clone(),
        tool: TRANSFER_TOOL.to_owned(),
        arguments,
        read_only: true,
        started: false,
    };
    Call { pending, delegation, refused: refusal.is_some(), result: refusal }
}
