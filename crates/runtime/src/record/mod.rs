//! The state of a turn, as a fold over its events. Nothing else holds any.
//!
//! Invariants, each tested in [`tests`] or by property:
//! - The same events give the same record, live and after a restart.
//! - A transcript gives every call a result, whatever is missing in the journal.
//! - What comes next ([`Phase`]) depends on the record alone.

mod transcript;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use lango_model::UserMessage;
use lango_protocol::{
    AgentName, ApprovalDecision, CallId, CallStatus, DelegationStatus, DirectCall, Event,
    EventBody, ImageReference, Outcome, OutcomeStatus, Sender, Spent, Timestamp, WarningCode,
    WorkDone,
};

use crate::loop_guard::LoopGuard;

pub(crate) use transcript::{PendingCall, Transcript};

/// A hand-over that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delegation {
    pub(crate) call: CallId,
    pub(crate) to: AgentName,
    pub(crate) task: String,
    /// The orchestrator asked for the result.
    pub(crate) returns: bool,
}

/// What a speaker does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its model is asked.
    Think,
    /// These calls have no result yet.
    Act(Vec<PendingCall>),
    /// These hand-overs have not come back yet.
    Delegate(Vec<Delegation>),
}

/// Everything that was recorded of one turn.
#[derive(Debug, Clone, Default)]
pub struct TurnRecord {
    pub(crate) user_text: String,
    /// What came with the user's words.
    pub(crate) attachment: Option<String>,
    /// The one call that the turn consists of, where it does.
    pub(crate) direct_call: Option<DirectCall>,
    pub(crate) images: Vec<ImageReference>,
    /// Who sent the message, where it was not the user.
    pub(crate) sender: Option<Sender>,
    pub(crate) root: Transcript,
    pub(crate) branches: HashMap<CallId, Transcript>,
    pub(crate) spent: Spent,
    /// Agents that rejected the task and are not offered again.
    pub(crate) excluded: BTreeSet<AgentName>,
    /// The reasons they gave.
    pub(crate) rejections: Vec<String>,
    /// Agents whose answers went back to the orchestrator.
    pub(crate) reported: Vec<AgentName>,
    pub(crate) guard: LoopGuard,
    pub(crate) outcome: Option<Outcome>,
    /// What was shown for each call that needed an approval, by its digest.
    /// The questions that are open, by call.
    asked: HashMap<CallId, String>,
    /// What was approved, by call.
    approved: HashMap<CallId, String>,
    /// Digests that were denied; they are not asked about again in this turn.
    denied: BTreeSet<String>,
    work: WorkDone,
    /// Time spent, without the time between an interruption and the resume.
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

    /// Takes one more event.
    pub(crate) fn apply(&mut self, event: &Event) {
        self.pass_time(event);
        self.spent.model_calls = self.spent.model_calls.max(event.step.unwrap_or(0));
        self.count(event);
        self.note_repetition(event);
        match &event.body {
            EventBody::UserMessage { text, attachment, images, sender, call, .. } => {
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
                // A person's time is not the turn's.
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
            && let Some(tally) = self.branches.get(call).map(Transcript::tally)
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

    /// The transcript of the root, or of a branch.
    pub(crate) fn transcript(&self, branch: Option<&CallId>) -> &Transcript {
        branch.and_then(|call| self.branches.get(call)).unwrap_or(&self.root)
    }

    fn transcript_mut(&mut self, branch: Option<&CallId>) -> &mut Transcript {
        match branch {
            Some(call) => self.branches.entry(call.clone()).or_default(),
            None => &mut self.root,
        }
    }

    /// What comes between the last event and the next one is not time spent.
    pub(crate) fn stop_clock(&mut self) {
        self.last = None;
    }

    fn pass_time(&mut self, event: &Event) {
        if matches!(event.body, EventBody::Warning { code: WarningCode::Resumed, .. }) {
            self.stop_clock();
        }
        self.pass_time_to(event.at);
    }

    /// The time spent, up to a moment.
    pub(crate) fn elapsed_at(&self, now: Timestamp) -> Duration {
        self.elapsed + self.last.map_or(Duration::ZERO, |last| now.since(last))
    }

    /// Time goes on, whether something happens or not.
    pub(crate) fn pass_time_to(&mut self, now: Timestamp) {
        if let Some(last) = self.last {
            self.elapsed += now.since(last);
        }
        self.last = Some(now);
    }

    fn count(&mut self, event: &Event) {
        match &event.body {
            EventBody::ToolCall { .. } => self.spent.tool_calls += 1,
            EventBody::Transfer { round, .. } => {
                self.spent.delegation_rounds = self.spent.delegation_rounds.max(*round);
            }
            EventBody::Usage { usage, .. } => {
                self.spent.tokens = self.spent.tokens.saturating_add(usage.total());
            }
            EventBody::ToolResult { status, .. } => {
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
        if let (Some(arguments), Some(author)) = (transcript.arguments(call), &event.author) {
            self.guard.note(author, tool, arguments, output);
        }
    }

    /// What was really done so far.
    pub fn work(&self) -> WorkDone {
        WorkDone {
            spent: self.spent,
            milliseconds: u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX),
            ..self.work.clone()
        }
    }

    /// Whether this very call was denied before in this turn.
    pub(crate) fn was_denied(&self, digest: &str) -> bool {
        self.denied.contains(digest)
    }

    /// Whether this call, with all that it rests on, was approved.
    pub(crate) fn was_approved(&self, call: &CallId, digest: &str) -> bool {
        self.approved.get(call).is_some_and(|approved| approved == digest)
    }

    /// Whether a person was asked about a call that has not run: the question outlives the
    /// process that asked it.
    pub(crate) fn is_in_question(&self, call: &PendingCall) -> bool {
        !call.started
            && (self.asked.contains_key(&call.call) || self.approved.contains_key(&call.call))
    }

    /// Whether somebody is being asked.
    pub(crate) fn waits_for_answer(&self) -> bool {
        !self.asked.is_empty()
    }

    /// How the turn ended, if it did.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The ends of the hand-overs that are still under way when the turn ends.
    pub(crate) fn close_delegations(&self, end: &OutcomeStatus) -> Vec<EventBody> {
        let Phase::Delegate(open) = self.root.phase() else { return Vec::new() };
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

    /// Every call without a result, with the branch it belongs to.
    pub(crate) fn open_calls(&self) -> Vec<(Option<CallId>, PendingCall)> {
        let root = self.root.open_calls().map(|call| (None, call));
        let mut open: Vec<_> = root.collect();
        for (branch, transcript) in &self.branches {
            open.extend(transcript.open_calls().map(|call| (Some(branch.clone()), call)));
        }
        open
    }

    /// The calls that somebody is being asked about.
    pub(crate) fn open_questions(&self) -> Vec<(Option<CallId>, CallId)> {
        let open = self.open_calls().into_iter();
        open.filter(|(_, call)| self.asked.contains_key(&call.call))
            .map(|(branch, call)| (branch, call.call))
            .collect()
    }

    /// The calls without a result that will not get one by going on.
    pub(crate) fn interrupted_calls(&self) -> Vec<(Option<CallId>, PendingCall)> {
        let mut calls = self.open_calls();
        calls.retain(|(_, call)| !self.is_in_question(call));
        calls
    }
}

#[cfg(test)]
mod tests;
