//! Events: the only thing that leaves a turn, and the only thing the journal holds.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    AgentName, CallId, CallReport, Caller, EventId, Outcome, SessionId, Timestamp, TurnId,
};

/// One thing that happened. The author is stored with it and never derived later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Unique.
    pub id: EventId,
    /// The conversation.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// Position in the session's journal, from 1 without gaps. An event that is shown but not
    /// journalled (`text_delta`) carries the position of the last journalled one before it.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// Who: `user`, an agent's name, or `lango` for the runtime itself. Absent only in what was
    /// imported from journals that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The hand-over this happened under; absent for the root agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<CallId>,
    /// The model call of the turn this came from, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What.
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// A turn begins.
    UserMessage {
        /// What the user typed.
        text: String,
        /// What came with it, such as standard input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attachment: Option<String>,
        /// Images that came with it; kept beside the journal.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<ImageReference>,
        /// Through which door it came.
        origin: Origin,
        /// Who sent it, where it was not the person whose team this is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sender: Option<Sender>,
        /// The one tool call that the turn consists of, where a program asked for that instead of
        /// saying something. `text` describes it then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<DirectCall>,
    },
    /// A piece of a message as the model streams it. Never journalled.
    TextDelta {
        /// The piece.
        text: String,
        /// Whether the message that it belongs to goes to the user. It may still turn out to be a
        /// remark before a call.
        #[serde(default)]
        answer: bool,
    },
    /// What an agent said.
    Message {
        /// The whole text.
        text: String,
        /// Whether it answers the user; otherwise it is a remark on the way.
        answer: bool,
    },
    /// An agent asked for a tool. Not yet run.
    ToolCall {
        /// The call.
        call: CallId,
        /// The tool's name as the model wrote it.
        tool: String,
        /// The arguments as the model wrote them: JSON, unless the call is refused for it.
        arguments: String,
        /// Whether running it can change anything.
        read_only: bool,
    },
    /// A call that can change something is about to run. Without a result after it, the outcome
    /// of the call is unknown.
    ToolStarted {
        /// The call.
        call: CallId,
    },
    /// The result of a call. Every call has exactly one.
    ToolResult {
        /// The call.
        call: CallId,
        /// The tool's name.
        tool: String,
        /// How it went.
        status: CallStatus,
        /// What the model is told, bounded.
        output: String,
        /// Reference of the whole output where it was too long to show.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_output: Option<String>,
        /// What it did, for a person. Absent in events of programs that did not write it down, and
        /// where the tool has nothing better to say than its output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<Arc<CallReport>>,
        /// How long it ran.
        milliseconds: u64,
    },
    /// The orchestrator hands a task to an agent.
    Transfer {
        /// The hand-over; also the `branch` of everything that happens under it.
        call: CallId,
        /// The agent.
        to: AgentName,
        /// The task, in the orchestrator's words.
        task: String,
        /// Whether the orchestrator wants the result back instead of it going to the user.
        returns: bool,
        /// Which of the turn's delegation rounds this is.
        round: u32,
        /// The model that decided so. Absent in events of programs that did not write it down.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided_by: Option<String>,
    },
    /// A hand-over came back. Every `transfer` has exactly one.
    TransferFinished {
        /// The hand-over.
        call: CallId,
        /// The agent.
        to: AgentName,
        /// How it went.
        status: DelegationStatus,
        /// The agent's answer or reason.
        text: String,
    },
    /// A hand-over that was not possible.
    TransferRefused {
        /// The call.
        call: CallId,
        /// The name the model wrote.
        requested: String,
        /// What the model is told.
        reason: String,
        /// The names it may choose.
        valid: Vec<AgentName>,
    },
    /// A specialist refused a task as not its own.
    Rejected {
        /// Its reason.
        reason: String,
    },
    /// A person is asked.
    ApprovalRequested {
        /// The call that waits.
        call: CallId,
        /// The tool.
        tool: String,
        /// What exactly would happen, for the person.
        summary: String,
        /// SHA-256 of the call, of what was shown and of what that rests on; what runs has the
        /// same.
        digest: String,
        /// Counts as denied from then on.
        #[serde(default)]
        expires_at: Option<Timestamp>,
        /// The rules that "always" would store. Empty where there is no such answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        always: Vec<String>,
    },
    /// A person, a rule, or the policy in their absence, decided. Where a rule did, nobody was
    /// asked.
    ApprovalResolved {
        /// The call that waited.
        call: CallId,
        /// The decision.
        decision: ApprovalDecision,
        /// Who decided, or why nobody could.
        by: String,
    },
    /// What a model thought before it answered or acted. Not part of the answer.
    Reasoning {
        /// The model, as `PROVIDER/NAME`.
        model: String,
        /// The thoughts, bounded; some providers send none, or only a summary.
        text: String,
        /// What the provider wants to see again with this reply. Goes to no other model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keepsake: Option<String>,
    },
    /// A model call did not work and is tried again. Every `text_delta` of this step so far is
    /// void.
    Setback {
        /// The model, as `PROVIDER/NAME`.
        model: String,
        /// The kind of trouble, such as `overloaded`.
        fault: String,
        /// In words.
        reason: String,
        /// Who is asked next.
        next: String,
        /// After how long.
        wait_milliseconds: u64,
    },
    /// What a model call cost.
    Usage {
        /// The provider.
        #[serde(default)]
        provider: String,
        /// The model.
        model: String,
        /// The figures.
        #[serde(flatten)]
        usage: Usage,
        /// Whether the figures are our own estimate, because the provider gave none.
        estimated: bool,
    },
    /// Something the user should know.
    Warning {
        /// What kind.
        code: WarningCode,
        /// In words.
        text: String,
    },
    /// The turn is over.
    TurnFinished(Outcome),
}

impl EventBody {
    /// Whether the journal keeps it.
    pub fn is_durable(&self) -> bool {
        !matches!(self, Self::TextDelta { .. })
    }

    /// The name of the event's type, as in `stream-json`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::UserMessage { .. } => "user_message",
            Self::TextDelta { .. } => "text_delta",
            Self::Message { .. } => "message",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolStarted { .. } => "tool_started",
            Self::ToolResult { .. } => "tool_result",
            Self::Transfer { .. } => "transfer",
            Self::TransferFinished { .. } => "transfer_finished",
            Self::TransferRefused { .. } => "transfer_refused",
            Self::Rejected { .. } => "rejected",
            Self::ApprovalRequested { .. } => "approval_requested",
            Self::ApprovalResolved { .. } => "approval_resolved",
            Self::Reasoning { .. } => "reasoning",
            Self::Setback { .. } => "setback",
            Self::Usage { .. } => "usage",
            Self::Warning { .. } => "warning",
            Self::TurnFinished(_) => "turn_finished",
        }
    }
}

/// An image that came with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageReference {
    /// Such as `image/png`.
    pub media_type: String,
    /// The size of the file.
    pub bytes: u64,
    /// Where it is kept, in the session.
    pub reference: String,
}

/// Asks for one tool call of one agent, without a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectCall {
    /// The agent that owns the tool.
    pub agent: AgentName,
    /// The tool's name.
    pub tool: String,
    /// The arguments, as JSON.
    pub arguments: String,
}

/// The API a message came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `lango run`.
    Run,
    /// `lango chat`.
    Chat,
    /// A program that uses the runtime as a library.
    Library,
    /// Another agent, over A2A.
    A2a,
    /// A program that speaks to `/v1`.
    Openai,
    /// A program that speaks MCP.
    Mcp,
}

/// Who sent a message through a door that others use. Its words are a stranger's: they are answered,
/// and not taken for what the user says about themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    /// Under which name it is let in.
    pub caller: Caller,
    /// What it calls the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The trace that it belongs to, as a W3C `traceparent`; goes on to agents elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It ran and succeeded.
    Ok,
    /// It ran and failed.
    Error,
    /// It was not run: not owned, malformed, repeated, or over a limit.
    Refused,
    /// It was not run: no approval.
    Denied,
    /// It was stopped, or never started because the turn was stopped.
    Cancelled,
    /// It was started and the process ended before the result was recorded.
    Unknown,
}

impl fmt::Display for CallStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Refused => "refused",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Unknown => "outcome unknown",
        })
    }
}

/// How a hand-over ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelegationStatus {
    /// The agent answered.
    Answered,
    /// The agent refused the task.
    Rejected,
    /// The agent could not finish.
    Failed,
    /// The turn was stopped.
    Cancelled,
    /// The agent needs an answer from the user.
    NeedsInput,
}

/// What was decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// Run it.
    Approved,
    /// Do not.
    Denied,
}

/// Tokens of a model call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
    /// Of the input, those the provider had cached.
    #[serde(default)]
    pub cached: u64,
    /// Of the input, those the provider put into its cache, where it charges for that.
    #[serde(default)]
    pub cache_write: u64,
    /// Of the output, those spent on reasoning.
    #[serde(default)]
    pub reasoning: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

impl Usage {
    /// Input and output.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// Kinds of warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// A model's reply was longer than allowed and was cut.
    ReplyTruncated,
    /// A model said nothing and was asked again.
    EmptyReply,
    /// The same call was repeated and stopped.
    Repetition,
    /// A limit is near, or nothing came of the last replies; the agent was asked to answer with
    /// what it has.
    BudgetExhausted,
    /// A turn that a crash or a kill had interrupted goes on.
    Resumed,
    /// The conversation was too long for the model, and a part of it was left out.
    ContextShortened,
    /// An agent that should be in the team is not.
    AgentAbsent,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OutcomeStatus, WorkDone};

    #[test]
    fn an_event_is_one_flat_json_object_and_reads_back() {
        let event = Event {
            id: EventId::generate(),
            session: "work".parse().unwrap(),
            turn: TurnId::generate(),
            seq: 7,
            at: Timestamp::now(),
            author: Some("operator".into()),
            branch: Some(CallId::generate()),
            step: Some(2),
            body: EventBody::TurnFinished(Outcome {
                status: OutcomeStatus::Done,
                work: WorkDone::default(),
            }),
        };
        let text = serde_json::to_string(&event).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["type"], "turn_finished");
        assert_eq!(value["status"], "done");
        assert_eq!(value["author"], "operator");
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
    }
}
