//! Implements a remote agent as a member of the team.

use std::time::Duration;

use lango_egress::{BackoffPolicy, BreakerPolicy, BreakerState, CircuitBreaker};
use lango_protocol::AgentName;
use lango_runtime::{RemoteAgent, RemoteFuture, RemoteReply, RemoteRequest};

use super::delegation::Delegation;
use super::error::ExchangeError;
use super::peer::Peer;
use super::tasks::{Stage, TaskStore};

/// Limits how long the request to stop a task may take.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

/// Pauses delegations to an agent that failed three times in a row. After a pause every delegation
/// may try: one of them can take as long as a task.
pub(crate) const BREAKER: BreakerPolicy = BreakerPolicy {
    pause_threshold: 3,
    pauses: BackoffPolicy::doubling(Duration::from_secs(30), Duration::from_mins(10)),
    isolation_threshold: None,
};

/// A remote agent that is reached over A2A.
pub struct A2aRemote {
    pub(crate) name: AgentName,
    pub(crate) peer: Peer,
    pub(crate) tasks: TaskStore,
    pub(crate) streaming: bool,
    /// The media types that it accepts.
    pub(crate) input_modes: Vec<String>,
    pub(crate) breaker: std::sync::Arc<CircuitBreaker>,
}

impl RemoteAgent for A2aRemote {
    fn ask(&self, request: RemoteRequest) -> RemoteFuture<'_> {
        Box::pin(async move {
            if let BreakerState::Paused(pause) = self.breaker.state() {
                let name = &self.name;
                let seconds = pause.as_secs().max(1);
                let reason = format!(
                    "{name} failed several times in a row and is left alone for another {seconds} s"
                );
                return RemoteReply::Failed { reason };
            }
            self.delegate(&request).await
        })
    }
}

impl A2aRemote {
    async fn delegate(&self, request: &RemoteRequest) -> RemoteReply {
        let mut delegation = Delegation::new(self, request);
        let limit = self.peer.limits.task;
        let result = tokio::select! {
            biased;
            () = request.cancel.cancelled() => None,
            result = tokio::time::timeout(limit, delegation.run()) => {
                Some(result.unwrap_or(Err(ExchangeError::TooSlow(limit))))
            }
        };
        match result {
            Some(Ok(reply)) => {
                if self.breaker.failures() > 0 {
                    tracing::info!(agent = %self.name, "remote agent works again");
                }
                self.breaker.record_success();
                reply
            }
            Some(Err(error)) => {
                if error.is_malfunction() {
                    let pause = self.breaker.record_failure();
                    // Malfunctions are told by this program, not in the words of the agent.
                    tracing::warn!(agent = %self.name, ?pause, %error, "remote agent failed");
                }
                delegation.stop(CANCEL_TIMEOUT).await;
                RemoteReply::Failed { reason: format!("{} failed: {error}", self.name) }
            }
            None => {
                delegation.stop(CANCEL_TIMEOUT).await;
                RemoteReply::Failed { reason: format!("{} was told to stop", self.name) }
            }
        }
    }
}

impl Delegation<'_> {
    /// Cancels the task at the agent and marks it as ended, so that it is not resumed.
    async fn stop(&self, timeout: Duration) {
        if let Some(task) = &self.ids.task {
            // Best effort: whether the agent stops is up to it, and its answer is not used here.
            let _ = tokio::time::timeout(timeout, self.remote.peer.cancel(task, &self.trace)).await;
        }
        // A remaining row is read only if this same delegation is resumed.
        if let Err(error) = self.record_stage(Stage::Ended, "").await {
            tracing::warn!(agent = %self.remote.name, %error, "the end of a task was not stored");
        }
    }
}
