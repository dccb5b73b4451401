//! Delegates a task to a remote agent: one request, one reply, which is not trusted.

use std::time::Duration;

use lango_protocol::{AgentName, DelegationStatus, EventBody, TRANSFER_TOOL, marker};
use lango_text::{make_lines_visible, truncate};
use lango_tool::{CarriedText, Proposal};
use tokio::sync::mpsc;
use tracing::Instrument as _;

use super::think::{ends_turn, finish_transfer};
use super::{SpeakerFlow, SpeakerRole, Turn, TurnStop};
use crate::call_report::CallRefusal;
use crate::permission::{DecidedTool, Permission};
use crate::record::{Delegation, PendingCall};
use crate::recorder::{EventDraft, Speaker};
use crate::remote::{RemoteAgent, RemoteReply, RemoteRequest};

/// Limits the pieces of a reply that may wait to be shown.
const MAX_PENDING_PIECES: usize = 64;
/// Limits how long a remote agent may take to stop after the turn was stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

impl Turn {
    pub(super) async fn ask_remote(
        &self,
        name: &AgentName,
        agent: &dyn RemoteAgent,
        delegation: &Delegation,
        direct: bool,
    ) -> Result<SpeakerFlow, TurnStop> {
        let role = SpeakerRole::Specialist { delegation, direct };
        let speaker = Speaker { agent: name.clone(), branch: Some(delegation.call.clone()) };
        if let Some(refusal) = self.refuse_to_send(delegation).await? {
            let reason = format!("the task was not sent to {name}: {}", refusal.reason);
            return self.abandon_delegation(delegation, reason).await;
        }
        self.ask_spend_guard(role).await?;
        let step = self.recorder.update(|record| self.spend_call(record, role)).await?;
        let (message, sender) = self
            .recorder
            .inspect(|record| (record.user_message(None), record.sender.clone()))
            .await;
        let (words, pieces) = mpsc::channel(MAX_PENDING_PIECES);
        let request = RemoteRequest {
            session: self.recorder.session().clone(),
            turn: self.recorder.turn(),
            call: delegation.call.clone(),
            task: delegation.task.clone(),
            user_text: message.rendered().into_owned(),
            images: self.images.clone(),
            trace: sender.and_then(|sender| sender.trace),
            scrubber: self.shared.scrubber.clone(),
            words,
            cancel: self.cancel.child_token(),
        };
        let span = tracing::info_span!("remote_call", agent = %name);
        let reply = self.await_remote_reply(agent, request, pieces, &speaker, role, step);
        let reply = reply.instrument(span).await?;
        let of = |body| EventDraft::with_step(&speaker, step, body);
        match reply {
            RemoteReply::Answered { text } => {
                let text = self.sanitize(&text);
                if text.trim().is_empty() {
                    return self
                        .abandon_delegation(delegation, format!("{name} said nothing"))
                        .await;
                }
                self.record_answer(&speaker, role, step, text, Vec::new()).await
            }
            RemoteReply::NeedsInput { question } => {
                let question = self.sanitize(&question);
                self.ask_user(&speaker, role, step, question, Vec::new()).await
            }
            RemoteReply::Rejected { reason } => {
                let reason = self.sanitize(&reason);
                let mut drafts = vec![of(EventBody::Rejected { reason: reason.clone() })];
                drafts.extend(finish_transfer(&speaker, role, DelegationStatus::Rejected, reason));
                self.recorder.record(drafts).await?;
                Ok(SpeakerFlow::Ended)
            }
            RemoteReply::Failed { reason } => {
                let reason = self.sanitize(&reason);
                self.abandon_delegation(delegation, reason).await
            }
        }
    }

    /// Decides whether a task may be sent to a remote agent, as if the transfer were a call of the
    /// orchestrator: it takes the model's words to another machine.
    async fn refuse_to_send(
        &self,
        delegation: &Delegation,
    ) -> Result<Option<CallRefusal>, TurnStop> {
        let Delegation { call, to, task, .. } = delegation;
        let speaker = Speaker { agent: self.team.root.name.clone(), branch: None };
        let call = PendingCall {
            call: call.clone(),
            tool: TRANSFER_TOOL.to_owned(),
            arguments: format!("{to}\n{task}"),
            read_only: false,
            started: false,
        };
        let shown = make_lines_visible(task, "  | ");
        let summary = format!(
            "Send this task to the remote agent {to}\n{shown}\n(for every task of it: lango \
             approvals add allow --tool {TRANSFER_TOOL} -- {to} '*')"
        );
        let proposal = Proposal {
            carried_text: Some(CarriedText { text: task.clone(), to: Some(to.clone()) }),
            ..Proposal::of(summary, [to.as_str(), task])
        };
        let tool = DecidedTool { name: TRANSFER_TOOL, needs_decision: false };
        Ok(match self.decide_permission(&speaker, &call, tool, &proposal).await? {
            Permission::NotNeeded | Permission::Granted => None,
            Permission::Withheld(refusal) => Some(refusal),
        })
    }

    /// Waits for the reply and shows its text as it streams.
    async fn await_remote_reply(
        &self,
        agent: &dyn RemoteAgent,
        request: RemoteRequest,
        mut pieces: mpsc::Receiver<String>,
        speaker: &Speaker,
        role: SpeakerRole<'_>,
        step: u32,
    ) -> Result<RemoteReply, TurnStop> {
        self.shared.learn_secrets().await;
        // One for the whole reply: a secret may be cut anywhere.
        let mut leaks = self.shared.scrubber.stream();
        let mut reply_future = agent.ask(request);
        let mut remaining = self.shared.settings.reply_bytes;
        loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    // The turn is over, so this reply is ignored.
                    let _ = tokio::time::timeout(STOP_TIMEOUT, reply_future).await;
                    return Err(TurnStop::Interrupted);
                }
                Some(piece) = pieces.recv() => {
                    let piece = make_plain(truncate(&piece, remaining));
                    remaining -= piece.len().min(remaining);
                    let piece = leaks.push(&piece);
                    if !piece.is_empty() {
                        self.recorder.show_text(speaker, step, piece, ends_turn(role)).await;
                    }
                }
                reply = &mut reply_future => {
                    let rest = leaks.finish();
                    if !rest.is_empty() {
                        self.recorder.show_text(speaker, step, rest, ends_turn(role)).await;
                    }
                    return Ok(reply);
                }
            }
        }
    }

    /// Makes untrusted text safe to show: truncates it, and removes control characters, markers and
    /// known secrets.
    fn sanitize(&self, text: &str) -> String {
        let text = make_plain(truncate(text, self.shared.settings.reply_bytes));
        self.shared.scrubber.scrub(&text).into_owned()
    }
}

/// Removes control characters and markers.
fn make_plain(text: &str) -> String {
    let printable = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let text: String = text.chars().filter(printable).collect();
    marker::remove_rejection_markers(&text)
}
