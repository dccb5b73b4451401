//! The one way a tool runs: schema → policy and approval → intent journalled → run → result
//! bounded and scrubbed → result journalled. Ownership was checked when the call was recorded,
//! and is checked again here.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use lango_protocol::{CallReport, CallStatus, EventBody};
use lango_store::Durability;
use lango_text::one_line;
use lango_tool::{Prepared, RegisteredTool, ToolContext, ToolError, ToolOutput};
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use crate::call_report::{Refusal, Subject};
use crate::output::{Bounded, bound};
use crate::permission::{self, Permission};
use crate::record::PendingCall;
use crate::recorder::{Along, Draft, Voice};
use crate::team::Agent;
use crate::turn::{Flow, Stop, Turn};
use crate::words;

/// How long a tool may take to stop by itself once the turn is stopped.
const GRACE: Duration = Duration::from_secs(3);

/// Limits what is said about an earlier remedy, in characters.
const MAX_REMEDY: usize = 300;

/// How a call went.
pub(crate) struct Finished {
    status: CallStatus,
    output: String,
    report: Option<CallReport>,
    milliseconds: u64,
}

impl Finished {
    /// A call that was not run.
    pub(crate) fn not_run(status: CallStatus, subject: &Subject, refusal: &Refusal) -> Self {
        let report = Some(subject.not_run(&refusal.reason));
        Self { status, output: refusal.for_model(), report, milliseconds: 0 }
    }

    /// A call whose arguments do not fit.
    fn unfit(call: &PendingCall, error: &ToolError) -> Self {
        let report = Some(Subject::tool(&call.tool).failed(error));
        Self { status: CallStatus::Refused, output: error.to_string(), report, milliseconds: 0 }
    }

    /// A call of a tool that is not the agent's.
    fn not_owned(agent: &Agent, call: &PendingCall) -> Self {
        let reason = format!("it is not a tool of {}", agent.name);
        let report = Some(Subject::tool(&call.tool).not_run(&reason));
        let output = format!("{:?} was not run: {reason}", call.tool);
        Self { status: CallStatus::Refused, output, report, milliseconds: 0 }
    }

    /// A call that the stop of the turn reached before it began.
    fn never_started(call: &PendingCall) -> Self {
        let refusal = Refusal::new("the turn was stopped", "");
        Self::not_run(CallStatus::Cancelled, &Subject::tool(&call.tool), &refusal)
    }
}

impl Turn {
    /// Runs the calls of one reply: those that only read side by side, the others in order.
    pub(crate) async fn act(
        &self,
        agent: &Agent,
        voice: &Voice,
        calls: Vec<PendingCall>,
    ) -> Result<Flow, Stop> {
        let mut calls = calls.into_iter().peekable();
        while let Some(call) = calls.next() {
            let mut together = vec![call];
            if self.runs_beside_others(agent, &together[0]) {
                while let Some(next) = calls.next_if(|next| self.runs_beside_others(agent, next)) {
                    together.push(next);
                }
                self.read(agent, voice, together).await?;
            } else if let Some(call) = together.pop() {
                let finished = self.run_alone(agent, voice, &call).await?;
                self.record_results(voice, vec![(call, finished)]).await?;
            }
        }
        if self.cancel.is_cancelled() { Err(Stop::Interrupted) } else { Ok(Flow::Continue) }
    }

    fn runs_beside_others(&self, agent: &Agent, call: &PendingCall) -> bool {
        resolve_tool(agent, call)
            .is_some_and(|(tool, _)| tool.read_only && self.runs_unasked(agent, call, &tool))
    }

    /// Whether nobody has to be asked, under the name that was called and under the real one.
    fn runs_unasked(&self, agent: &Agent, call: &PendingCall, tool: &RegisteredTool) -> bool {
        self.needs_no_permission(agent, tool)
            && (call.tool == tool.name() || !self.shared.rules.objects_to(&call.tool, &agent.name))
    }

    async fn read(
        &self,
        agent: &Agent,
        voice: &Voice,
        calls: Vec<PendingCall>,
    ) -> Result<(), Stop> {
        let runs = calls.iter().map(|call| async move {
            if self.cancel.is_cancelled() {
                return Finished::never_started(call);
            }
            match resolve_tool(agent, call).map(|(tool, arguments)| tool.prepare(&arguments)) {
                Some(Ok(prepared)) => self.run_prepared(voice, call, prepared).await,
                Some(Err(error)) => Finished::unfit(call, &error),
                None => Finished::not_owned(agent, call),
            }
        });
        let parallel = self.shared.settings.parallel_calls.max(1);
        let runs: Vec<_> = runs.collect();
        let finished: Vec<Finished> = stream::iter(runs).buffered(parallel).collect().await;
        self.record_results(voice, calls.into_iter().zip(finished).collect()).await
    }

    async fn run_alone(
        &self,
        agent: &Agent,
        voice: &Voice,
        call: &PendingCall,
    ) -> Result<Finished, Stop> {
        if self.cancel.is_cancelled() {
            return Ok(Finished::never_started(call));
        }
        let Some((tool, arguments)) = resolve_tool(agent, call) else {
            return Ok(Finished::not_owned(agent, call));
        };
        let prepared = match tool.prepare(&arguments) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(Finished::unfit(call, &error)),
        };
        let subject = Subject::new(prepared.describe(), &call.tool);
        if !self.runs_unasked(agent, call, &tool) {
            let proposal = permission::proposal_of(&prepared, call);
            let decided = match self.permission(agent, voice, call, &tool, proposal).await? {
                Permission::Granted(decided) => decided,
                Permission::Withheld(refusal) => {
                    return Ok(Finished::not_run(CallStatus::Denied, &subject, &refusal));
                }
            };
            if let Some(decided) = decided
                && let Some(refusal) =
                    permission::difference(&decided, &permission::proposal_of(&prepared, call))
            {
                return Ok(Finished::not_run(CallStatus::Refused, &subject, &refusal));
            }
        }
        // From here on the effect may happen. This must be on disk before it does.
        let started = EventBody::ToolStarted { call: call.call.clone() };
        let along = Along { durability: Durability::PowerLoss, ..Along::default() };
        self.recorder.record_along(vec![Draft::beside(voice, started)], along).await?;
        Ok(self.run_prepared(voice, call, prepared).await)
    }

    /// Runs a call in a task of its own, so that a tool that panics takes nothing with it.
    async fn run_prepared(
        &self,
        voice: &Voice,
        call: &PendingCall,
        prepared: Prepared,
    ) -> Finished {
        let context = ToolContext {
            session: self.recorder.session().clone(),
            turn: self.recorder.turn(),
            call: call.call.clone(),
            agent: voice.agent.clone(),
            cancel: self.cancel.child_token(),
        };
        let subject = Subject::new(prepared.describe(), &call.tool);
        let began = Instant::now();
        let span = tracing::info_span!("tool_call", agent = %voice.agent, tool = %call.tool, call = %call.call);
        let running = prepared.run(context).instrument(span.clone());
        let mut task = AbortOnDropHandle::new(tokio::spawn(running));
        let result = tokio::select! {
            result = &mut task => Some(result),
            () = self.cancel.cancelled() => tokio::time::timeout(GRACE, &mut task).await.ok(),
        };
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (status, output, report) = match result {
            Some(Ok(Ok(ToolOutput { text, report }))) => (CallStatus::Ok, text, report),
            Some(Ok(Err(ToolError::Cancelled))) | None => {
                (CallStatus::Cancelled, words::CANCELLED.to_owned(), Some(subject.stopped()))
            }
            Some(Ok(Err(error))) => {
                let status = match error {
                    ToolError::Arguments(_) => CallStatus::Refused,
                    _ => CallStatus::Error,
                };
                (status, error.to_string(), Some(subject.failed(&error)))
            }
            Some(Err(error)) => {
                let output = format!("the tool broke down: {error}");
                (CallStatus::Error, output, Some(subject.broken(&error.to_string())))
            }
        };
        span.in_scope(|| tracing::debug!(%status, milliseconds, "tool call ended"));
        Finished { status, output, report, milliseconds }
    }

    /// Puts under an error what helped when it came up before.
    async fn add_advice(&self, call: &PendingCall, finished: &mut Finished) {
        let Some(advisor) = &self.shared.advisor else { return };
        if finished.status != CallStatus::Error || self.is_direct_call().await {
            return;
        }
        if let Some(advice) = advisor.advise(&call.tool, &finished.output).await {
            finished.output.push_str("\n\n");
            finished.output.push_str(&advice.text);
            let note = format!("What helped before: {}", one_line(&advice.remedy, MAX_REMEDY));
            finished.report = finished.report.take().map(|report| report.note(note));
        }
    }

    async fn record_results(
        &self,
        voice: &Voice,
        results: Vec<(PendingCall, Finished)>,
    ) -> Result<(), Stop> {
        let limit = self.shared.settings.output_bytes;
        let mut along = Along::default();
        let mut drafts = Vec::with_capacity(results.len());
        for (call, mut finished) in results {
            self.add_advice(&call, &mut finished).await;
            let scrub = |text: &str| self.shared.scrubber.scrub(text).into_owned();
            let text = scrub(&finished.output);
            let report = finished.report.map(|report| report.map_text(&mut |text| scrub(text)));
            let Bounded { shown, stored } = bound(&call.call, text, limit);
            let body = EventBody::ToolResult {
                call: call.call,
                tool: call.tool,
                status: finished.status,
                output: shown,
                full_output: stored.as_ref().map(|output| output.reference.clone()),
                report: report.map(|report| Arc::new(report.bounded())),
                milliseconds: finished.milliseconds,
            };
            along.outputs.extend(stored);
            drafts.push(Draft::beside(voice, body));
        }
        self.recorder.record_along(drafts, along).await.map_err(Stop::from)
    }
}

/// Finds the tool that a call is really for, and what it gets: one that the agent owns, or one behind
/// it.
fn resolve_tool<'a>(
    agent: &Agent,
    call: &'a PendingCall,
) -> Option<(Arc<RegisteredTool>, Cow<'a, str>)> {
    let called = agent.tool(&call.tool)?;
    Some(match called.stands_for(&call.arguments) {
        Some((real, arguments)) => (real, Cow::Owned(arguments)),
        None => (Arc::clone(called), Cow::Borrowed(&call.arguments)),
    })
}
