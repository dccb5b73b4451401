//! Records what one speaker said and did in one turn.

use lango_model::{AnsweredCall, CallOutcome, CallTally, Message, ModelId, ProviderState};
use lango_protocol::{
    CallId, CallStatus, DelegationStatus, Event, EventBody, TRANSFER_TOOL, TransferArguments,
    WarningCode,
};

use super::{Delegation, SpeakerPhase};
use crate::words;

/// Represents a call that has no result yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingCall {
    pub(crate) call: CallId,
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) read_only: bool,
    /// True if it was about to run; without a result its effect is unknown.
    pub(crate) started: bool,
}

/// Holds the speaker's own messages and calls, by model call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    steps: Vec<TranscriptStep>,
    empty_replies: u32,
    repetitions: u32,
}

#[derive(Debug, Clone, Default)]
struct TranscriptStep {
    number: u32,
    text: String,
    calls: Vec<TranscriptCall>,
    provider_state: Option<ProviderState>,
}

#[derive(Debug, Clone)]
struct TranscriptCall {
    pending: PendingCall,
    delegation: Option<Delegation>,
    result: Option<CallAnswer>,
    /// True if it was answered without running.
    refused: bool,
}

/// Holds the result of a call.
#[derive(Debug, Clone)]
struct CallAnswer {
    /// The text for the model.
    text: String,
    outcome: CallOutcome,
}

impl Transcript {
    pub(super) fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::Message { text, .. } => self.find_or_add_step(event).text.clone_from(text),
            EventBody::Reasoning { model, provider_state: Some(data), .. } => {
                // The embedded model is the only one of its provider and has no name.
                let (provider, name) = model.split_once('/').unwrap_or((model, ""));
                let from = ModelId::new(provider, name);
                self.find_or_add_step(event).provider_state =
                    Some(ProviderState { from, data: data.clone() });
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
                self.push_call(
                    event,
                    TranscriptCall { pending, delegation: None, result: None, refused: false },
                );
            }
            EventBody::ToolStarted { call } => {
                if let Some(call) = self.find_call(call) {
                    call.pending.started = true;
                }
            }
            EventBody::ToolResult { call, status, output, report, .. } => {
                if let Some(call) = self.find_call(call) {
                    let outcome = CallOutcome::Tool { status: *status, report: report.clone() };
                    call.result = Some(CallAnswer { text: output.clone(), outcome });
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
                self.push_call(event, call);
            }
            EventBody::TransferRefused { call, requested, reason, .. } => {
                let arguments = TransferArguments::new(requested, "", false).to_json();
                self.push_call(event, transfer_call(call, arguments, None, Some(reason.clone())));
            }
            _ => {}
        }
        // The end of a transfer belongs to the root's transcript, whichever agent recorded it.
        if let EventBody::TransferFinished { call, to, status, text } = &event.body
            && let Some(call) = self.find_call(call)
        {
            call.refused = *status == DelegationStatus::Rejected;
            let rendered = match status {
                DelegationStatus::Answered => format!("{to} answered:\n{text}"),
                DelegationStatus::Rejected => {
                    format!("{to} rejected the task: {text}. Choose another agent, or answer.")
                }
                DelegationStatus::NeedsInput => {
                    format!("{to} needs an answer from the user. It asks:\n{text}")
                }
                DelegationStatus::Failed => format!("{to} could not finish: {text}"),
                DelegationStatus::Cancelled => format!("{to} was stopped: {text}"),
            };
            let (status, text) = (*status, text.clone());
            let outcome = CallOutcome::Transfer { status, text, calls: CallTally::default() };
            call.result = Some(CallAnswer { text: rendered, outcome });
        }
    }

    /// Stores the tally of the calls made under a finished transfer.
    pub(super) fn note_tally(&mut self, transfer: &CallId, tally: CallTally) {
        if let Some(call) = self.find_call(transfer)
            && let Some(CallAnswer { outcome: CallOutcome::Transfer { calls, .. }, .. }) =
                &mut call.result
        {
            *calls = tally;
        }
    }

    /// Counts the calls by whether they did what they were asked for.
    pub(super) fn count_calls(&self) -> CallTally {
        let mut tally = CallTally::default();
        for call in self.steps.iter().flat_map(|step| &step.calls) {
            match call.result.as_ref().map(|answer| &answer.outcome) {
                Some(CallOutcome::Tool { status: CallStatus::Ok, report })
                    if !report.as_ref().is_some_and(|report| report.unsuccessful) =>
                {
                    tally.succeeded += 1;
                }
                _ => tally.failed += 1,
            }
        }
        tally
    }

    /// Tells whether nothing was said or done yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the next step.
    pub(crate) fn next_phase(&self) -> SpeakerPhase {
        let calls: Vec<PendingCall> = self.open_calls().collect();
        if !calls.is_empty() {
            return SpeakerPhase::Act(calls);
        }
        let delegations: Vec<Delegation> = self
            .steps
            .iter()
            .flat_map(|step| &step.calls)
            .filter(|call| call.result.is_none())
            .filter_map(|call| call.delegation.clone())
            .collect();
        if delegations.is_empty() {
            SpeakerPhase::Think
        } else {
            SpeakerPhase::Delegate(delegations)
        }
    }

    /// Returns how many transfers were made in the same reply as `call`.
    pub(crate) fn transfers_in_reply_of(&self, call: &CallId) -> usize {
        let step =
            self.steps.iter().find(|step| step.calls.iter().any(|c| c.pending.call == *call));
        step.map_or(0, |step| step.calls.iter().filter(|c| c.delegation.is_some()).count())
    }

    /// Returns the tool calls without a result.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = PendingCall> {
        let calls = self.steps.iter().flat_map(|step| &step.calls);
        calls
            .filter(|call| call.result.is_none() && call.delegation.is_none())
            .map(|call| call.pending.clone())
    }

    /// Returns the arguments of a call.
    pub(crate) fn find_arguments(&self, call: &CallId) -> Option<&str> {
        let mut calls = self.steps.iter().flat_map(|step| &step.calls);
        calls.find(|c| c.pending.call == *call).map(|c| c.pending.arguments.as_str())
    }

    /// Counts the newest consecutive replies whose calls were all refused.
    pub(crate) fn fruitless_replies(&self) -> usize {
        let fruitless = |step: &&TranscriptStep| {
            !step.calls.is_empty() && step.calls.iter().all(|call| call.refused)
        };
        self.steps.iter().rev().take_while(fruitless).count()
    }

    pub(crate) fn empty_replies(&self) -> u32 {
        self.empty_replies
    }

    pub(crate) fn repetitions(&self) -> u32 {
        self.repetitions
    }

    /// Returns the transcript for a model. Every call in it has a result.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Message> {
        let has_content = |step: &&TranscriptStep| !step.calls.is_empty() || !step.text.is_empty();
        self.steps.iter().filter(has_content).map(|step| {
            if step.calls.is_empty() {
                return Message::Assistant { author: None, text: step.text.clone() };
            }
            let calls = step.calls.iter().map(|call| {
                let CallAnswer { text, outcome } =
                    call.result.clone().unwrap_or_else(CallAnswer::unknown);
                AnsweredCall {
                    id: call.pending.call.clone(),
                    name: call.pending.tool.clone(),
                    arguments: call.pending.arguments.clone(),
                    result: text,
                    outcome,
                }
            });
            let (text, provider_state) = (step.text.clone(), step.provider_state.clone());
            Message::Exchange { text, calls: calls.collect(), provider_state }
        })
    }

    fn find_or_add_step(&mut self, event: &Event) -> &mut TranscriptStep {
        let number = event.step.unwrap_or(0);
        let known = self.steps.iter().position(|step| step.number == number);
        let index = known.unwrap_or_else(|| {
            self.steps.push(TranscriptStep { number, ..TranscriptStep::default() });
            self.steps.len() - 1
        });
        &mut self.steps[index]
    }

    fn push_call(&mut self, event: &Event, call: TranscriptCall) {
        self.find_or_add_step(event).calls.push(call);
    }

    fn find_call(&mut self, id: &CallId) -> Option<&mut TranscriptCall> {
        let mut calls = self.steps.iter_mut().rev().flat_map(|step| &mut step.calls);
        calls.find(|call| call.pending.call == *id)
    }
}

impl CallAnswer {
    /// Returns the result of a call whose outcome is unknown.
    fn unknown() -> Self {
        Self {
            text: words::OUTCOME_UNKNOWN.to_owned(),
            outcome: CallOutcome::tool(CallStatus::Unknown),
        }
    }

    fn refused(text: String) -> Self {
        Self { text, outcome: CallOutcome::tool(CallStatus::Refused) }
    }
}

fn transfer_call(
    id: &CallId,
    arguments: String,
    delegation: Option<Delegation>,
    refusal: Option<String>,
) -> TranscriptCall {
    let pending = PendingCall {
        call: id.clone(),
        tool: TRANSFER_TOOL.to_owned(),
        arguments,
        read_only: true,
        started: false,
    };
    let refused = refusal.is_some();
    TranscriptCall { pending, delegation, refused, result: refusal.map(CallAnswer::refused) }
}
