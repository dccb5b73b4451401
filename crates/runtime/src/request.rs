//! What a client asks a runtime for.

use lango_model::UserMessage;
use lango_protocol::{DirectCall, Origin, Sender, SessionId, TurnId};

/// Asks for a turn.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// What the turn will be called; [`TurnId::generate`], unless somebody has to know it before.
    pub turn: TurnId,
    /// The conversation it belongs to.
    pub session: SessionId,
    /// What the turn is about.
    pub input: TurnInput,
    /// Through which API it came.
    pub origin: Origin,
    /// Who sent it, where it was not the user.
    pub sender: Option<Sender>,
}

/// Says what a turn is about.
#[derive(Debug, Clone)]
pub enum TurnInput {
    /// Somebody says something, and the team answers.
    Message(UserMessage),
    /// A program wants one tool call and its result. No model is asked.
    Call(DirectCall),
}

impl From<UserMessage> for TurnInput {
    fn from(message: UserMessage) -> Self {
        Self::Message(message)
    }
}

impl From<String> for TurnInput {
    fn from(text: String) -> Self {
        Self::Message(UserMessage::new(text))
    }
}

impl From<&str> for TurnInput {
    fn from(text: &str) -> Self {
        Self::Message(UserMessage::new(text))
    }
}

impl From<DirectCall> for TurnInput {
    fn from(call: DirectCall) -> Self {
        Self::Call(call)
    }
}

impl TurnRequest {
    /// Makes a request of the user.
    pub fn new(session: SessionId, input: impl Into<TurnInput>, origin: Origin) -> Self {
        Self { turn: TurnId::generate(), session, input: input.into(), origin, sender: None }
    }
}
