//! Holds the state of a turn, as a fold over its events. There is no other state.
//!
//! Invariants, each tested in [`tests`] or by property:
//! - The same events give the same record, live and after a restart.
//! - A transcript gives every call a result, even if events are missing in the journal.
//! - The next step ([`SpeakerPhase`]) depends on the record alone.

mod transcript;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use lango_model::UserMessage;
use lango_protocol::{
    AgentName, ApprovalDecision, BudgetUsage, CallId, CallStatus, DelegationStatus, DirectCall,
    Event, EventBody, ImageReference, LastCall, MessageOrigin, Outcome, OutcomeStatus, Sender,
    Timestamp, WarningCode, WorkDone,
};

use crate::loop_guard::LoopGuard;

pub(crate) use transcript::{PendingCall, Transcript};

/// Represents a recorded transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delegation {
    pub(crate) call: CallId,
    pub(crate) to: AgentName,
    pub(crate) task: String,
    /// True if the orchestrator asked for the result.
    pub(crate) returns: bool,
}

/// The next step of a speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SpeakerPhase {
    /// Call its model.
    Think,
    /// Run these calls, which have no result yet.
    Act(Vec<PendingCall>),
    /// Run these transfers, which have not finished yet.
    Delegate(Vec<Delegation>),
}

/// Holds everything that was recorded about one turn.
#[derive(Debug, Clone, Default)]
pub struct TurnRecord {
    pub(crate) user_text: String,
    /// The text that was attached to the message.
    pub(crate) attachment: Option<String>,
    /// The call, if the turn consists of a single one.
    pub(crate) direct_call: Option<DirectCall>,
    pub(crate) images: Vec<ImageReference>,
    /// True if the turn began by itself.
    pub(crate) is_work: bool,
    /// The sender, if it was not the user.
    pub(crate) sender: Option<Sender>,
    pub(crate) root: Transcript,
    pub(crate) branches: HashMap<CallId, Transcript>,
    pub(crate) spent: BudgetUsage,
    /// The agents that rejected the task and are not offered again.
    pub(crate) excluded: BTreeSet<AgentName>,
    /// The reasons of the rejections.
    pub(crate) rejections: Vec<String>,
    /// The agents whose answers went back to the orchestrator.
    pub(crate) reported: Vec<AgentName>,
    pub(crate) guard: LoopGuard,
    pub(crate) outcome: Option<Outcome>,
    /// The digests of the open questions, by call.
    asked: HashMap<CallId, String>,
    /// The approved digests, by call.
    approved: HashMap<CallId, String>,
    /// The denied digests; they are not asked about again in this turn.
    denied: BTreeSet<String>,
    work: WorkDone,
    /// The time spent, without the time between an interruption and the resume.
    elapsed: Duration,
    last: Option<Timestamp>,
}

impl TurnRecord {
    /// Folds the events of a turn, oldest first.
    pub fn from_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut record = Self::default();
        for event in events {
            record.apply(event);
        }
        record
    }

    /// Applies one more event.
    pub(crate) fn apply(&mut self, event: &Event) {
        self.apply_at(event, event.at);
    }

    /// Applies one more event, which happened at `now` as the turn's own clock has it.
    pub(crate) fn apply_at(&mut self, event: &Event, now: Timestamp) {
        self.add_time_until_event(event, now);
        self.spent.model_calls = self.spent.model_calls.max(event.step.unwrap_or(0));
        self.count_event(event);
        self.note_repetition(event);
        match &event.body {
            EventBody::UserMessage { text, attachment, images, sender, call, origin, .. } => {
                self.is_work = *origin == MessageOrigin::Work;
                self.sender.clone_from(sender);
                self.user_text.clone_from(text);
                self.attachment.clone_from(attachment);
                self.direct_call.clone_from(call);
                self.images.clone_from(images);
            }
            EventBody::Transfer { call, .. } => {
                self.branches.entry(call.clone()).or_default();
            }
            EventBody::TransferFinished { to, status, text, .. } => match status {
                DelegationStatus::Rejected => {
                    self.excluded.insert(to.clone());
                    self.rejections.push(format!("{to}: {text}"));
                }
                DelegationStatus::Answered | DelegationStatus::NeedsInput => {
                    self.reported.push(to.clone());
                }
                DelegationStatus::Failed | DelegationStatus::Cancelled => {}
            },
            EventBody::ApprovalRequested { call, digest, .. } => {
                self.asked.insert(call.clone(), digest.clone());
                // The time that a person takes does not count.
                self.stop_clock();
            }
            EventBody::ApprovalResolved { call, decision, .. } => {
                let asked = self.asked.remove(call);
                match decision {
                    ApprovalDecision::Denied => self.denied.extend(asked),
                    ApprovalDecision::Approved => {
                        self.approved.extend(asked.map(|digest| (call.clone(), digest)));
                    }
                }
            }
            EventBody::TurnFinished(outcome) => self.outcome = Some(outcome.clone()),
            _ => {}
        }
        self.transcript_mut(event.branch.as_ref()).apply(event);
        if let EventBody::TransferFinished { call, .. } = &event.body
            && let Some(tally) = self.branches.get(call).map(Transcript::count_calls)
        {
            self.root.note_tally(call, tally);
        }
    }

    /// Returns the user's message without images, with a task where one was given.
    pub(crate) fn user_message(&self, task: Option<&str>) -> UserMessage {
        let task = task.map(str::trim).filter(|task| !task.is_empty());
        UserMessage {
            text: self.user_text.clone(),
            attachment: self.attachment.clone(),
            task: task.filter(|task| *task != self.user_text.trim()).map(str::to_owned),
            images: Vec::new(),
        }
    }

    /// Returns the transcript of the root, or of a branch.
    pub(crate) fn transcript(&self, branch: Option<&CallId>) -> &Transcript {
        branch.and_then(|call| self.branches.get(call)).unwrap_or(&self.root)
    }

    fn transcript_mut(&mut self, branch: Option<&CallId>) -> &mut Transcript {
        match branch {
            Some(call) => self.branches.entry(call.clone()).or_default(),
            None => &mut self.root,
        }
    }

    /// Stops the clock: the time until the next event does not count.
    pub(crate) fn stop_clock(&mut self) {
        self.last = None;
    }

    fn add_time_until_event(&mut self, event: &Event, now: Timestamp) {
        if matches!(event.body, EventBody::Warning { code: WarningCode::Resumed, .. }) {
            self.stop_clock();
        }
        self.add_time_until(now);
    }

    /// Returns the time spent up to `now`.
    pub(crate) fn elapsed_at(&self, now: Timestamp) -> Duration {
        self.elapsed + self.last.map_or(Duration::ZERO, |last| now.since(last))
    }

    /// Adds the time up to `now`, even if no event happened.
    pub(crate) fn add_time_until(&mut self, now: Timestamp) {
        if let Some(last) = self.last {
            self.elapsed += now.since(last);
        }
        self.last = Some(now);
    }

    fn count_event(&mut self, event: &Event) {
        match &event.body {
            EventBody::ToolCall { .. } => self.spent.tool_calls += 1,
            EventBody::Transfer { round, .. } => {
                self.spent.delegation_rounds = self.spent.delegation_rounds.max(*round);
            }
            EventBody::Usage { usage, .. } => {
                self.spent.tokens = self.spent.tokens.saturating_add(usage.total());
            }
            EventBody::ToolResult { status, report, .. } => {
                let unsuccessful = report.as_ref().is_some_and(|report| report.unsuccessful);
                match status {
                    CallStatus::Ok if unsuccessful => {
                        self.work.last_call = Some(LastCall::Unsuccessful);
                    }
                    CallStatus::Ok => self.work.last_call = Some(LastCall::Succeeded),
                    CallStatus::Error | CallStatus::Unknown => {
                        self.work.last_call = Some(LastCall::Failed);
                    }
                    // It did not run.
                    CallStatus::Refused | CallStatus::Cancelled | CallStatus::Denied => {}
                }
                let counter = match status {
                    CallStatus::Ok => &mut self.work.calls_succeeded,
                    CallStatus::Error => &mut self.work.calls_failed,
                    CallStatus::Refused | CallStatus::Cancelled => &mut self.work.calls_refused,
                    CallStatus::Denied => &mut self.work.calls_denied,
                    CallStatus::Unknown => &mut self.work.calls_unknown,
                };
                *counter += 1;
            }
            _ => {}
        }
        // An author that is no agent, such as the user, did none of the work.
        let agent = event.author.as_deref().and_then(|author| author.parse::<AgentName>().ok());
        if let (Some(agent), Some(_)) = (agent, event.step)
            && !self.work.agents.contains(&agent)
        {
            self.work.agents.push(agent);
        }
    }

    fn note_repetition(&mut self, event: &Event) {
        let EventBody::ToolResult { call, tool, output, status, .. } = &event.body else { return };
        if *status == CallStatus::Refused {
            return;
        }
        let branch = event.branch.as_ref();
        let transcript = branch.and_then(|b| self.branches.get(b)).unwrap_or(&self.root);
        if let (Some(arguments), Some(author)) = (transcript.find_arguments(call), &event.author) {
            self.guard.record_result(author, tool, arguments, output);
        }
    }

    /// Returns the work done so far.
    pub fn work(&self) -> WorkDone {
        WorkDone {
            spent: self.spent,
            milliseconds: u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX),
            ..self.work.clone()
        }
    }

    /// Tells whether this exact call was denied before in this turn.
    pub(crate) fn was_denied(&self, digest: &str) -> bool {
        self.denied.contains(digest)
    }

    /// Tells whether this call, with all content that it depends on, was approved.
    pub(crate) fn was_approved(&self, call: &CallId, digest: &str) -> bool {
        self.approved.get(call).is_some_and(|approved| approved == digest)
    }

    /// Tells whether a person was asked about a call that has not run. The question outlives the
    /// process that asked it.
    pub(crate) fn is_in_question(&self, call: &PendingCall) -> bool {
        !call.started
            && (self.asked.contains_key(&call.call) || self.approved.contains_key(&call.call))
    }

    /// Tells whether a question to a person is open.
    pub(crate) fn waits_for_answer(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Returns the outcome, if the turn has ended.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Returns the events that close the transfers still open when the turn ends.
    pub(crate) fn close_delegations(&self, end: &OutcomeStatus) -> Vec<EventBody> {
        let SpeakerPhase::Delegate(open) = self.root.next_phase() else { return Vec::new() };
        let (status, text) = match end {
            OutcomeStatus::Cancelled | OutcomeStatus::TimedOut => {
                (DelegationStatus::Cancelled, "the turn was stopped")
            }
            _ => (DelegationStatus::Failed, "the turn ended"),
        };
        let closed = open.into_iter().map(|delegation| EventBody::TransferFinished {
            call: delegation.call,
            to: delegation.to,
            status,
            text: text.to_owned(),
        });
        closed.collect()
    }

    /// Returns every call without a result, with its branch.
    pub(crate) fn open_calls(&self) -> Vec<(Option<CallId>, PendingCall)> {
        let root = self.root.open_calls().map(|call| (None, call));
        let mut open: Vec<_> = root.collect();
        for (branch, transcript) in &self.branches {
            open.extend(transcript.open_calls().map(|call| (Some(branch.clone()), call)));
        }
        open
    }

    /// Returns the calls and transfers with an open question, each with its branch.
    pub(crate) fn open_questions(&self) -> Vec<(Option<CallId>, CallId)> {
        let open = self.open_calls();
        let questions = self.asked.keys().map(|asked| {
            // A transfer is asked about before its branch begins.
            let branch = open.iter().find(|(_, call)| call.call == *asked);
            (branch.and_then(|(branch, _)| branch.clone()), asked.clone())
        });
        questions.collect()
    }

    /// Returns the calls that will not get a result when the turn continues.
    pub(crate) fn interrupted_calls(&self) -> Vec<(Option<CallId>, PendingCall)> {
        let mut calls = self.open_calls();
        calls.retain(|(_, call)| !self.is_in_question(call));
        calls
    }
}

#[cfg(test)]
mod tests;
