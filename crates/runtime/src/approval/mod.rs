//! Decides whether a dangerous call may run, and asks a person where necessary.
//!
//! [`decide_call`] is pure: policy, rules and a proposal in, a verdict out. [`RuleBook`] holds the
//! rules. An [`Approver`] asks the person at a user interface; answers also arrive through the
//! journal, from any process, and the first one counts.

mod book;
mod exclusion;
mod policy;
mod rule;

use std::future::Future;
use std::pin::Pin;

use lango_protocol::{AgentName, CallId, SessionId};
use lango_text::hex;
use lango_tool::Proposal;
use sha2::{Digest, Sha256};

pub(crate) use book::COMPONENT as RULES_COMPONENT;
pub use book::{RuleBook, StoredRule};
pub(crate) use exclusion::find_excluded_paths;
pub use policy::{ApprovalPolicy, Verdict, decide_call};
pub use rule::{Effect, Rule, RuleCase, StepPattern};

/// Describes the call that a person has to decide on.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The conversation.
    pub session: SessionId,
    /// The call that waits.
    pub call: CallId,
    /// The agent that made the call.
    pub agent: AgentName,
    /// The tool.
    pub tool: String,
    /// The exact effect of the call.
    pub summary: String,
    /// The digest that the answer is bound to.
    pub digest: String,
    /// The rules that "always" would store. If there are none, "always" is not offered.
    pub always: Vec<String>,
}

/// The answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// The call may run.
    Approved {
        /// The person or rule that decided.
        by: String,
        /// True if the same call may run without a question from now on.
        always: bool,
    },
    /// The call must not run.
    Denied {
        /// The person or rule that decided.
        by: String,
    },
    /// No person could be asked. This counts as a denial.
    Unavailable {
        /// The reason, and what to do about it.
        why: String,
    },
}

/// Resolves to the answer.
pub type ApprovalFuture = Pin<Box<dyn Future<Output = ApprovalAnswer> + Send>>;

/// Asks a person. Implemented by the user interfaces (the terminal, for example). An implementation
/// without a person denies at once; where an answer may arrive through the journal instead, it may
/// wait, because the question expires.
pub trait Approver: Send + Sync {
    /// Asks and waits for the answer.
    fn ask(&self, request: ApprovalRequest) -> ApprovalFuture;
}

/// Denies every request, because no person is present.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnattendedApprover;

impl Approver for UnattendedApprover {
    fn ask(&self, _: ApprovalRequest) -> ApprovalFuture {
        let why = "no person could be asked: no terminal. Run it in a terminal, let it \
                   wait with --approve wait and answer with `lango approvals approve`, or allow \
                   it beforehand with a rule (`lango approvals add`) or --approve all"
            .to_owned();
        Box::pin(async { ApprovalAnswer::Unavailable { why } })
    }
}

/// Computes the digest that binds an approval to the call that was shown: the call, its summary and
/// the content that it depends on.
pub(crate) fn approval_digest(tool: &str, arguments: &str, proposal: &Proposal) -> String {
    let bound = proposal.bound.iter().flat_map(|bound| [&bound.what, &bound.digest]);
    let parts = [tool, arguments, &proposal.summary].into_iter();
    digest_parts(parts.chain(bound.map(String::as_str)).map(str::as_bytes))
}

/// Computes SHA-256 over several parts, each preceded by its length.
fn digest_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex(hasher.finalize())
}
