//! Runs one delegation to a remote agent, from the message to the reply.

use std::time::Duration;

use lango_egress::BackoffPolicy;
use lango_runtime::{RemoteReply, RemoteRequest};
use lango_store::StoreError;

use super::agent::A2aRemote;
use super::answer::{Results, render_parts};
use super::error::ExchangeError;
use super::peer::UpdateStream;
use super::tasks::{DelegationKey, RemoteTask, Stage};
use super::trace::traceparent;
use super::wire::{OutgoingMessage, Part, Picture, State, Status, Task, TaskIds, Update, Version};

/// The waits between two requests for the same task.
const RETRY_WAITS: BackoffPolicy =
    BackoffPolicy::doubling(Duration::from_millis(200), Duration::from_secs(5));
/// Limits how many consecutive status requests may go unanswered.
const MAX_LOST_POLL_COUNT: u32 = 3;

/// A delegation in progress.
pub(crate) struct Delegation<'a> {
    pub(crate) remote: &'a A2aRemote,
    request: &'a RemoteRequest,
    key: DelegationKey<'a>,
    pub(crate) trace: String,
    pub(crate) ids: TaskIds,
    results: Results,
    /// The latest progress message of the agent.
    progress: String,
    events: usize,
    /// True if a stream broke, so that updates may be missing.
    was_cut: bool,
    /// True if the message answers a question of the agent.
    answers: bool,
}

impl<'a> Delegation<'a> {
    pub(crate) fn new(remote: &'a A2aRemote, request: &'a RemoteRequest) -> Self {
        let key =
            DelegationKey { session: &request.session, agent: &remote.name, call: &request.call };
        let trace = traceparent(request.turn, &request.call, request.trace.as_deref());
        let (ids, results) = (TaskIds::default(), Results::default());
        Self {
            remote,
            request,
            key,
            trace,
            ids,
            results,
            progress: String::new(),
            events: 0,
            was_cut: false,
            answers: false,
        }
    }

    /// Sends the task, or resumes it, and follows it to its end.
    pub(crate) async fn run(&mut self) -> Result<RemoteReply, ExchangeError> {
        let DelegationKey { session, agent, call } = self.key;
        match self.remote.tasks.find_by_call(session, agent, call).await? {
            Some(known) => self.take_up(known).await,
            None => self.begin().await,
        }
    }

    async fn begin(&mut self) -> Result<RemoteReply, ExchangeError> {
        let DelegationKey { session, agent, .. } = self.key;
        let newest = self.remote.tasks.newest(session, agent).await?;
        let mut waiting = self.remote.tasks.waiting(session).await?;
        waiting.retain(|(name, _)| name == agent.as_str());
        let waiting = waiting.last().map(|(_, known)| known);
        if let Some(known) = waiting.filter(|known| known.turn == self.request.turn.to_string()) {
            // The user has not seen the question yet, and only the user answers it.
            return Ok(self.question(known.stage, &known.question));
        }
        let message = self.message(newest.as_ref(), waiting);
        let (context, task) = (message.context.as_deref(), message.task.as_deref());
        self.remote.tasks.begin(&self.key, self.request.turn, context, task).await?;
        self.send(&message).await
    }

    /// Returns the message: the task, or the user's own words if the agent waits for them.
    fn message(
        &self,
        newest: Option<&RemoteTask>,
        waiting: Option<&RemoteTask>,
    ) -> OutgoingMessage {
        let user_text = Some(&self.request.user_text).filter(|text| !text.trim().is_empty());
        let answer = waiting.and(user_text);
        let takes = |media_type: &str| {
            let group = media_type.split('/').next().unwrap_or_default();
            let group = format!("{group}/*");
            let modes = &self.remote.input_modes;
            modes.iter().any(|mode| mode == media_type || *mode == group || mode == "*/*")
        };
        let images = self.request.images.iter().filter(|image| takes(&image.media_type));
        OutgoingMessage {
            id: format!("lango-{}-{}", self.request.turn, self.request.call),
            text: answer.unwrap_or(&self.request.task).clone(),
            pictures: images
                .map(|image| Picture {
                    media_type: image.media_type.clone(),
                    data: image.data.to_vec(),
                })
                .collect(),
            context: newest.and_then(|known| known.context.clone()),
            task: waiting.and_then(|known| known.task.clone()),
        }
    }

    /// Resumes a delegation after this program was interrupted.
    async fn take_up(&mut self, known: RemoteTask) -> Result<RemoteReply, ExchangeError> {
        match known.stage {
            Stage::InputRequired | Stage::AuthRequired => {
                return Ok(self.question(known.stage, &known.question));
            }
            Stage::Sent | Stage::InProgress | Stage::Ended => {}
        }
        self.ids = TaskIds { task: known.task.clone(), context: known.context.clone() };
        let Some(task) = known.task.clone() else {
            if known.stage == Stage::Ended {
                let lost = "its answer was lost when this program was interrupted";
                return Err(ExchangeError::Broken(lost.to_owned()));
            }
            // The same message again: an agent that received it recognizes its id.
            let message = self.message(Some(&known), None);
            return self.send(&message).await;
        };
        let now = self.remote.peer.get(&task, &self.trace).await?;
        if waits(&now) && known.stage == Stage::Sent {
            // The answer was about to be sent, and did not arrive.
            let message = self.message(Some(&known), Some(&known));
            return self.send(&message).await;
        }
        if let Some(reply) = self.take(Update::Task(now)).await? {
            return Ok(reply);
        }
        if self.remote.streaming { self.listen(None).await } else { self.poll().await }
    }

    async fn send(&mut self, message: &OutgoingMessage) -> Result<RemoteReply, ExchangeError> {
        if self.remote.streaming {
            self.answers = message.task.is_some();
            let updates = self.remote.peer.stream(message, &self.trace).await?;
            return self.listen(Some(updates)).await;
        }
        let update = self.remote.peer.send(message, &self.trace).await?;
        match self.take(update).await? {
            Some(reply) => Ok(reply),
            None => self.poll().await,
        }
    }

    /// Follows the stream. A broken stream is resumed a few times.
    async fn listen(&mut self, first: Option<UpdateStream>) -> Result<RemoteReply, ExchangeError> {
        let mut updates = first;
        let mut waits = RETRY_WAITS.with_factor(3.0).waits();
        for _ in 0..=self.remote.peer.limits.resubscriptions {
            if let Some(stream) = &mut updates {
                match self.read_stream(stream).await {
                    Ok(Some(reply)) => return Ok(reply),
                    Ok(None) | Err(ExchangeError::Broken(_)) => {}
                    // The same refusal as below, sent inside a stream.
                    Err(ExchangeError::Refused { .. }) if self.was_cut => break,
                    Err(error) => return Err(error),
                }
                tokio::time::sleep(waits.next_wait()).await;
            }
            let Some(task) = self.ids.task.clone() else {
                let unknown =
                    "before it said that it has the task; whether it does it is not known";
                return Err(ExchangeError::Broken(unknown.to_owned()));
            };
            self.was_cut = true;
            if self.remote.peer.interface.version == Version::ZeroThree {
                // The Python SDK of 0.3 writes every piece twice once there is a second listener.
                break;
            }
            updates = match self.remote.peer.subscribe(&task, &self.trace).await {
                Ok(stream) => Some(stream),
                Err(ExchangeError::Unreachable(_) | ExchangeError::Broken(_)) => {
                    tokio::time::sleep(waits.next_wait()).await;
                    None
                }
                // The task is over, or does not support subscriptions: its status can be requested.
                Err(ExchangeError::Refused { .. } | ExchangeError::Status { .. }) => break,
                Err(error) => return Err(error),
            };
        }
        self.poll().await
    }

    async fn read_stream(
        &mut self,
        updates: &mut UpdateStream,
    ) -> Result<Option<RemoteReply>, ExchangeError> {
        while let Some(update) = self.remote.peer.next(updates).await? {
            if let Some(reply) = self.take(update).await? {
                return Ok(Some(reply));
            }
        }
        Ok(None)
    }

    /// Requests the status of the task until it is settled.
    async fn poll(&mut self) -> Result<RemoteReply, ExchangeError> {
        let mut waits = RETRY_WAITS.waits();
        let mut lost = 0;
        loop {
            let Some(task) = self.ids.task.clone() else {
                return Err(ExchangeError::Malformed("an answer that names no task".to_owned()));
            };
            match self.remote.peer.get(&task, &self.trace).await {
                Ok(task) => {
                    lost = 0;
                    if let Some(reply) = self.take(Update::Task(task)).await? {
                        return Ok(reply);
                    }
                }
                Err(ExchangeError::Unreachable(_) | ExchangeError::Broken(_))
                    if lost < MAX_LOST_POLL_COUNT =>
                {
                    lost += 1;
                }
                Err(error) => return Err(error),
            }
            tokio::time::sleep(waits.next_wait()).await;
        }
    }

    /// Processes one update. Returns the reply if it was the last.
    async fn take(&mut self, update: Update) -> Result<Option<RemoteReply>, ExchangeError> {
        self.events += 1;
        let limit = self.remote.peer.limits.events;
        if self.events > limit {
            return Err(ExchangeError::TooMuch(format!("more than {limit} events")));
        }
        self.record_ids(update.ids().clone()).await?;
        match update {
            Update::Message { parts, .. } => {
                self.record_stage(Stage::Ended, "").await?;
                Ok(Some(RemoteReply::Answered { text: render_parts(&parts) }))
            }
            Update::Artifact { artifact, append, .. } => {
                let new = self.results.add(artifact, append);
                self.show(new);
                Ok(None)
            }
            Update::Status { status, .. } if self.was_cut && status.state.is_settled() => {
                // Some agents begin a second stream with the next update only: the whole task has
                // everything.
                self.was_cut = false;
                let task = match self.ids.task.clone() {
                    Some(task) => self.remote.peer.get(&task, &self.trace).await?,
                    None => return self.conclude(&status, &[]).await,
                };
                self.take_task(&task).await
            }
            Update::Status { status, .. } => self.conclude(&status, &[]).await,
            Update::Task(task) if self.events == 1 && self.answers && waits(&task) => {
                // This is the task before the answer; the updates after the answer follow.
                self.results.take(&task);
                Ok(None)
            }
            Update::Task(task) => self.take_task(&task).await,
        }
    }

    async fn take_task(&mut self, task: &Task) -> Result<Option<RemoteReply>, ExchangeError> {
        let new = self.results.take(task);
        self.show(new);
        self.conclude(&task.status, &task.last_message).await
    }

    /// Stores the ids of the task and the conversation as soon as they are known, so that the task
    /// is found after a crash.
    async fn record_ids(&mut self, ids: TaskIds) -> Result<(), ExchangeError> {
        let first = self.events == 1;
        if !first && ids.task.is_some() && ids.task != self.ids.task && self.ids.task.is_some() {
            return Err(ExchangeError::Malformed(
                "an answer that is about another task".to_owned(),
            ));
        }
        let learnt = TaskIds {
            task: ids.task.or_else(|| self.ids.task.clone()),
            context: ids.context.or_else(|| self.ids.context.clone()),
        };
        if learnt != self.ids || first {
            self.ids = learnt;
            self.record_stage(Stage::InProgress, "").await?;
        }
        Ok(())
    }

    pub(crate) async fn record_stage(
        &self,
        stage: Stage,
        question: &str,
    ) -> Result<(), StoreError> {
        let (context, task) = (self.ids.context.as_deref(), self.ids.task.as_deref());
        let question = self.request.scrubber.scrub(question);
        self.remote.tasks.record_stage(&self.key, context, task, stage, &question).await
    }

    /// Forwards text as it arrives. A receiver that does not take it gets the whole text at the
    /// end.
    fn show(&self, words: String) {
        if !words.is_empty() {
            let _ = self.request.words.try_send(words);
        }
    }

    async fn conclude(
        &mut self,
        status: &Status,
        last_message: &[Part],
    ) -> Result<Option<RemoteReply>, ExchangeError> {
        let message = render_parts(&status.message);
        if !status.state.is_settled() {
            if !message.is_empty() {
                self.progress = message;
            }
            return Ok(None);
        }
        let first = |texts: [String; 4]| texts.into_iter().find(|text| !text.trim().is_empty());
        let nothing = String::new;
        let (stage, words) = match status.state {
            State::InputRequired | State::AuthRequired => {
                let words =
                    first([message, render_parts(last_message), self.results.text(), nothing()]);
                let stage = match status.state {
                    State::AuthRequired => Stage::AuthRequired,
                    _ => Stage::InputRequired,
                };
                (stage, words)
            }
            State::Completed => {
                let progress = std::mem::take(&mut self.progress);
                (
                    Stage::Ended,
                    first([self.results.text(), message, render_parts(last_message), progress]),
                )
            }
            _ => (
                Stage::Ended,
                first([message, render_parts(last_message), self.results.text(), nothing()]),
            ),
        };
        let words = words.unwrap_or_default();
        // Only a question is needed again: it may be answered after a restart.
        let question = if stage == Stage::Ended { "" } else { words.as_str() };
        self.record_stage(stage, question).await?;
        let reason = |without: &str| match words.as_str() {
            "" => format!("{} {without}", self.remote.name),
            words => words.to_owned(),
        };
        Ok(Some(match status.state {
            State::Completed => RemoteReply::Answered { text: words },
            State::Rejected => RemoteReply::Rejected { reason: reason("does not do this") },
            State::Canceled => RemoteReply::Failed { reason: reason("stopped the task") },
            State::InputRequired | State::AuthRequired => self.question(stage, &words),
            _ => RemoteReply::Failed { reason: reason("failed and did not say why") },
        }))
    }

    /// Returns the question for the user. Only the user answers it; stored credentials are not
    /// used.
    fn question(&self, stage: Stage, words: &str) -> RemoteReply {
        let name = &self.remote.name;
        let question = match (stage, words) {
            (Stage::AuthRequired, words) => {
                let quoted =
                    if words.is_empty() { String::new() } else { format!(" It says: {words}\n") };
                format!(
                    "{name} requires authentication before it continues.{quoted}\n\
                     Nothing was sent to it. What you answer is passed on to {name} as you write it, so \
                     write no password or key unless {name} should have it."
                )
            }
            (_, "") => format!("{name} needs to know more, and does not say what."),
            (_, words) => words.to_owned(),
        };
        RemoteReply::NeedsInput { question }
    }
}

/// Tells whether a task waits for the user.
fn waits(task: &Task) -> bool {
    matches!(task.status.state, State::InputRequired | State::AuthRequired)
}
