//! One turn, from the user's message to the answer, with every promise kept by code.
//!
//! [`Runtime`] takes messages and gives out events. Inside, a turn is a fold over its own journal
//! (`record`): what happens next is always derived from what was recorded, so that a turn that
//! is resumed after a crash takes the same path as one that was never interrupted.
//!
//! The model is not trusted. It is asked through an `offer` of what this agent may do now; what
//! it says is a `decision` checked against that offer; a call runs only through `dispatch`.

mod agent;
mod approval;
mod call_report;
mod caller;
mod context;
mod decision;
mod dispatch;
mod events_adapter;
mod handle;
mod live;
mod loop_guard;
mod observer;
mod offer;
mod output;
mod permission;
mod record;
mod recorder;
mod remote;
mod request;
mod runtime;
mod scrub;
mod session;
mod settings;
mod team;
mod turn;
mod words;

pub use agent::{AgentContext, AgentParts};
pub use approval::{
    ApprovalAnswer, ApprovalFuture, ApprovalPolicy, ApprovalRequest, Approver, Case, Effect,
    NobodyToAsk, Rule, RuleBook, StoredRule, Verdict, Words, decide,
};
pub use caller::{OWNER, Teams, owns_session, words_for_others};
pub use context::{ContextFuture, ContextRequest, ContextSource, collect_context};
pub use events_adapter::{EventsAdapter, PastTurn};
pub use handle::{TurnError, TurnHandle};
pub use live::Following;
pub use observer::{Advice, AdviceFuture, Advisor, ObserverFuture, TurnObserver};
pub use offer::offered_tools;
pub use record::TurnRecord;
pub use remote::{RemoteAgent, RemoteFuture, RemoteReply, RemoteRequest};
pub use request::{TurnInput, TurnRequest};
pub use runtime::{AgentModel, Runtime, RuntimeParts};
pub use scrub::Scrubber;
pub use settings::Settings;
