//! Runs a turn: a small state machine whose next step follows from the recorded events.
//!
//! `Think` calls the speaker's model, `Act` runs its calls, `Delegate` runs specialists. The turn
//! always ends in [`Recorder::record_end`], with a message for the user.

mod ask;
mod delegate;
mod direct;
mod leaks;
mod remote;
mod spend;
mod think;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lango_model::{ContextBlock, Image, ModelError, ModelFault};
use lango_protocol::{
    AgentName, ApprovalDecision, BudgetKind, BudgetLimits, CallId, CallStatus, EventBody,
    FailureClass, OutcomeStatus, SpaceAccess, WarningCode,
};
use lango_store::StoreError;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::TurnError;
use crate::call_report::CallSubject;
use crate::events_adapter::PastTurn;
use crate::live::TurnControl;
use crate::record::{PendingCall, SpeakerPhase};
use crate::recorder::{EndedTurn, EventDraft, Recorder, Speaker};
use crate::runtime::SharedRuntime;
use crate::team::Team;
use crate::words;

pub(crate) use think::SpeakerRole;

/// The reason why a turn cannot continue.
#[derive(Debug)]
pub(crate) enum TurnStop {
    /// A part of the budget ran out.
    Budget(BudgetKind),
    /// The budget of work that runs by itself ran out; with an account of it.
    Spent(String),
    /// The model gives no usable reply.
    Model(String),
    /// The model cannot be reached.
    Provider(ModelError),
    /// No agent takes the task.
    Rejected(String),
    /// The user or the time limit stopped the turn.
    Interrupted,
    /// The journal cannot be written.
    Store(StoreError),
}

impl From<StoreError> for TurnStop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Tells whether a speaker continues.
pub(crate) enum SpeakerFlow {
    Continue,
    /// Its part is over and recorded.
    Ended,
    /// The whole turn is over.
    Finished(Box<EndedTurn>),
}

/// Represents one running turn.
pub(crate) struct Turn {
    pub(crate) shared: Arc<SharedRuntime>,
    pub(crate) team: Arc<Team>,
    pub(crate) recorder: Recorder,
    pub(crate) past: Arc<Vec<PastTurn>>,
    /// The images of the user's message.
    pub(crate) images: Vec<Image>,
    pub(crate) cancel: CancellationToken,
    control: TurnControl,
    /// The space of the sender, and those that the turn may read.
    pub(crate) space: SpaceAccess,
    timed_out: AtomicBool,
    /// The context of each agent, the same in all requests of this turn. The lock is held while
    /// context is collected: of two branches of one agent, the second gets what the first
    /// collected.
    context: Mutex<BTreeMap<AgentName, Vec<ContextBlock>>>,
}

/// Sets how often the lease of the session is renewed while nothing is written; a third of the
/// lease.
const RENEW_INTERVAL: Duration = Duration::from_secs(10);

/// Limits how long a turn that is to end waits for the store.
const SILENT_STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// Sets how often a turn that is to end looks whether it waits for the store.
const STORE_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Limits how long the clock of a turn waits for its record.
const RECORD_TIMEOUT: Duration = Duration::from_secs(1);

impl Turn {
    pub(crate) fn new(
        shared: Arc<SharedRuntime>,
        recorder: Recorder,
        past: Arc<Vec<PastTurn>>,
        images: Vec<Image>,
        control: TurnControl,
        space: SpaceAccess,
    ) -> Self {
        let team = shared.team();
        Self {
            shared,
            team,
            recorder,
            past,
            images,
            cancel: control.cancel.clone(),
            control,
            space,
            timed_out: AtomicBool::new(false),
            context: Mutex::default(),
        }
    }

    /// Tells whether the turn consists of one call that a program asked for. Nothing is learned
    /// from such a turn and no advice is given in it, because it has no conversation.
    pub(crate) async fn is_direct_call(&self) -> bool {
        self.recorder.inspect(|record| record.direct_call.is_some()).await
    }

    /// Returns the limit of delegation rounds.
    pub(crate) fn round_limit(&self) -> u32 {
        self.team.round_limit.unwrap_or(self.limits().delegation_rounds)
    }

    pub(crate) fn limits(&self) -> &BudgetLimits {
        &self.shared.settings.limits
    }

    /// Runs the turn to its end.
    pub(crate) async fn run(self) -> Result<EndedTurn, TurnError> {
        let finished = tokio::select! {
            finished = self.run_root() => finished,
            never = self.watch_limits() => match never {},
            error = self.watch_store() => Err(TurnStop::Store(error)),
        };
        let status = match finished {
            Ok(ended) => return Ok(*ended),
            Err(stop) => self.end_status(stop)?,
        };
        let warning = self.control.revocation().map(|reason| EventBody::Warning {
            code: WarningCode::AccessRevoked,
            text: reason.to_owned(),
        });
        let drafts = warning.map(|warning| EventDraft::of_runtime(None, warning));
        tokio::select! {
            ended = self.recorder.record_end(drafts.into_iter().collect(), status) => Ok(ended?),
            never = self.watch_limits() => match never {},
            error = self.watch_store() => Err(error.into()),
        }
    }

    /// Waits until the turn is to end, and returns if it then waits for a store that says nothing.
    async fn watch_store(&self) -> StoreError {
        self.cancel.cancelled().await;
        loop {
            if self.recorder.write_time().is_some_and(|waited| waited >= SILENT_STORE_TIMEOUT) {
                return self.recorder.silence_error(SILENT_STORE_TIMEOUT);
            }
            tokio::time::sleep(STORE_CHECK_INTERVAL).await;
        }
    }

    async fn run_root(&self) -> Result<Box<EndedTurn>, TurnStop> {
        if let Some(call) = self.recorder.inspect(|record| record.direct_call.clone()).await {
            return self.run_direct_call(call).await;
        }
        let agent = &self.team.root;
        let speaker = Speaker { agent: agent.name.clone(), branch: None };
        loop {
            if self.cancel.is_cancelled() {
                return Err(TurnStop::Interrupted);
            }
            let flow = match self.recorder.inspect(|record| record.root.next_phase()).await {
                SpeakerPhase::Think => self.call_model(agent, &speaker, SpeakerRole::Root).await?,
                SpeakerPhase::Act(calls) => self.run_calls(agent, &speaker, calls).await?,
                SpeakerPhase::Delegate(delegations) => self.run_delegations(delegations).await?,
            };
            if let SpeakerFlow::Finished(ended) = flow {
                return Ok(ended);
            }
        }
    }

    /// Renews the lease and watches the time limit until the turn ends.
    async fn watch_limits(&self) -> std::convert::Infallible {
        let mut deadline = std::pin::pin!(tokio::time::sleep(self.time_left().await));
        // Polled beside the clock: a store that says nothing must not stop it.
        let mut renewals = std::pin::pin!(self.renew_lease_regularly());
        loop {
            tokio::select! {
                () = &mut deadline, if !self.timed_out.load(Ordering::Acquire) => {
                    let left = self.time_left().await;
                    if left.is_zero() {
                        self.timed_out.store(true, Ordering::Release);
                        self.cancel.cancel();
                    } else {
                        // The time that a person took to answer does not count.
                        deadline.as_mut().reset(tokio::time::Instant::now() + left);
                    }
                }
                never = &mut renewals => match never {},
            }
        }
    }

    async fn renew_lease_regularly(&self) -> std::convert::Infallible {
        let mut renew = tokio::time::interval(RENEW_INTERVAL);
        renew.reset();
        loop {
            renew.tick().await;
            // If the session was lost, the next write fails.
            if let Err(error) = self.recorder.renew_lease().await {
                tracing::warn!(%error, "the lease of the session was not renewed");
                // Another process goes on with the turn. What runs here stops.
                if matches!(error, StoreError::SessionLost { .. }) {
                    self.cancel.cancel();
                }
            }
        }
    }

    /// Returns the rest of the wall time, at least a second while a question is open.
    async fn time_left(&self) -> Duration {
        let inspected = self
            .recorder
            .inspect(|record| (record.elapsed_at(self.recorder.now()), record.waits_for_answer()));
        // The record is locked while it is written. A store that says nothing does not stop the clock.
        let Ok((spent, waits)) = tokio::time::timeout(RECORD_TIMEOUT, inspected).await else {
            return Duration::ZERO;
        };
        let left = self.limits().wall_time().saturating_sub(spent);
        if waits { left.max(Duration::from_secs(1)) } else { left }
    }

    fn end_status(&self, stop: TurnStop) -> Result<OutcomeStatus, TurnError> {
        let failed = |class, reason: String| OutcomeStatus::Failed { class, reason };
        Ok(match stop {
            TurnStop::Store(error) => return Err(error.into()),
            TurnStop::Interrupted if self.timed_out.load(Ordering::Acquire) => {
                OutcomeStatus::TimedOut
            }
            TurnStop::Interrupted => OutcomeStatus::Cancelled,
            TurnStop::Budget(kind) => {
                failed(FailureClass::Budget(kind), format!("{kind} was reached"))
            }
            TurnStop::Spent(account) => failed(FailureClass::Budget(BudgetKind::Work), account),
            TurnStop::Model(reason) => failed(FailureClass::Model, reason),
            TurnStop::Provider(error) => failed(failure_class(error.fault), error.to_string()),
            TurnStop::Rejected(reason) => OutcomeStatus::Rejected { reason },
        })
    }

    /// Gives, after a restart, a result to every call that will not get one when the turn
    /// continues. Calls with an open question keep waiting for the answer. No call is run again.
    pub(crate) async fn close_interrupted_calls(&self) -> Result<(), StoreError> {
        let open = self.recorder.inspect(crate::TurnRecord::interrupted_calls).await;
        self.close_calls(open).await
    }

    /// Does the same for a turn that is abandoned, and withdraws its questions.
    pub(crate) async fn close_all_calls(&self) -> Result<(), StoreError> {
        let open = self.recorder.inspect(crate::TurnRecord::open_calls).await;
        let questions = self.recorder.inspect(crate::TurnRecord::open_questions).await;
        let withdrawn = questions.into_iter().map(|(branch, call)| {
            let by = "the turn was abandoned".to_owned();
            let decision = ApprovalDecision::Denied;
            let resolved = EventBody::ApprovalResolved { call, decision, by };
            EventDraft::of_runtime(branch.as_ref(), resolved)
        });
        let withdrawn: Vec<EventDraft> = withdrawn.collect();
        if !withdrawn.is_empty() {
            self.recorder.record(withdrawn).await?;
        }
        self.close_calls(open).await
    }

    async fn close_calls(
        &self,
        open: Vec<(Option<CallId>, PendingCall)>,
    ) -> Result<(), StoreError> {
        if open.is_empty() {
            return Ok(());
        }
        let results = open.into_iter().map(|(branch, pending)| {
            let unknown = pending.started && !pending.read_only;
            let subject = CallSubject::of_tool(&pending.tool);
            let (status, output, report) = if unknown {
                (CallStatus::Unknown, words::OUTCOME_UNKNOWN, subject.report_unknown())
            } else {
                let report = subject.report_not_run("the process ended before it was started");
                (CallStatus::Cancelled, words::NOT_STARTED, report)
            };
            let result = EventBody::ToolResult {
                call: pending.call,
                tool: pending.tool,
                status,
                output: output.to_owned(),
                full_output: None,
                report: Some(Arc::new(report)),
                milliseconds: 0,
            };
            EventDraft::of_runtime(branch.as_ref(), result)
        });
        self.recorder.record(results.collect()).await
    }
}

/// Tells whether the provider or the model failed.
fn failure_class(fault: ModelFault) -> FailureClass {
    match fault {
        ModelFault::ContentRefused | ModelFault::ContextTooLong | ModelFault::OutputLimit => {
            FailureClass::Model
        }
        _ => FailureClass::Provider,
    }
}
