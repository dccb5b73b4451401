//! Runs turns, from the user's message to the answer.
//!
//! [`Runtime`] takes messages and emits events. Internally, a turn is a fold over its own journal
//! (`record`): the next step is always derived from the recorded events, so that a turn that is
//! resumed after a crash takes the same path as one that was never interrupted.
//!
//! The model is not trusted. It gets an `offer` of what this agent may do now; its reply becomes a
//! `decision` that is checked against that offer; a call runs only through `dispatch`.

mod agent;
mod approval;
mod begin;
mod call_report;
mod caller;
mod context;
mod decision;
mod dispatch;
mod drive;
mod events_adapter;
mod foreign_text;
mod handle;
mod images;
mod live;
mod loop_guard;
mod observer;
mod offer;
mod output;
mod permission;
mod promise;
mod record;
mod recorder;
mod remote;
mod request;
mod retry;
mod runtime;
mod session;
mod settings;
mod spending;
mod take_up;
mod team;
mod turn;
mod words;
mod work;

pub use agent::{AgentContext, AgentParts};
pub use approval::{
    ApprovalAnswer, ApprovalFuture, ApprovalPolicy, ApprovalRequest, Approver, Effect, Rule,
    RuleBook, RuleCase, StepPattern, StoredRule, UnattendedApprover, Verdict, decide_call,
};
pub use caller::{OWNER, Teams, find_session_space, outcome_for_clients, owns_session};
pub use context::{ContextFuture, ContextRequest, ContextSource, collect_context};
pub use events_adapter::{EventsAdapter, PastTurn};
pub use handle::{TurnError, TurnHandle};
pub use lango_redaction::Scrubber;
pub use live::TurnSubscription;
pub use observer::{Advice, AdviceFuture, Advisor, FinishedTurn, ObserverFuture, TurnObserver};
pub use offer::offered_tools;
pub use record::TurnRecord;
pub use remote::{RemoteAgent, RemoteFuture, RemoteReply, RemoteRequest};
pub use request::{TurnInput, TurnRequest};
pub use runtime::{AgentModel, Runtime, RuntimeParts};
pub use settings::Settings;
pub use spending::{SpendDecision, SpendFuture, SpendGuard, SpendRequest, SpentCall};
pub use take_up::TurnCollector;
pub use team::describe_cards;
pub use work::{WorkListener, WorkRunner, store_work_request};

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] = &[approval::RULES_COMPONENT];
