//! Asking a person before something dangerous runs.

use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;

use lango_protocol::{AgentName, CallId, SessionId};
use lango_tool::{RegisteredTool, SafetyLevel};
use sha2::{Digest, Sha256};

/// Which calls need an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalPolicy {
    /// Those that act on the world.
    Dangerous,
    /// Everything that is not read-only.
    All,
}

impl ApprovalPolicy {
    /// Whether a call of `tool` needs one.
    pub(crate) fn needs_approval(self, tool: &RegisteredTool) -> bool {
        match self {
            Self::Dangerous => tool.level == SafetyLevel::Dangerous,
            Self::All => tool.level == SafetyLevel::Dangerous || !tool.read_only,
        }
    }
}

/// What a person is asked.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The conversation.
    pub session: SessionId,
    /// The call that waits.
    pub call: CallId,
    /// Who wants it.
    pub agent: AgentName,
    /// The tool.
    pub tool: String,
    /// What exactly would happen.
    pub summary: String,
    /// SHA-256 over tool and arguments.
    pub digest: String,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Run it.
    Approved {
        /// Who said so.
        by: String,
    },
    /// Do not.
    Denied {
        /// Who said so.
        by: String,
    },
    /// There is nobody to ask; counts as a denial.
    Nobody {
        /// Why, and what to do about it.
        why: String,
    },
}

/// The future of an answer.
pub type ApprovalFuture = Pin<Box<dyn Future<Output = ApprovalAnswer> + Send>>;

/// Somebody who can be asked. Implemented by the surfaces (the terminal here); must come back
/// when nobody is there instead of waiting for ever.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer.
    fn ask(&self, request: ApprovalRequest) -> ApprovalFuture;
}

/// Denies, because there is nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn ask(&self, _: ApprovalRequest) -> ApprovalFuture {
        let why = "nobody could be asked: no terminal. Run it in a terminal, or allow it \
                   beforehand with --approve all"
            .to_owned();
        Box::pin(async { ApprovalAnswer::Nobody { why } })
    }
}

/// What binds an approval to the call that was shown.
pub(crate) fn digest(tool: &str, arguments: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(tool.as_bytes());
    hasher.update([0]);
    hasher.update(arguments.as_bytes());
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
