//! Deciding, and asking a person, before something dangerous runs.
//!
//! [`decide`] is pure: policy, rules and a proposal in, a verdict out. [`RuleBook`] knows the
//! rules. An [`Approver`] is a surface that somebody sits at; answers also come through the
//! journal, from any process, and the first one counts.

mod book;
mod policy;
mod rule;

use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;

use lango_protocol::{AgentName, CallId, SessionId};
use lango_tool::Proposal;
use sha2::{Digest, Sha256};

pub use book::{RuleBook, StoredRule};
pub use policy::{ApprovalPolicy, Verdict, decide};
pub use rule::{Case, Effect, Rule, Words};

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
    /// What the answer is bound to.
    pub digest: String,
    /// The rules that "always" would store; where there are none, it is no answer.
    pub always: Vec<String>,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Run it.
    Approved {
        /// Who said so.
        by: String,
        /// Whether the same may run from now on.
        always: bool,
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

/// Somebody who can be asked. Implemented by the surfaces (the terminal here). Where nobody is
/// there it says so; where somebody may answer through the journal instead, it may wait, because
/// the question expires.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer.
    fn ask(&self, request: ApprovalRequest) -> ApprovalFuture;
}

/// Denies, because there is nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn ask(&self, _: ApprovalRequest) -> ApprovalFuture {
        let why = "nobody could be asked: no terminal. Run it in a terminal, let it \
                   wait with --approve wait and answer with `lango approvals approve`, or allow \
                   it beforehand with a rule (`lango approvals add`) or --approve all"
            .to_owned();
        Box::pin(async { ApprovalAnswer::Nobody { why } })
    }
}

/// What binds an approval to the call that was shown: the call, what was shown of it, and what it
/// rests on.
pub(crate) fn digest(tool: &str, arguments: &str, proposal: &Proposal) -> String {
    let bound = proposal.bound.iter().flat_map(|bound| [&bound.what, &bound.digest]);
    let parts = [tool, arguments, &proposal.summary].into_iter();
    digest_of(parts.chain(bound.map(String::as_str)).map(str::as_bytes))
}

/// SHA-256 over several parts, each behind its length.
fn digest_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
