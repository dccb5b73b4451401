//! Defines the errors of remote agents.

use std::time::Duration;

use lango_egress::FetchError;
use lango_protocol::AgentName;
use lango_store::StoreError;

/// Describes why a conversation with a remote agent failed. The messages are for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExchangeError {
    /// The agent cannot be reached, or must not be.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// The connection broke.
    #[error("the connection broke off: {0}")]
    Broken(String),
    /// No data arrived for too long.
    #[error("it said nothing for {} s", .0.as_secs())]
    Silent(Duration),
    /// The whole task took too long.
    #[error("it was not done within {} s", .0.as_secs())]
    TooSlow(Duration),
    /// The agent sent more than is accepted.
    #[error("it sent too much: {0}")]
    TooMuch(String),
    /// The data violates the protocol.
    #[error("its response is invalid: {0}")]
    Malformed(String),
    /// The agent requires authentication.
    #[error("it requires authentication (HTTP {status}). {advice}")]
    Unauthorized {
        /// The status.
        status: u16,
        /// The next step for the user.
        advice: String,
    },
    /// The agent answered with an HTTP error.
    #[error("it answered with HTTP {status}{}", after_colon(.message))]
    Status {
        /// The status.
        status: u16,
        /// The agent's message.
        message: String,
    },
    /// The agent answered with an error of the protocol.
    #[error("it refused{} (error {code})", after_colon(.message))]
    Refused {
        /// The code.
        code: i64,
        /// The agent's message.
        message: String,
    },
    /// The state of tasks cannot be read or written on this machine.
    #[error("the state of its task cannot be stored: {0}")]
    Store(String),
}

fn after_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

impl ExchangeError {
    /// Tells whether the agent malfunctions, as opposed to refusing.
    pub(crate) fn is_malfunction(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::Broken(_)
            | Self::Silent(_)
            | Self::TooSlow(_)
            | Self::TooMuch(_)
            | Self::Malformed(_) => true,
            Self::Status { status, .. } => *status >= 500,
            Self::Unauthorized { .. } | Self::Refused { .. } | Self::Store(_) => false,
        }
    }
}

impl From<FetchError> for ExchangeError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::TooLong { .. } => Self::TooMuch(error.to_string()),
            FetchError::Egress(_)
            | FetchError::Redirect { .. }
            | FetchError::TooSlow { .. }
            | FetchError::Broken { .. } => Self::Unreachable(error.to_string()),
        }
    }
}

impl From<StoreError> for ExchangeError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

/// Describes why a remote agent is not in the team. The user can act on most of these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// Its card cannot be fetched, perhaps temporarily.
    #[error("the card at {url} cannot be fetched: {reason}")]
    Unreachable {
        /// The address of the card.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The document is not a card.
    #[error("what is at {url} is not an agent card: {reason}")]
    NotACard {
        /// Its address.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The card offers no supported interface.
    #[error(
        "its card offers {offered}, and none of it is supported (A2A 1.0 over JSON-RPC or \
         HTTP+JSON, 0.3 over JSON-RPC)"
    )]
    NoCommonInterface {
        /// The offered interfaces.
        offered: String,
    },
    /// The card names an endpoint on another host.
    #[error(
        "its card names {endpoint}, which is not on the card's own host ({host}). If that is right, \
         add it to allowHosts of {name} in a2a.remoteAgents: lango config path"
    )]
    OtherHost {
        /// The local name of the agent.
        name: String,
        /// The endpoint in the card.
        endpoint: String,
        /// The host of the card.
        host: String,
    },
    /// The endpoint cannot be used.
    #[error("its card names an endpoint that cannot be used: {reason}")]
    BadEndpoint {
        /// The cause.
        reason: String,
    },
    /// The card changed since it was trusted.
    #[error(
        "its card is not the one that was trusted. See what changed, and decide: \
         lango a2a approve {name}"
    )]
    Changed {
        /// The local name of the agent.
        name: AgentName,
    },
    /// The signature is invalid.
    #[error("the signature of its card is invalid: {reason}")]
    BadSignature {
        /// The cause.
        reason: String,
    },
    /// The database failed.
    #[error("its stored card cannot be read or written: {0}")]
    Store(String),
}

impl From<StoreError> for RemoteError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}
