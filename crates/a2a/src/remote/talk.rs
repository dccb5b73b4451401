//! One hand-over, from the message to what came of it.

use std::time::Duration;

use lango_runtime::{RemoteReply, RemoteRequest};
use lango_store::StoreError;

use super::agent::A2aRemote;
use super::answer::{Results, in_words};
use super::error::Trouble;
use super::peer::Heard;
use super::tasks::{Known, Place, Stage};
use super::trace::traceparent;
use super::wire::{Names, Outgoing, Part, Picture, State, Status, Task, Update, Version};

const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Questions about a task that may go unanswered in a row.
const LOST_POLLS: u32 = 3;

/// A hand-over under way.
pub(crate) struct Talk<'a> {
    pub(crate) remote: &'a A2aRemote,
    request: &'a RemoteRequest,
    place: Place<'a>,
    pub(crate) trace: String,
    pub(crate) names: Names,
    results: Results,
    /// What the agent said on the way.
    progress: String,
    events: usize,
    /// A stream broke off: what came meanwhile may be missing.
    was_cut: bool,
    /// A stream begins that answers a question.
    answers: bool,
}

impl<'a> Talk<'a> {
    pub(crate) fn new(remote: &'a A2aRemote, request: &'a RemoteRequest) -> Self {
        let place = Place { session: &request.session, agent: &remote.name, call: &request.call };
        let trace = traceparent(request.turn, &request.call, request.trace.as_deref());
        let (names, results) = (Names::default(), Results::default());
        Self {
            remote,
            request,
            place,
            trace,
            names,
            results,
            progress: String::new(),
            events: 0,
            was_cut: false,
            answers: false,
        }
    }

    /// Hands the task over, or takes it up again, and listens until nothing more comes.
    pub(crate) async fn hold(&mut self) -> Result<RemoteReply, Trouble> {
        let Place { session, agent, call } = self.place;
        match self.remote.tasks.of_call(session, agent, call).await? {
            Some(known) => self.take_up(known).await,
            None => self.begin().await,
        }
    }

    async fn begin(&mut self) -> Result<RemoteReply, Trouble> {
        let Place { session, agent, .. } = self.place;
        let newest = self.remote.tasks.newest(session, agent).await?;
        let mut waiting = self.remote.tasks.waiting(session).await?;
        waiting.retain(|(name, _)| name == agent.as_str());
        let waiting = waiting.last().map(|(_, known)| known);
        if let Some(known) = waiting.filter(|known| known.turn == self.request.turn.to_string()) {
            // The user has not seen the question yet: nobody else answers it.
            return Ok(self.question(known.stage, &known.question));
        }
        let message = self.message(newest.as_ref(), waiting);
        let (context, task) = (message.context.as_deref(), message.task.as_deref());
        self.remote.tasks.begin(&self.place, self.request.turn, context, task).await?;
        self.send(&message).await
    }

    /// The message: the task, or the user's own words where the agent waits for them.
    fn message(&self, newest: Option<&Known>, waiting: Option<&Known>) -> Outgoing {
        let user_text = Some(&self.request.user_text).filter(|text| !text.trim().is_empty());
        let answer = waiting.and(user_text);
        let takes = |media_type: &str| {
            let group = media_type.split('/').next().unwrap_or_default();
            let group = format!("{group}/*");
            let modes = &self.remote.input_modes;
            modes.iter().any(|mode| mode == media_type || *mode == group || mode == "*/*")
        };
        let images = self.request.images.iter().filter(|image| takes(&image.media_type));
        Outgoing {
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

    /// Goes on with a hand-over that this program was interrupted in.
    async fn take_up(&mut self, known: Known) -> Result<RemoteReply, Trouble> {
        match known.stage {
            Stage::Asked | Stage::AskedForProof => {
                return Ok(self.question(known.stage, &known.question));
            }
            Stage::Sent | Stage::Under | Stage::Over => {}
        }
        self.names = Names { task: known.task.clone(), context: known.context.clone() };
        let Some(task) = known.task.clone() else {
            if known.stage == Stage::Over {
                let lost = "its answer was lost when this program was interrupted";
                return Err(Trouble::Broken(lost.to_owned()));
            }
            // The same message again: whoever got it knows it by its id.
            let message = self.message(Some(&known), None);
            return self.send(&message).await;
        };
        let now = self.remote.peer.get(&task, &self.trace).await?;
        if waits(&now) && known.stage == Stage::Sent {
            // The answer was about to go out, and it did not arrive.
            let message = self.message(Some(&known), Some(&known));
            return self.send(&message).await;
        }
        if let Some(reply) = self.take(Update::Task(now)).await? {
            return Ok(reply);
        }
        if self.remote.streaming { self.listen(None).await } else { self.poll().await }
    }

    async fn send(&mut self, message: &Outgoing) -> Result<RemoteReply, Trouble> {
        if self.remote.streaming {
            self.answers = message.task.is_some();
            let heard = self.remote.peer.stream(message, &self.trace).await?;
            return self.listen(Some(heard)).await;
        }
        let update = self.remote.peer.send(message, &self.trace).await?;
        match self.take(update).await? {
            Some(reply) => Ok(reply),
            None => self.poll().await,
        }
    }

    /// Listens to the stream. One that breaks off is taken up again, a few times.
    async fn listen(&mut self, first: Option<Heard>) -> Result<RemoteReply, Trouble> {
        let mut heard = first;
        let mut wait = FIRST_WAIT;
        for _ in 0..=self.remote.peer.limits.resubscriptions {
            if let Some(stream) = &mut heard {
                match self.hear(stream).await {
                    Ok(Some(reply)) => return Ok(reply),
                    Ok(None) | Err(Trouble::Broken(_)) => {}
                    // Said in a stream, but it says the same as below.
                    Err(Trouble::Refused { .. }) if self.was_cut => break,
                    Err(trouble) => return Err(trouble),
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 3).min(LONGEST_WAIT);
            }
            let Some(task) = self.names.task.clone() else {
                let unknown =
                    "before it said that it has the task; whether it does it is not known";
                return Err(Trouble::Broken(unknown.to_owned()));
            };
            self.was_cut = true;
            if self.remote.peer.interface.version == Version::ZeroThree {
                // The Python kit of 0.3 writes every piece twice once there is a second listener.
                break;
            }
            heard = match self.remote.peer.subscribe(&task, &self.trace).await {
                Ok(stream) => Some(stream),
                Err(Trouble::Unreachable(_) | Trouble::Broken(_)) => {
                    tokio::time::sleep(wait).await;
                    wait = (wait * 3).min(LONGEST_WAIT);
                    None
                }
                // It is over already, or cannot be listened to: then it can be asked about.
                Err(Trouble::Refused { .. } | Trouble::Status { .. }) => break,
                Err(trouble) => return Err(trouble),
            };
        }
        self.poll().await
    }

    async fn hear(&mut self, heard: &mut Heard) -> Result<Option<RemoteReply>, Trouble> {
        while let Some(update) = self.remote.peer.next(heard).await? {
            if let Some(reply) = self.take(update).await? {
                return Ok(Some(reply));
            }
        }
        Ok(None)
    }

    /// Asks about the task until it is settled.
    async fn poll(&mut self) -> Result<RemoteReply, Trouble> {
        let mut wait = FIRST_WAIT;
        let mut lost = 0;
        loop {
            let Some(task) = self.names.task.clone() else {
                return Err(Trouble::Garbage("an answer that names no task".to_owned()));
            };
            match self.remote.peer.get(&task, &self.trace).await {
                Ok(task) => {
                    lost = 0;
                    if let Some(reply) = self.take(Update::Task(task)).await? {
                        return Ok(reply);
                    }
                }
                Err(Trouble::Unreachable(_) | Trouble::Broken(_)) if lost < LOST_POLLS => lost += 1,
                Err(trouble) => return Err(trouble),
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Takes in one thing that was said; the reply, where it was the last.
    async fn take(&mut self, update: Update) -> Result<Option<RemoteReply>, Trouble> {
        self.events += 1;
        let most = self.remote.peer.limits.events;
        if self.events > most {
            return Err(Trouble::TooMuch(format!("more than {most} events")));
        }
        self.learn(update.names().clone()).await?;
        match update {
            Update::Message { parts, .. } => {
                self.note(Stage::Over, "").await?;
                Ok(Some(RemoteReply::Answered { text: in_words(&parts) }))
            }
            Update::Artifact { artifact, append, .. } => {
                let new = self.results.add(artifact, append);
                self.show(new);
                Ok(None)
            }
            Update::Status { status, .. } if self.was_cut && status.state.is_settled() => {
                // Some agents begin a second stream with what comes next: the whole has everything.
                self.was_cut = false;
                let task = match self.names.task.clone() {
                    Some(task) => self.remote.peer.get(&task, &self.trace).await?,
                    None => return self.conclude(&status, &[]).await,
                };
                self.take_task(&task).await
            }
            Update::Status { status, .. } => self.conclude(&status, &[]).await,
            Update::Task(task) if self.events == 1 && self.answers && waits(&task) => {
                // The task as it was before the answer: what comes of that comes next.
                self.results.take(&task);
                Ok(None)
            }
            Update::Task(task) => self.take_task(&task).await,
        }
    }

    async fn take_task(&mut self, task: &Task) -> Result<Option<RemoteReply>, Trouble> {
        let new = self.results.take(task);
        self.show(new);
        self.conclude(&task.status, &task.said).await
    }

    /// Notes the names of task and conversation as soon as they are known: after a crash, the task is
    /// found by them.
    async fn learn(&mut self, names: Names) -> Result<(), Trouble> {
        let first = self.events == 1;
        if !first
            && names.task.is_some()
            && names.task != self.names.task
            && self.names.task.is_some()
        {
            return Err(Trouble::Garbage("an answer that is about another task".to_owned()));
        }
        let learnt = Names {
            task: names.task.or_else(|| self.names.task.clone()),
            context: names.context.or_else(|| self.names.context.clone()),
        };
        if learnt != self.names || first {
            self.names = learnt;
            self.note(Stage::Under, "").await?;
        }
        Ok(())
    }

    pub(crate) async fn note(&self, stage: Stage, question: &str) -> Result<(), StoreError> {
        let (context, task) = (self.names.context.as_deref(), self.names.task.as_deref());
        self.remote.tasks.note(&self.place, context, task, stage, question).await
    }

    /// Words go out as they come. Whoever does not take them gets the whole at the end.
    fn show(&self, words: String) {
        if !words.is_empty() {
            let _ = self.request.words.try_send(words);
        }
    }

    async fn conclude(
        &mut self,
        status: &Status,
        said: &[Part],
    ) -> Result<Option<RemoteReply>, Trouble> {
        let message = in_words(&status.message);
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
                let words = first([message, in_words(said), self.results.text(), nothing()]);
                let stage = match status.state {
                    State::AuthRequired => Stage::AskedForProof,
                    _ => Stage::Asked,
                };
                (stage, words)
            }
            State::Completed => {
                let progress = std::mem::take(&mut self.progress);
                (Stage::Over, first([self.results.text(), message, in_words(said), progress]))
            }
            _ => (Stage::Over, first([message, in_words(said), self.results.text(), nothing()])),
        };
        let words = words.unwrap_or_default();
        self.note(stage, &words).await?;
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

    /// What the user is asked. Only the user answers it: what is kept here is not looked at.
    fn question(&self, stage: Stage, words: &str) -> RemoteReply {
        let name = &self.remote.name;
        let question = match (stage, words) {
            (Stage::AskedForProof, words) => {
                let quoted =
                    if words.is_empty() { String::new() } else { format!(" It says: {words}\n") };
                format!(
                    "{name} wants to be shown who you are before it goes on.{quoted}\n\
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

/// Whether a task waits for the user.
fn waits(task: &Task) -> bool {
    matches!(task.status.state, State::InputRequired | State::AuthRequired)
}
