//! Defines events: the only thing that leaves a turn, and the only thing the journal holds.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    AgentName, CallId, CallReport, Caller, EventId, Outcome, SessionId, Timestamp, TurnId,
};

/// Describes one thing that happened. The author is stored with it and never derived later.
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
    /// The time.
    pub at: Timestamp,
    /// The author: `user`, an agent's name, or `lango` for the runtime itself. Absent only in what
    /// was imported from journals that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The transfer this happened under; absent for the root agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<CallId>,
    /// The model call of the turn this came from, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The content of the event.
    #[serde(flatten)]
    pub body: EventBody,
}

/// Tells what happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// A turn begins.
    UserMessage {
        /// The message as the user typed it.
        text: String,
        /// The attached text, such as standard input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attachment: Option<String>,
        /// The attached images; stored next to the journal.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<ImageReference>,
        /// The API it came through.
        origin: MessageOrigin,
        /// The sender, if it was not the user of this team.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sender: Option<Sender>,
        /// The one tool call that the turn consists of, if a program asked for that instead of
        /// sending a message. `text` describes it then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<DirectCall>,
    },
    /// A piece of a message as the model streams it. Never journalled.
    TextDelta {
        /// The piece.
        text: String,
        /// True if the message that it belongs to goes to the user. It may still turn out to be a
        /// remark before a call.
        #[serde(default)]
        answer: bool,
    },
    /// A message of an agent.
    Message {
        /// The whole text.
        text: String,
        /// True if it answers the user; otherwise it is an intermediate remark.
        answer: bool,
    },
    /// An agent requested a tool call. It has not run yet.
    ToolCall {
        /// The call.
        call: CallId,
        /// The tool's name as the model wrote it.
        tool: String,
        /// The arguments as the model wrote them: JSON, unless the call is refused for it.
        arguments: String,
        /// True if running it can change anything.
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
        /// The status of the call.
        status: CallStatus,
        /// The text for the model, bounded.
        output: String,
        /// The reference of the whole output, if it was too long to show.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_output: Option<String>,
        /// The report for users. Absent in events of programs that did not record it, and if the
        /// tool has nothing better to say than its output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<Arc<CallReport>>,
        /// The time that it ran.
        milliseconds: u64,
    },
    /// The orchestrator transfers a task to an agent.
    Transfer {
        /// The transfer; also the `branch` of everything that happens under it.
        call: CallId,
        /// The agent.
        to: AgentName,
        /// The task, in the orchestrator's words.
        task: String,
        /// True if the orchestrator wants the result back instead of it going to the user.
        returns: bool,
        /// The number of this delegation round of the turn.
        round: u32,
        /// The model that decided so. Absent in events of programs that did not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided_by: Option<String>,
    },
    /// A transfer came back. Every `transfer` has exactly one.
    TransferFinished {
        /// The transfer.
        call: CallId,
        /// The agent.
        to: AgentName,
        /// The status of the delegation.
        status: DelegationStatus,
        /// The agent's answer or reason.
        text: String,
    },
    /// A transfer that was not possible.
    TransferRefused {
        /// The call.
        call: CallId,
        /// The name the model wrote.
        requested: String,
        /// The text for the model.
        reason: String,
        /// The names it may choose.
        valid: Vec<AgentName>,
    },
    /// A specialist refused a task as not its own.
    Rejected {
        /// Its reason.
        reason: String,
    },
    /// The user is asked.
    ApprovalRequested {
        /// The call that waits.
        call: CallId,
        /// The tool.
        tool: String,
        /// The whole effect of the call, for the user.
        summary: String,
        /// The SHA-256 of the call, of what was shown and of what that depends on; the call that
        /// runs has the same.
        digest: String,
        /// The time from which on it counts as denied.
        #[serde(default)]
        expires_at: Option<Timestamp>,
        /// The rules that "always" would store. Empty if there is no such answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        always: Vec<String>,
    },
    /// The user, a rule, or the policy in the user's absence, decided. If a rule did, the user was
    /// not asked.
    ApprovalResolved {
        /// The call that waited.
        call: CallId,
        /// The decision.
        decision: ApprovalDecision,
        /// The name of who decided, or the reason why no decision was possible.
        by: String,
    },
    /// The reasoning of a model before it answered or acted. It is not part of the answer.
    Reasoning {
        /// The model, as `PROVIDER/NAME`.
        model: String,
        /// The thoughts, bounded; some providers send none, or only a summary.
        text: String,
        /// The state that the provider wants back with this reply. It is sent to no other model.
        #[serde(default, alias = "keepsake", skip_serializing_if = "Option::is_none")]
        provider_state: Option<String>,
    },
    /// A model call failed and is tried again. Every `text_delta` of this step so far is void.
    Setback {
        /// The model, as `PROVIDER/NAME`.
        model: String,
        /// The kind of error, such as `overloaded`.
        fault: String,
        /// The error in words.
        reason: String,
        /// The model that is asked next.
        next: String,
        /// The wait before that.
        wait_milliseconds: u64,
    },
    /// The cost of a model call.
    Usage {
        /// The provider.
        #[serde(default)]
        provider: String,
        /// The model.
        model: String,
        /// The figures.
        #[serde(flatten)]
        usage: Usage,
        /// True if the figures are our own estimate, because the provider gave none.
        estimated: bool,
    },
    /// Something the user should know.
    Warning {
        /// The kind of warning.
        code: WarningCode,
        /// The warning in words.
        text: String,
    },
    /// The turn is over.
    TurnFinished(Outcome),
}

impl EventBody {
    /// Tells whether the journal keeps it.
    pub fn is_durable(&self) -> bool {
        !matches!(self, Self::TextDelta { .. })
    }

    /// Returns the name of the event's type, as in `stream-json`.
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

/// Refers to an image that came with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageReference {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The size of the file.
    pub bytes: u64,
    /// The reference of the stored image, in the session.
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
    /// True if words of others are among the arguments, which the program that asks for the call only passes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carries_foreign_text: bool,
}

/// Names the API that a message came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageOrigin {
    /// `lango run`.
    Run,
    /// `lango chat`.
    Chat,
    /// A program that uses the runtime as a library.
    Library,
    /// Another agent, over A2A.
    A2a,
    /// A program that uses `/v1`.
    Openai,
    /// A program that uses MCP.
    Mcp,
    /// Work of the automator: a job, or a task in the background.
    Work,
}

/// Describes the API client that sent a message. Its words are untrusted: they are answered, and
/// not taken for what the user says about themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    /// The name under which it is authorised.
    pub caller: Caller,
    /// Its own id of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The trace that it belongs to, as a W3C `traceparent`; it is passed on to remote agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// Tells how a call ended.
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

/// Tells how a transfer ended.
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

/// Tells what was decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// The call may run.
    Approved,
    /// The call may not run.
    Denied,
}

/// Counts the tokens of a model call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
    /// The part of the input that the provider had cached.
    #[serde(default)]
    pub cached: u64,
    /// The part of the input that the provider put into its cache, if it charges for that.
    #[serde(default)]
    pub cache_write: u64,
    /// The part of the output that was spent on reasoning.
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
    /// Returns the sum of input and output.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// Names the kinds of warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// A model's reply was longer than allowed and was cut.
    ReplyTruncated,
    /// A model said nothing and was asked again.
    EmptyReply,
    /// The same call was repeated and stopped.
    Repetition,
    /// A limit is near, or the last replies led to nothing; the agent was asked to answer with what
    /// it has.
    BudgetExhausted,
    /// A turn that a crash or a kill had interrupted continues.
    Resumed,
    /// The conversation was too long for the model, and a part of it was left out.
    ContextShortened,
    /// An agent that should be in the team is missing.
    AgentAbsent,
    /// The turn was stopped because the API client that it belongs to has no access any more.
    AccessRevoked,
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
