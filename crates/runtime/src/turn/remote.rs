//! A hand-over to an agent elsewhere: one question, one reply, and nothing of it is trusted.

use std::time::Duration;

use lango_protocol::{AgentName, DelegationStatus, EventBody, marker};
use tokio::sync::mpsc;
use tracing::Instrument as _;

use super::think::{ends_turn, hand_back};
use super::{Flow, Role, Stop, Turn};
use crate::output::cut_at;
use crate::record::Delegation;
use crate::recorder::{Draft, Voice};
use crate::remote::{RemoteAgent, RemoteReply, RemoteRequest};

/// Pieces of a reply that may wait to be shown.
const PIECES: usize = 64;
/// How long an agent elsewhere may take to stop once the turn is stopped.
const GRACE: Duration = Duration::from_secs(3);

impl Turn {
    pub(super) async fn ask_remote(
        &self,
        name: &AgentName,
        agent: &dyn RemoteAgent,
        delegation: &Delegation,
        direct: bool,
    ) -> Result<Flow, Stop> {
        let role = Role::Specialist { delegation, direct };
        let voice = Voice { agent: name.clone(), branch: Some(delegation.call.clone()) };
        let step = self.recorder.change(|record| self.spend_call(record, role)).await?;
        let (message, sender) =
            self.recorder.look(|record| (record.user_message(None), record.sender.clone())).await;
        let (words, pieces) = mpsc::channel(PIECES);
        let request = RemoteRequest {
            session: self.recorder.session().clone(),
            turn: self.recorder.turn(),
            call: delegation.call.clone(),
            task: delegation.task.clone(),
            user_text: message.rendered().into_owned(),
            images: self.images.clone(),
            trace: sender.and_then(|sender| sender.trace),
            words,
            cancel: self.cancel.child_token(),
        };
        let span = tracing::info_span!("remote_call", agent = %name);
        let reply = self.hear_remote(agent, request, pieces, &voice, role, step);
        let reply = reply.instrument(span).await?;
        let of = |body| Draft::of(&voice, step, body);
        match reply {
            RemoteReply::Answered { text } => {
                let text = self.harmless(&text);
                if text.trim().is_empty() {
                    return self.give_up(delegation, format!("{name} said nothing")).await;
                }
                self.answer(&voice, role, step, text, Vec::new()).await
            }
            RemoteReply::NeedsInput { question } => {
                let question = self.harmless(&question);
                self.ask_user(&voice, role, step, question, Vec::new()).await
            }
            RemoteReply::Rejected { reason } => {
                let reason = self.harmless(&reason);
                let mut drafts = vec![of(EventBody::Rejected { reason: reason.clone() })];
                drafts.extend(hand_back(&voice, role, DelegationStatus::Rejected, reason));
                self.recorder.record(drafts).await?;
                Ok(Flow::Ended)
            }
            RemoteReply::Failed { reason } => {
                let reason = self.harmless(&reason);
                self.give_up(delegation, reason).await
            }
        }
    }

    /// Waits for the reply and shows its words as they come.
    async fn hear_remote(
        &self,
        agent: &dyn RemoteAgent,
        request: RemoteRequest,
        mut pieces: mpsc::Receiver<String>,
        voice: &Voice,
        role: Role<'_>,
        step: u32,
    ) -> Result<RemoteReply, Stop> {
        let mut asked = agent.ask(request);
        let mut room = self.shared.settings.reply_bytes;
        loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    // Whatever it says now, the turn is over.
                    let _ = tokio::time::timeout(GRACE, asked).await;
                    return Err(Stop::Interrupted);
                }
                Some(piece) = pieces.recv() => {
                    let piece = self.harmless(cut_at(&piece, room));
                    room -= piece.len().min(room);
                    if !piece.is_empty() {
                        self.recorder.show(voice, step, piece, ends_turn(role)).await;
                    }
                }
                reply = &mut asked => return Ok(reply),
            }
        }
    }

    /// A stranger's text as it may be shown: bounded, without what steers a terminal or this program,
    /// and without secrets that came back.
    fn harmless(&self, text: &str) -> String {
        let text = cut_at(text, self.shared.settings.reply_bytes);
        let printable = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
        let text: String = text.chars().filter(printable).collect();
        self.shared.scrubber.scrub(&marker::without_marker(&text)).into_owned()
    }
}
