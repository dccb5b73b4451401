//! What can go wrong with an agent elsewhere.

use std::time::Duration;

use lango_egress::FetchError;
use lango_protocol::AgentName;
use lango_store::StoreError;

/// Why a conversation with an agent elsewhere did not go on. The words are for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    /// Nobody is there, or nobody may be reached there.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// The connection broke off.
    #[error("the connection broke off: {0}")]
    Broken(String),
    /// Nothing came for too long.
    #[error("it said nothing for {} s", .0.as_secs())]
    Silent(Duration),
    /// The task as a whole took too long.
    #[error("it was not done within {} s", .0.as_secs())]
    TooSlow(Duration),
    /// More was sent than is taken.
    #[error("it sent too much: {0}")]
    TooMuch(String),
    /// What was sent is not the protocol.
    #[error("what it sent cannot be understood: {0}")]
    Garbage(String),
    /// It does not know us.
    #[error("it wants to know who asks (HTTP {status}). {advice}")]
    Unauthorized {
        /// The status.
        status: u16,
        /// What to type.
        advice: String,
    },
    /// It answered with an error of HTTP.
    #[error("it answered with HTTP {status}{}", after_colon(.message))]
    Status {
        /// The status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// It answered with an error of the protocol.
    #[error("it refused{} (error {code})", after_colon(.message))]
    Refused {
        /// The code.
        code: i64,
        /// What it said.
        message: String,
    },
    /// What is known about tasks cannot be read or written here.
    #[error("this machine could not keep track of it: {0}")]
    Store(String),
}

fn after_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

impl Trouble {
    /// Whether the agent does not work, as opposed to not wanting.
    pub(crate) fn is_malfunction(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::Broken(_)
            | Self::Silent(_)
            | Self::TooSlow(_)
            | Self::TooMuch(_)
            | Self::Garbage(_) => true,
            Self::Status { status, .. } => *status >= 500,
            Self::Unauthorized { .. } | Self::Refused { .. } | Self::Store(_) => false,
        }
    }
}

impl From<FetchError> for Trouble {
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

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

/// Why an agent elsewhere is not in the team. The user can act on most of these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// Its card did not come. It may come later.
    #[error("the card at {url} cannot be fetched: {reason}")]
    Unreachable {
        /// Where the card should be.
        url: String,
        /// Why it is not.
        reason: String,
    },
    /// What came is not a card.
    #[error("what is at {url} is not an agent card: {reason}")]
    NotACard {
        /// Where it is.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It speaks nothing that is spoken here.
    #[error(
        "its card offers {offered}, and none of it is spoken here (A2A 1.0 over JSON-RPC or \
         HTTP+JSON, 0.3 over JSON-RPC)"
    )]
    NoCommonTongue {
        /// What it offers.
        offered: String,
    },
    /// Its card sends us somewhere else.
    #[error(
        "its card names {endpoint}, which is not on the card's own host ({host}). If that is right, \
         add it to allowHosts of {name} in a2a.remoteAgents: lango config path"
    )]
    OtherHost {
        /// Our name for it.
        name: String,
        /// Where the card says that it is.
        endpoint: String,
        /// Where the card is.
        host: String,
    },
    /// Its endpoint cannot be used at all.
    #[error("its card names an endpoint that cannot be used: {reason}")]
    BadEndpoint {
        /// Why.
        reason: String,
    },
    /// It is not what it was when it was trusted.
    #[error(
        "its card is not the one that was trusted. See what changed, and decide: \
         lango a2a approve {name}"
    )]
    Changed {
        /// Our name for it.
        name: AgentName,
    },
    /// Its signature does not hold.
    #[error("the signature of its card does not hold: {reason}")]
    BadSignature {
        /// Why.
        reason: String,
    },
    /// The database did not take it.
    #[error("what is known about it cannot be read or written: {0}")]
    Store(String),
}

impl From<StoreError> for RemoteError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}
