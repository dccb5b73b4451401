//! Defines the requests of clients to a runtime.

use lango_model::UserMessage;
use lango_protocol::{DirectCall, MessageOrigin, Sender, SessionId, TurnId};

/// Asks for a turn.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// The id of the turn: [`TurnId::generate`], unless the client has to know it in advance.
    pub turn: TurnId,
    /// The conversation it belongs to.
    pub session: SessionId,
    /// The input.
    pub input: TurnInput,
    /// The API through which it arrived.
    pub origin: MessageOrigin,
    /// The sender, if it was not the user.
    pub sender: Option<Sender>,
}

/// The input of a turn.
#[derive(Debug, Clone)]
pub enum TurnInput {
    /// A message that the team answers.
    Message(UserMessage),
    /// One tool call by a program, which gets the result. No model is called.
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
    /// Creates a request of the user.
    pub fn new(session: SessionId, input: impl Into<TurnInput>, origin: MessageOrigin) -> Self {
        Self { turn: TurnId::generate(), session, input: input.into(), origin, sender: None }
    }
}
