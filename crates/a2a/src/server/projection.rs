//! A task as its events tell it: a fold, with the same result live, after a restart and in another
//! process. Events in; out come what a stream says of them, and the task as it is.

use std::collections::BTreeSet;

use a2a::{
    Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState,
    TaskStatus, TaskStatusUpdateEvent,
};
use lango_protocol::{CallId, Event, EventBody, ImageReference, Outcome, OutcomeStatus, Timestamp};

use super::answer::{is_text, parts_of};
use super::tables::EndedBeside;
use super::words;

/// The longest answer that is also said as the message of the last status.
const SHORT_ANSWER: usize = 4096;
/// Words that are kept before the first of them are said: what turns out to be a question is a
/// status and no artifact, and questions are short.
const FIRST_WORDS: usize = 160;

/// Whether words that begin like this may turn out to be data or a file. Such an answer comes whole.
fn may_be_no_text(held: &str, more: &str) -> bool {
    const DATA: &str = "```json";
    let begin: String =
        held.chars().chain(more.chars()).skip_while(|c| c.is_whitespace()).collect();
    DATA.starts_with(&begin)
        || begin.starts_with(DATA)
        || (begin.starts_with('[') && !begin.contains('\n'))
}

/// A moment as the wire shows it.
pub(crate) fn milliseconds(at: Timestamp) -> i64 {
    at.as_microseconds().div_euclid(1000)
}

/// A task, up to the events that were applied.
#[derive(Debug, Clone)]
pub(crate) struct Projection {
    id: String,
    context: String,
    state: TaskState,
    status_at: i64,
    status_message: Option<Message>,
    history: Vec<Message>,
    artifacts: Vec<Artifact>,
    /// Whether the caller gets a task; not known as long as an agent only talks.
    revealed: bool,
    /// The answer, where it is a message and no task.
    message: Option<Message>,
    turn: Turn,
}

/// What is known of the newest turn only.
#[derive(Debug, Clone, Default)]
struct Turn {
    position: u32,
    message_id: String,
    /// The words that end it, with the event they came in.
    answer: Option<(String, String)>,
    /// Calls that wait for the owner.
    questions: BTreeSet<CallId>,
    speech: Speech,
}

/// The words of whoever may be giving the answer, as they come.
#[derive(Debug, Clone, Default)]
struct Speech {
    speaker: Option<(Option<CallId>, Option<u32>)>,
    /// Said to the caller.
    sent: String,
    /// The newest piece, kept until it is known whether it is the last.
    held: String,
    /// Something was said to the caller in this turn, be it void by now.
    begun: bool,
}

impl Projection {
    pub(crate) fn new(id: &str, context: &str, created_at: i64, revealed: bool) -> Self {
        Self {
            id: id.to_owned(),
            context: context.to_owned(),
            state: TaskState::Submitted,
            status_at: created_at,
            status_message: None,
            history: Vec::new(),
            artifacts: Vec::new(),
            revealed,
            message: None,
            turn: Turn::default(),
        }
    }

    pub(crate) fn state(&self) -> &TaskState {
        &self.state
    }

    pub(crate) fn status_at(&self) -> i64 {
        self.status_at
    }

    pub(crate) fn is_revealed(&self) -> bool {
        self.revealed
    }

    /// The answer, where it is a message and no task.
    pub(crate) fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// Whether its owner is asked about a call.
    pub(crate) fn waits_for_owner(&self) -> bool {
        !self.turn.questions.is_empty()
    }

    /// Whether nothing more comes by itself: it has ended, or waits for an answer.
    pub(crate) fn is_settled(&self) -> bool {
        self.message.is_some() || self.state.is_terminal() || self.is_interrupted()
    }

    /// Whether it waits for somebody.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self.state, TaskState::InputRequired | TaskState::AuthRequired)
    }

    /// A further message of the caller, about to become a turn.
    pub(crate) fn begin_turn(
        &mut self,
        position: u32,
        message_id: &str,
        at: i64,
    ) -> Vec<StreamResponse> {
        let message_id = message_id.to_owned();
        self.turn = Turn { position, message_id, ..Turn::default() };
        if position == 1 {
            return Vec::new();
        }
        self.history.extend(self.status_message.take());
        let mut out = Vec::new();
        self.set_status(TaskState::Working, at, None, &mut out);
        out
    }

    /// What an event changes, as a stream says it.
    pub(crate) fn apply(&mut self, event: &Event) -> Vec<StreamResponse> {
        let mut out = Vec::new();
        let at = milliseconds(event.at);
        match &event.body {
            EventBody::UserMessage { text, attachment, images, .. } => {
                let message = self.user_message(text, attachment.as_deref(), images);
                self.history.push(message);
                if self.state == TaskState::Submitted {
                    self.set_status(TaskState::Working, at, None, &mut out);
                }
            }
            EventBody::TextDelta { text, answer: true } => self.hear(event, text, &mut out),
            EventBody::Setback { .. } => self.forget_speech(event),
            EventBody::Message { text, answer } => {
                if *answer {
                    self.turn.answer = Some((event.id.to_string(), text.clone()));
                } else {
                    self.forget_speech(event);
                }
            }
            EventBody::Transfer { .. } | EventBody::ToolCall { .. } => self.reveal(&mut out),
            EventBody::ApprovalRequested { call, tool, .. } => {
                self.reveal(&mut out);
                self.turn.questions.insert(call.clone());
                let message =
                    self.agent_message(&event.id.to_string(), words::waits_for_owner(tool));
                self.set_status(TaskState::InputRequired, at, Some(message), &mut out);
            }
            EventBody::ApprovalResolved { call, .. } => {
                let was_open = self.turn.questions.remove(call);
                if was_open && self.turn.questions.is_empty() {
                    self.set_status(TaskState::Working, at, None, &mut out);
                }
            }
            EventBody::TurnFinished(outcome) => self.finish(event, outcome, &mut out),
            _ => {}
        }
        out
    }

    /// The task ended beside its turns.
    pub(crate) fn end(&mut self, how: EndedBeside, at: i64) -> Vec<StreamResponse> {
        let mut out = Vec::new();
        let (state, text) = match how {
            EndedBeside::Canceled => (TaskState::Canceled, words::CANCELED),
            EndedBeside::Failed => (TaskState::Failed, words::COULD_NOT_BEGIN),
        };
        // What was told first wins over an end of the turn that came later.
        if self.state == state || self.message.is_some() {
            return out;
        }
        self.reveal(&mut out);
        let message = self.agent_message(&format!("{}-end", self.id), text.to_owned());
        self.turn.questions.clear();
        self.set_status(state, at, Some(message), &mut out);
        out
    }

    /// The task as it is.
    pub(crate) fn task(&self) -> Task {
        let mut artifacts = self.artifacts.clone();
        if !self.turn.speech.sent.is_empty() {
            let parts = vec![Part::text(self.turn.speech.sent.as_str())];
            artifacts.push(self.artifact(parts));
        }
        Task {
            id: self.id.clone(),
            context_id: self.context.clone(),
            status: self.status(),
            artifacts: (!artifacts.is_empty()).then_some(artifacts),
            history: (!self.history.is_empty()).then(|| self.history.clone()),
            metadata: None,
        }
    }

    fn status(&self) -> TaskStatus {
        TaskStatus {
            state: self.state.clone(),
            message: self.status_message.clone(),
            timestamp: super::clock::on_the_wire(self.status_at),
        }
    }

    fn set_status(
        &mut self,
        state: TaskState,
        at: i64,
        message: Option<Message>,
        out: &mut Vec<StreamResponse>,
    ) {
        self.state = state;
        // A list that is ordered by time must not see a task go back in it.
        self.status_at = self.status_at.max(at);
        self.status_message = message;
        if self.revealed {
            out.push(StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
                task_id: self.id.clone(),
                context_id: self.context.clone(),
                status: self.status(),
                metadata: None,
            }));
        }
    }

    /// From now on it is a task.
    fn reveal(&mut self, out: &mut Vec<StreamResponse>) {
        if !self.revealed {
            self.revealed = true;
            out.push(StreamResponse::Task(self.task()));
        }
    }

    fn hear(&mut self, event: &Event, text: &str, out: &mut Vec<StreamResponse>) {
        let speaker = Some((event.branch.clone(), event.step));
        let speech = &mut self.turn.speech;
        if speech.speaker != speaker {
            let begun = speech.begun;
            *speech = Speech { speaker, begun, ..Speech::default() };
        }
        let few = speech.held.len() + text.len() < FIRST_WORDS;
        let first = speech.sent.is_empty() && (few || may_be_no_text(&speech.held, text));
        // A blank at the end is no part of an answer, so it is no last piece of one.
        if !self.revealed || first || text.trim().is_empty() {
            speech.held.push_str(text);
            return;
        }
        let piece = std::mem::replace(&mut speech.held, text.to_owned());
        self.say(piece, false, out);
    }

    /// One more piece of the answer.
    fn say(&mut self, piece: String, last: bool, out: &mut Vec<StreamResponse>) {
        if piece.is_empty() {
            return;
        }
        let append = !self.turn.speech.sent.is_empty();
        self.turn.speech.sent.push_str(&piece);
        self.turn.speech.begun = true;
        out.push(self.artifact_update(vec![Part::text(piece)], append, last));
    }

    /// What was heard of this speaker is void. What was said of it is replaced by what comes.
    fn forget_speech(&mut self, event: &Event) {
        let speech = &mut self.turn.speech;
        if speech.speaker == Some((event.branch.clone(), event.step)) {
            *speech = Speech { begun: speech.begun, ..Speech::default() };
        }
    }

    fn finish(&mut self, event: &Event, outcome: &Outcome, out: &mut Vec<StreamResponse>) {
        let at = milliseconds(event.at);
        let id = event.id.to_string();
        let (answer_id, answer) =
            self.turn.answer.take().unwrap_or_else(|| (id.clone(), String::new()));
        let speech = std::mem::take(&mut self.turn.speech);
        self.turn.questions.clear();
        if outcome.status == OutcomeStatus::Done {
            let parts = parts_of(&answer);
            if !self.revealed {
                let mut message = self.agent_message(&answer_id, String::new());
                message.parts = parts;
                // It is no part of a task that the caller could ask for.
                message.task_id = None;
                self.state = TaskState::Completed;
                self.status_at = self.status_at.max(at);
                self.message = Some(message.clone());
                out.push(StreamResponse::Message(message));
                return;
            }
            self.turn.speech = speech;
            self.finish_answer(&answer, &parts, out);
            let short =
                is_text(&parts) && answer.len() <= SHORT_ANSWER && !answer.trim().is_empty();
            let message = short.then(|| self.agent_message(&answer_id, answer));
            self.set_status(TaskState::Completed, at, message, out);
            return;
        }
        self.reveal(out);
        let (state, text) = match &outcome.status {
            OutcomeStatus::NeedsInput => (TaskState::InputRequired, answer),
            OutcomeStatus::Rejected { reason } => (TaskState::Rejected, words::rejected(reason)),
            OutcomeStatus::Cancelled => (TaskState::Canceled, words::CANCELED.to_owned()),
            OutcomeStatus::TimedOut => (TaskState::Failed, words::TIMED_OUT.to_owned()),
            OutcomeStatus::Failed { class, .. } => {
                (TaskState::Failed, words::failed(*class).to_owned())
            }
            OutcomeStatus::Done => (TaskState::Completed, answer),
        };
        if speech.begun {
            // Words that were taken for an answer were none; what there is to say replaces them.
            out.push(self.artifact_update(vec![Part::text(text.as_str())], false, true));
        }
        let message = self.agent_message(&id, text);
        self.set_status(state, at, Some(message), out);
    }

    /// The last piece of the answer, or the whole of it where what was said is something else.
    fn finish_answer(&mut self, answer: &str, parts: &[Part], out: &mut Vec<StreamResponse>) {
        let sent = &self.turn.speech.sent;
        let rest = answer.strip_prefix(sent.as_str()).filter(|rest| !rest.is_empty());
        match rest {
            Some(rest) if !sent.is_empty() && is_text(parts) => {
                self.say(rest.to_owned(), true, out);
            }
            _ => out.push(self.artifact_update(parts.to_vec(), false, true)),
        }
        self.turn.speech = Speech::default();
        let artifact = self.artifact(parts.to_vec());
        self.artifacts.push(artifact);
    }

    fn artifact(&self, parts: Vec<Part>) -> Artifact {
        let artifact_id = match self.turn.position {
            0 | 1 => "answer".to_owned(),
            later => format!("answer-{later}"),
        };
        Artifact {
            artifact_id,
            name: Some("answer".to_owned()),
            description: None,
            parts,
            metadata: None,
            extensions: None,
        }
    }

    fn artifact_update(&self, parts: Vec<Part>, append: bool, last: bool) -> StreamResponse {
        StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: self.id.clone(),
            context_id: self.context.clone(),
            artifact: self.artifact(parts),
            append: Some(append),
            last_chunk: Some(last),
            metadata: None,
        })
    }

    fn agent_message(&self, id: &str, text: String) -> Message {
        self.a_message(id.to_owned(), Role::Agent, vec![Part::text(text)])
    }

    fn user_message(
        &self,
        text: &str,
        attachment: Option<&str>,
        images: &[ImageReference],
    ) -> Message {
        let mut parts = vec![Part::text(text)];
        parts.extend(attachment.map(Part::text));
        parts.extend(
            images.iter().map(|image| {
                Part::text(format!("({} of {} bytes)", image.media_type, image.bytes))
            }),
        );
        self.a_message(self.turn.message_id.clone(), Role::User, parts)
    }

    fn a_message(&self, message_id: String, role: Role, parts: Vec<Part>) -> Message {
        Message {
            message_id,
            context_id: Some(self.context.clone()),
            task_id: Some(self.id.clone()),
            role,
            parts,
            metadata: None,
            extensions: None,
            reference_task_ids: None,
        }
    }
}

#[cfg(test)]
mod tests;
