//! A turn as a client of this wire is told it: a fold over its events.

use std::collections::HashMap;

use lango_protocol::{
    ApprovalDecision, CallId, CallStatus, DelegationStatus, Event, EventBody, Outcome, SessionId,
    Timestamp, TurnId, Usage,
};
use serde::Serialize;

/// The most steps that are told. A turn has limits of its own; these keep the response small.
const MAX_STEPS: usize = 256;

/// One thing that the team did. What exactly a call was about is not told: it may show what is on
/// this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Step {
    /// A task was handed to an agent.
    Handover {
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        agent: String,
        status: &'static str,
    },
    /// A tool was called.
    Tool {
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        tool: String,
        status: &'static str,
    },
}

/// Something that a client can be told at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Update {
    /// A step began, changed or ended.
    Step(Step),
    /// The answer, which stands.
    Answer(String),
}

/// What is known of a turn so far.
#[derive(Debug, Clone)]
pub(super) struct Telling {
    pub(super) session: SessionId,
    pub(super) turn: TurnId,
    pub(super) created: Timestamp,
    /// Who gave the answer.
    pub(super) agent: Option<String>,
    pub(super) answer: Option<String>,
    pub(super) steps: Vec<Step>,
    pub(super) usage: Usage,
    pub(super) outcome: Option<Outcome>,
    /// Where each call is among the steps.
    places: HashMap<CallId, usize>,
}

impl Telling {
    pub(super) fn new(session: SessionId, turn: TurnId) -> Self {
        Self {
            session,
            turn,
            created: Timestamp::now(),
            agent: None,
            answer: None,
            steps: Vec::new(),
            usage: Usage::default(),
            outcome: None,
            places: HashMap::new(),
        }
    }

    /// Takes the next event.
    ///
    /// Pieces of text are not told as they come. Until a model call has ended well nobody knows
    /// whether its words stand: it may break off and begin anew, or turn out to be a remark before a
    /// call. On this wire nothing can be taken back, so an answer is told once it is one.
    pub(super) fn take(&mut self, event: &Event) -> Option<Update> {
        match &event.body {
            EventBody::UserMessage { .. } => {
                self.created = event.at;
                None
            }
            EventBody::Message { text, answer: true } => {
                self.agent.clone_from(&event.author);
                self.answer = Some(text.clone());
                Some(Update::Answer(text.clone()))
            }
            EventBody::Usage { usage, .. } => {
                self.usage += *usage;
                None
            }
            EventBody::Transfer { call, to, .. } => {
                let from = event.author.clone();
                let agent = to.to_string();
                self.begin(call, Step::Handover { from, agent, status: "started" })
            }
            EventBody::TransferFinished { call, status, .. } => self.change(call, word_of(*status)),
            EventBody::ToolCall { call, tool, .. } => {
                let (agent, tool) = (event.author.clone(), tool.clone());
                self.begin(call, Step::Tool { agent, tool, status: "started" })
            }
            EventBody::ApprovalRequested { call, .. } => self.change(call, "waits_for_approval"),
            EventBody::ApprovalResolved { call, decision: ApprovalDecision::Approved, .. } => {
                self.change(call, "approved")
            }
            EventBody::ToolResult { call, status, .. } => self.change(call, status_of(*status)),
            EventBody::TurnFinished(outcome) => {
                self.outcome = Some(outcome.clone());
                None
            }
            _ => None,
        }
    }

    fn begin(&mut self, call: &CallId, step: Step) -> Option<Update> {
        if self.steps.len() >= MAX_STEPS {
            return None;
        }
        self.places.insert(call.clone(), self.steps.len());
        self.steps.push(step.clone());
        Some(Update::Step(step))
    }

    fn change(&mut self, call: &CallId, now: &'static str) -> Option<Update> {
        let step = self.places.get(call).and_then(|place| self.steps.get_mut(*place))?;
        match step {
            Step::Handover { status, .. } | Step::Tool { status, .. } => *status = now,
        }
        Some(Update::Step(step.clone()))
    }
}

fn word_of(status: DelegationStatus) -> &'static str {
    match status {
        DelegationStatus::Answered => "answered",
        DelegationStatus::Rejected => "rejected",
        DelegationStatus::Failed => "failed",
        DelegationStatus::Cancelled => "cancelled",
        DelegationStatus::NeedsInput => "needs_input",
    }
}

fn status_of(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Ok => "ok",
        CallStatus::Error => "error",
        CallStatus::Refused => "refused",
        CallStatus::Denied => "denied",
        CallStatus::Cancelled => "cancelled",
        CallStatus::Unknown => "unknown",
    }
}
