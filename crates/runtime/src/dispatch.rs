//! Runs tools, always in these steps: schema → policy and approval → intent journalled → run →
//! result bounded and scrubbed → result journalled. Ownership is checked when the call is recorded
//! and again here.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use lango_protocol::{CallReport, CallStatus, EventBody};
use lango_store::Durability;
use lango_text::to_one_line;
use lango_tool::{ExcludedPaths, PreparedCall, RegisteredTool, ToolContext, ToolError, ToolOutput};
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use crate::call_report::{CallRefusal, CallSubject};
use crate::output::{BoundedOutput, bound_output};
use crate::permission::{self, Permission};
use crate::record::PendingCall;
use crate::recorder::{EventDraft, Speaker, WriteOptions};
use crate::team::Agent;
use crate::turn::{SpeakerFlow, Turn, TurnStop};
use crate::words;

/// Limits how long a tool may take to stop by itself after the turn was stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// Limits the length of the note about an earlier remedy.
const MAX_REMEDY_CHARACTERS: usize = 300;

/// Holds the result of a call.
pub(crate) struct FinishedCall {
    status: CallStatus,
    output: String,
    report: Option<CallReport>,
    milliseconds: u64,
}

impl FinishedCall {
    /// Returns the result of a call that was not run.
    pub(crate) fn not_run(
        status: CallStatus,
        subject: &CallSubject,
        refusal: &CallRefusal,
    ) -> Self {
        let report = Some(subject.report_not_run(&refusal.reason));
        Self { status, output: refusal.render_for_model(), report, milliseconds: 0 }
    }

    /// Returns the result of a call with invalid arguments.
    fn invalid_arguments(call: &PendingCall, error: &ToolError) -> Self {
        let report = Some(CallSubject::of_tool(&call.tool).report_failed(error));
        Self { status: CallStatus::Refused, output: error.to_string(), report, milliseconds: 0 }
    }

    /// Returns the result of a call to a tool that the agent does not own.
    fn not_owned(agent: &Agent, call: &PendingCall) -> Self {
        let reason = format!("it is not a tool of {}", agent.name);
        let report = Some(CallSubject::of_tool(&call.tool).report_not_run(&reason));
        let output = format!("{:?} was not run: {reason}", call.tool);
        Self { status: CallStatus::Refused, output, report, milliseconds: 0 }
    }

    /// Returns the result of a call that had not started when the turn was stopped.
    fn never_started(call: &PendingCall) -> Self {
        let refusal = CallRefusal::new("the turn was stopped", "");
        Self::not_run(CallStatus::Cancelled, &CallSubject::of_tool(&call.tool), &refusal)
    }
}

impl Turn {
    /// Runs the calls of one reply: read-only calls in parallel, the others in order.
    pub(crate) async fn run_calls(
        &self,
        agent: &Agent,
        speaker: &Speaker,
        calls: Vec<PendingCall>,
    ) -> Result<SpeakerFlow, TurnStop> {
        let mut calls = calls.into_iter().peekable();
        while let Some(call) = calls.next() {
            let mut together = vec![call];
            if self.can_run_in_parallel(agent, &together[0]) {
                while let Some(next) = calls.next_if(|next| self.can_run_in_parallel(agent, next)) {
                    together.push(next);
                }
                self.run_in_parallel(agent, speaker, together).await?;
            } else if let Some(call) = together.pop() {
                let finished = self.run_alone(agent, speaker, &call).await?;
                self.record_results(speaker, vec![(call, finished)]).await?;
            }
        }
        if self.cancel.is_cancelled() {
            Err(TurnStop::Interrupted)
        } else {
            Ok(SpeakerFlow::Continue)
        }
    }

    fn can_run_in_parallel(&self, agent: &Agent, call: &PendingCall) -> bool {
        resolve_tool(agent, call).is_some_and(|(tool, _)| {
            tool.read_only && self.runs_without_permission(agent, call, &tool)
        })
    }

    /// Tells whether the call needs no approval, neither under the name that was called nor under
    /// the real one.
    fn runs_without_permission(
        &self,
        agent: &Agent,
        call: &PendingCall,
        tool: &RegisteredTool,
    ) -> bool {
        self.needs_no_permission(agent, tool)
            && (call.tool == tool.name()
                || !self.shared.rules.may_object_to(&call.tool, &agent.name))
    }

    async fn run_in_parallel(
        &self,
        agent: &Agent,
        speaker: &Speaker,
        calls: Vec<PendingCall>,
    ) -> Result<(), TurnStop> {
        let runs = calls.iter().map(|call| async move {
            if self.cancel.is_cancelled() {
                return FinishedCall::never_started(call);
            }
            match resolve_tool(agent, call).map(|(tool, arguments)| tool.prepare(&arguments)) {
                // No rule that denies or asks concerns these calls.
                Some(Ok(prepared)) => {
                    self.run_prepared(speaker, call, prepared, ExcludedPaths::default()).await
                }
                Some(Err(error)) => FinishedCall::invalid_arguments(call, &error),
                None => FinishedCall::not_owned(agent, call),
            }
        });
        let parallel = self.shared.settings.parallel_calls.max(1);
        let runs: Vec<_> = runs.collect();
        let finished: Vec<FinishedCall> = stream::iter(runs).buffered(parallel).collect().await;
        self.record_results(speaker, calls.into_iter().zip(finished).collect()).await
    }

    async fn run_alone(
        &self,
        agent: &Agent,
        speaker: &Speaker,
        call: &PendingCall,
    ) -> Result<FinishedCall, TurnStop> {
        if self.cancel.is_cancelled() {
            return Ok(FinishedCall::never_started(call));
        }
        let Some((tool, arguments)) = resolve_tool(agent, call) else {
            return Ok(FinishedCall::not_owned(agent, call));
        };
        let prepared = match tool.prepare(&arguments) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(FinishedCall::invalid_arguments(call, &error)),
        };
        let subject = CallSubject::new(prepared.describe(), &call.tool);
        let mut excluded = ExcludedPaths::default();
        if !self.runs_without_permission(agent, call, &tool) {
            let proposal = permission::build_proposal(&prepared, call, self.space.own());
            let decided = self.tool_to_decide_on(&tool);
            match self.decide_permission(speaker, call, decided, &proposal).await? {
                Permission::NotNeeded if proposal.only_reads.is_none() => {}
                // What was read about the call may not hold any more: a person takes time to answer, and
                // a command that only reads does so because of the files that it finds.
                Permission::NotNeeded | Permission::Granted => {
                    let now = permission::build_proposal(&prepared, call, self.space.own());
                    if let Some(refusal) = permission::refuse_if_changed(&proposal, &now) {
                        return Ok(FinishedCall::not_run(CallStatus::Refused, &subject, &refusal));
                    }
                }
                Permission::Withheld(refusal) => {
                    return Ok(FinishedCall::not_run(CallStatus::Denied, &subject, &refusal));
                }
            }
            excluded = self.find_excluded_paths(agent, call, &tool, &proposal);
        }
        // From here on the effect may happen. This must be on disk before it does.
        let started = EventBody::ToolStarted { call: call.call.clone() };
        let options = WriteOptions { durability: Durability::PowerLoss, ..WriteOptions::default() };
        self.recorder
            .record_with(vec![EventDraft::without_step(speaker, started)], options)
            .await?;
        Ok(self.run_prepared(speaker, call, prepared, excluded).await)
    }

    /// Runs a call in a task of its own, so that a panic in a tool ends only that call.
    async fn run_prepared(
        &self,
        speaker: &Speaker,
        call: &PendingCall,
        prepared: PreparedCall,
        excluded: ExcludedPaths,
    ) -> FinishedCall {
        let context = ToolContext {
            session: self.recorder.session().clone(),
            turn: self.recorder.turn(),
            call: call.call.clone(),
            agent: speaker.agent.clone(),
            space: self.space.clone(),
            cancel: self.cancel.child_token(),
            excluded,
        };
        let subject = CallSubject::new(prepared.describe(), &call.tool);
        let began = Instant::now();
        let span = tracing::info_span!("tool_call", agent = %speaker.agent, tool = %call.tool, call = %call.call);
        let running = prepared.run(context).instrument(span.clone());
        let mut task = AbortOnDropHandle::new(tokio::spawn(running));
        // None: the turn was stopped, and the tool did not stop by itself in time.
        let result = tokio::select! {
            result = &mut task => Some(result),
            () = self.cancel.cancelled() => tokio::time::timeout(STOP_TIMEOUT, &mut task).await.ok(),
        };
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (status, output, report) = match result {
            Some(Ok(Ok(ToolOutput { text, report }))) => (CallStatus::Ok, text, report),
            Some(Ok(Err(ToolError::Cancelled))) | None => {
                (CallStatus::Cancelled, words::CANCELLED.to_owned(), Some(subject.report_stopped()))
            }
            Some(Ok(Err(error))) => {
                let status = match error {
                    ToolError::Arguments(_) => CallStatus::Refused,
                    _ => CallStatus::Error,
                };
                (status, error.to_string(), Some(subject.report_failed(&error)))
            }
            Some(Err(error)) => {
                let output = format!("the tool broke down: {error}");
                (CallStatus::Error, output, Some(subject.report_panic(&error.to_string())))
            }
        };
        span.in_scope(|| {
            if status == CallStatus::Error {
                // The words of the tool are in the journal.
                tracing::warn!(%status, milliseconds, "tool call failed");
            } else {
                tracing::debug!(%status, milliseconds, "tool call ended");
            }
        });
        FinishedCall { status, output, report, milliseconds }
    }

    /// Appends to an error the remedy that helped with it before.
    async fn add_advice(&self, call: &PendingCall, finished: &mut FinishedCall) {
        let Some(advisor) = &self.shared.advisor else { return };
        if finished.status != CallStatus::Error || self.is_direct_call().await {
            return;
        }
        if let Some(advice) = advisor.advise(self.space.own(), &call.tool, &finished.output).await {
            finished.output.push_str("\n\n");
            finished.output.push_str(&advice.text);
            let note = format!(
                "What helped before: {}",
                to_one_line(&advice.remedy, MAX_REMEDY_CHARACTERS)
            );
            finished.report = finished.report.take().map(|report| report.note(note));
        }
    }

    async fn record_results(
        &self,
        speaker: &Speaker,
        results: Vec<(PendingCall, FinishedCall)>,
    ) -> Result<(), TurnStop> {
        let limit = self.shared.settings.output_bytes;
        // A tool may have read what another process stored while it ran.
        self.shared.learn_secrets().await;
        let mut options = WriteOptions::default();
        let mut drafts = Vec::with_capacity(results.len());
        for (call, mut finished) in results {
            self.add_advice(&call, &mut finished).await;
            let scrub = |text: &str| self.shared.scrubber.scrub(text).into_owned();
            let text = scrub(&finished.output);
            let report = finished.report.map(|report| report.map_text(&mut |text| scrub(text)));
            let BoundedOutput { shown, stored } = bound_output(&call.call, text, limit);
            let body = EventBody::ToolResult {
                call: call.call,
                tool: call.tool,
                status: finished.status,
                output: shown,
                full_output: stored.as_ref().map(|output| output.reference.clone()),
                report: report.map(|report| Arc::new(report.bounded())),
                milliseconds: finished.milliseconds,
            };
            options.outputs.extend(stored);
            drafts.push(EventDraft::without_step(speaker, body));
        }
        self.recorder.record_with(drafts, options).await.map_err(TurnStop::from)
    }
}

/// Finds the tool that a call is for, and its arguments: a tool that the agent owns, or one that
/// such a tool stands for.
fn resolve_tool<'a>(
    agent: &Agent,
    call: &'a PendingCall,
) -> Option<(Arc<RegisteredTool>, Cow<'a, str>)> {
    let called = agent.find_tool(&call.tool)?;
    Some(match called.resolve_alias(&call.arguments) {
        Some((real, arguments)) => (real, Cow::Owned(arguments)),
        None => (Arc::clone(called), Cow::Borrowed(&call.arguments)),
    })
}
