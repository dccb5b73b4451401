//! Summarizes a turn for a client of the OpenAI API, as a fold over its events.

use std::collections::HashMap;

use lango_protocol::{
    ApprovalDecision, CallId, CallStatus, DelegationStatus, Event, EventBody, Outcome, SessionId,
    Timestamp, TurnId, Usage,
};
use serde::Serialize;

/// Limits the steps that are reported. A turn has its own limits; this one keeps the response
/// small.
const MAX_STEP_COUNT: usize = 256;

/// Describes one action of the team. The arguments of a call are not reported, because they may
/// reveal data of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum TeamStep {
    /// A task was transferred to an agent.
    Transfer {
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

/// Represents a change that is reported to a client at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepUpdate {
    /// A step started, changed or ended.
    Step(TeamStep),
    /// The final answer.
    Answer(String),
}

/// Holds the state of a turn so far.
#[derive(Debug, Clone)]
pub(super) struct TurnSummary {
    pub(super) session: SessionId,
    pub(super) turn: TurnId,
    pub(super) created: Timestamp,
    /// The agent that answered.
    pub(super) agent: Option<String>,
    pub(super) answer: Option<String>,
    pub(super) steps: Vec<TeamStep>,
    pub(super) usage: Usage,
    pub(super) outcome: Option<Outcome>,
    /// The position of each call among the steps.
    positions: HashMap<CallId, usize>,
}

impl TurnSummary {
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
            positions: HashMap::new(),
        }
    }

    /// Applies the next event.
    ///
    /// Pieces of text are not forwarded as they stream. Until a model call has ended, its text is
    /// not final: the call may fail and start again, or the text may be a remark before a tool
    /// call. This API cannot retract text, so an answer is sent when it is final.
    pub(super) fn apply_event(&mut self, event: &Event) -> Option<StepUpdate> {
        match &event.body {
            EventBody::UserMessage { .. } => {
                self.created = event.at;
                None
            }
            EventBody::Message { text, answer: true } => {
                self.agent.clone_from(&event.author);
                self.answer = Some(text.clone());
                Some(StepUpdate::Answer(text.clone()))
            }
            EventBody::Usage { usage, .. } => {
                self.usage += *usage;
                None
            }
            EventBody::Transfer { call, to, .. } => {
                let from = event.author.clone();
                let agent = to.to_string();
                self.begin_step(call, TeamStep::Transfer { from, agent, status: "started" })
            }
            EventBody::TransferFinished { call, status, .. } => {
                self.change_step(call, delegation_status_name(*status))
            }
            EventBody::ToolCall { call, tool, .. } => {
                let (agent, tool) = (event.author.clone(), tool.clone());
                self.begin_step(call, TeamStep::Tool { agent, tool, status: "started" })
            }
            EventBody::ApprovalRequested { call, .. } => {
                self.change_step(call, "waits_for_approval")
            }
            EventBody::ApprovalResolved { call, decision: ApprovalDecision::Approved, .. } => {
                self.change_step(call, "approved")
            }
            EventBody::ToolResult { call, status, .. } => {
                self.change_step(call, call_status_name(*status))
            }
            EventBody::TurnFinished(outcome) => {
                self.outcome = Some(outcome.clone());
                None
            }
            _ => None,
        }
    }

    fn begin_step(&mut self, call: &CallId, step: TeamStep) -> Option<StepUpdate> {
        if self.steps.len() >= MAX_STEP_COUNT {
            return None;
        }
        self.positions.insert(call.clone(), self.steps.len());
        self.steps.push(step.clone());
        Some(StepUpdate::Step(step))
    }

    fn change_step(&mut self, call: &CallId, now: &'static str) -> Option<StepUpdate> {
        let step = self.positions.get(call).and_then(|position| self.steps.get_mut(*position))?;
        match step {
            TeamStep::Transfer { status, .. } | TeamStep::Tool { status, .. } => *status = now,
        }
        Some(StepUpdate::Step(step.clone()))
    }
}

fn delegation_status_name(status: DelegationStatus) -> &'static str {
    match status {
        DelegationStatus::Answered => "answered",
        DelegationStatus::Rejected => "rejected",
        DelegationStatus::Failed => "failed",
        DelegationStatus::Cancelled => "cancelled",
        DelegationStatus::NeedsInput => "needs_input",
    }
}

fn call_status_name(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Ok => "ok",
        CallStatus::Error => "error",
        CallStatus::Refused => "refused",
        CallStatus::Denied => "denied",
        CallStatus::Cancelled => "cancelled",
        CallStatus::Unknown => "unknown",
    }
}
