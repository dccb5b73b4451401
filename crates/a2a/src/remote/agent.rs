//! An agent elsewhere, as the team sees it.

use std::time::Duration;

use lango_protocol::AgentName;
use lango_runtime::{RemoteAgent, RemoteFuture, RemoteReply, RemoteRequest};

use super::circuit::Circuit;
use super::error::Trouble;
use super::peer::Peer;
use super::talk::Talk;
use super::tasks::{Stage, TaskBook};

/// How long the agent may take to hear that it should stop.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Somebody elsewhere who speaks A2A.
pub struct A2aRemote {
    pub(crate) name: AgentName,
    pub(crate) peer: Peer,
    pub(crate) tasks: TaskBook,
    pub(crate) streaming: bool,
    /// The kinds of content that it takes.
    pub(crate) input_modes: Vec<String>,
    pub(crate) circuit: std::sync::Arc<Circuit>,
}

impl RemoteAgent for A2aRemote {
    fn ask(&self, request: RemoteRequest) -> RemoteFuture<'_> {
        Box::pin(async move {
            if let Some(pause) = self.circuit.pause() {
                let name = &self.name;
                let seconds = pause.as_secs().max(1);
                let reason = format!(
                    "{name} failed several times in a row and is left alone for another {seconds} s"
                );
                return RemoteReply::Failed { reason };
            }
            self.converse(&request).await
        })
    }
}

impl A2aRemote {
    async fn converse(&self, request: &RemoteRequest) -> RemoteReply {
        let mut talk = Talk::new(self, request);
        let limit = self.peer.limits.task;
        let result = tokio::select! {
            biased;
            () = request.cancel.cancelled() => None,
            result = tokio::time::timeout(limit, talk.hold()) => {
                Some(result.unwrap_or(Err(Trouble::TooSlow(limit))))
            }
        };
        match result {
            Some(Ok(reply)) => {
                self.circuit.worked();
                reply
            }
            Some(Err(trouble)) => {
                if trouble.is_malfunction() {
                    self.circuit.failed();
                }
                talk.stop(LAST_WORDS).await;
                RemoteReply::Failed { reason: format!("{} failed: {trouble}", self.name) }
            }
            None => {
                talk.stop(LAST_WORDS).await;
                RemoteReply::Failed { reason: format!("{} was told to stop", self.name) }
            }
        }
    }
}

impl Talk<'_> {
    /// Nobody waits for the task any more: the agent is told so, and it is not taken up again.
    async fn stop(&self, patience: Duration) {
        if let Some(task) = &self.names.task {
            // Best effort: whether it stops is its own affair, and nothing of it is heard here.
            let _ =
                tokio::time::timeout(patience, self.remote.peer.cancel(task, &self.trace)).await;
        }
        // A row that stays is looked at again when this very hand-over is, and never otherwise.
        let _ = self.note(Stage::Over, "").await;
    }
}
