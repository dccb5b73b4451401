//! Folds a task from its events, with the same result live, after a restart and in another process.
//! Each event yields stream updates, and a snapshot of the task is available at any time.

use std::collections::BTreeSet;

use a2a::{
    Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState,
    TaskStatus, TaskStatusUpdateEvent,
};
use lango_protocol::{CallId, Event, EventBody, ImageReference, Outcome, OutcomeStatus, Timestamp};

use super::answer::{is_text, parse_parts};
use super::tables::ForcedEnd;
use super::words;

/// Limits the answer that is repeated as the message of the last status.
const MAX_STATUS_ANSWER_BYTES: usize = 4096;
/// The text that is held back before the first chunk is sent: a question becomes a status and not
/// an artifact, and questions are short.
const MIN_FIRST_CHUNK_BYTES: usize = 160;

/// Tells whether text that begins like this may turn out to be data or a file. Such an answer is
/// sent as a whole.
fn may_be_structured(held: &str, more: &str) -> bool {
    const DATA: &str = "```json";
    let begin: String =
        held.chars().chain(more.chars()).skip_while(|c| c.is_whitespace()).collect();
    DATA.starts_with(&begin)
        || begin.starts_with(DATA)
        || (begin.starts_with('[') && !begin.contains('\n'))
}

/// Converts a time to milliseconds, as the wire shows it.
pub(crate) fn to_milliseconds(at: Timestamp) -> i64 {
    at.as_microseconds().div_euclid(1000)
}

/// A task, up to the last applied event.
#[derive(Debug, Clone)]
pub(crate) struct Projection {
    id: String,
    context: String,
    state: TaskState,
    status_at: i64,
    status_message: Option<Message>,
    history: Vec<Message>,
    artifacts: Vec<Artifact>,
    /// True if the caller gets a task; undecided as long as an agent only talks.
    revealed: bool,
    /// The answer, if it is a message and not a task.
    message: Option<Message>,
    turn: NewestTurn,
}

/// The state of the newest turn.
#[derive(Debug, Clone, Default)]
struct NewestTurn {
    position: u32,
    message_id: String,
    /// The final text of the turn, with the id of its event.
    answer: Option<(String, String)>,
    /// The calls that wait for the owner's approval.
    questions: BTreeSet<CallId>,
    speech: StreamedAnswer,
}

/// The streamed text of the agent that may be giving the answer.
#[derive(Debug, Clone, Default)]
struct StreamedAnswer {
    speaker: Option<(Option<CallId>, Option<u32>)>,
    /// The text that was sent to the caller.
    sent: String,
    /// The newest piece, held back until it is known whether it is the last.
    held: String,
    /// True if any text was sent to the caller in this turn, even if it is void by now.
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
            turn: NewestTurn::default(),
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

    /// Returns the answer, if it is a message and not a task.
    pub(crate) fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// Tells whether a call waits for the owner's approval.
    pub(crate) fn waits_for_owner(&self) -> bool {
        !self.turn.questions.is_empty()
    }

    /// Tells whether nothing more happens by itself: the task has ended, or waits for an answer.
    pub(crate) fn is_settled(&self) -> bool {
        self.message.is_some() || self.state.is_terminal() || self.is_interrupted()
    }

    /// Tells whether it waits for the caller or the owner.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self.state, TaskState::InputRequired | TaskState::AuthRequired)
    }

    /// Begins a turn for a further message of the caller.
    pub(crate) fn begin_turn(
        &mut self,
        position: u32,
        message_id: &str,
        at: i64,
    ) -> Vec<StreamResponse> {
        let message_id = message_id.to_owned();
        self.turn = NewestTurn { position, message_id, ..NewestTurn::default() };
        if position == 1 {
            return Vec::new();
        }
        self.history.extend(self.status_message.take());
        let mut out = Vec::new();
        self.set_status(TaskState::Working, at, None, &mut out);
        out
    }

    /// Applies an event and returns its updates for a stream.
    pub(crate) fn apply(&mut self, event: &Event) -> Vec<StreamResponse> {
        let mut out = Vec::new();
        let at = to_milliseconds(event.at);
        match &event.body {
            EventBody::UserMessage { text, attachment, images, .. } => {
                let message = self.build_user_message(text, attachment.as_deref(), images);
                self.history.push(message);
                if self.state == TaskState::Submitted {
                    self.set_status(TaskState::Working, at, None, &mut out);
                }
            }
            EventBody::TextDelta { text, answer: true } => self.add_text(event, text, &mut out),
            EventBody::Setback { .. } => self.discard_speech(event),
            EventBody::Message { text, answer } => {
                if *answer {
                    self.turn.answer = Some((event.id.to_string(), text.clone()));
                } else {
                    self.discard_speech(event);
                }
            }
            EventBody::Transfer { .. } | EventBody::ToolCall { .. } => self.reveal_task(&mut out),
            EventBody::ApprovalRequested { call, tool, .. } => {
                self.reveal_task(&mut out);
                self.turn.questions.insert(call.clone());
                let message =
                    self.build_agent_message(&event.id.to_string(), words::describe_waiting(tool));
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

    /// Ends the task without its turn.
    pub(crate) fn force_end(&mut self, how: ForcedEnd, at: i64) -> Vec<StreamResponse> {
        let mut out = Vec::new();
        let (state, text) = match how {
            ForcedEnd::Canceled => (TaskState::Canceled, words::CANCELED),
            ForcedEnd::Failed => (TaskState::Failed, words::COULD_NOT_BEGIN),
        };
        // The end that was published first wins over a later end of the turn.
        if self.state == state || self.message.is_some() {
            return out;
        }
        self.reveal_task(&mut out);
        let message = self.build_agent_message(&format!("{}-end", self.id), text.to_owned());
        self.turn.questions.clear();
        self.set_status(state, at, Some(message), &mut out);
        out
    }

    /// Returns a snapshot of the task.
    pub(crate) fn snapshot_task(&self) -> Task {
        let mut artifacts = self.artifacts.clone();
        if !self.turn.speech.sent.is_empty() {
            let parts = vec![Part::text(self.turn.speech.sent.as_str())];
            artifacts.push(self.build_artifact(parts));
        }
        Task {
            id: self.id.clone(),
            context_id: self.context.clone(),
            status: self.build_status(),
            artifacts: (!artifacts.is_empty()).then_some(artifacts),
            history: (!self.history.is_empty()).then(|| self.history.clone()),
            metadata: None,
        }
    }

    fn build_status(&self) -> TaskStatus {
        TaskStatus {
            state: self.state.clone(),
            message: self.status_message.clone(),
            timestamp: super::clock::to_wire(self.status_at),
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
        // In a list that is ordered by time, a task must not move backwards.
        self.status_at = self.status_at.max(at);
        self.status_message = message;
        if self.revealed {
            out.push(StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
                task_id: self.id.clone(),
                context_id: self.context.clone(),
                status: self.build_status(),
                metadata: None,
            }));
        }
    }

    /// Turns the reply into a task from now on.
    fn reveal_task(&mut self, out: &mut Vec<StreamResponse>) {
        if !self.revealed {
            self.revealed = true;
            out.push(StreamResponse::Task(self.snapshot_task()));
        }
    }

    fn add_text(&mut self, event: &Event, text: &str, out: &mut Vec<StreamResponse>) {
        let speaker = Some((event.branch.clone(), event.step));
        let speech = &mut self.turn.speech;
        if speech.speaker != speaker {
            let begun = speech.begun;
            *speech = StreamedAnswer { speaker, begun, ..StreamedAnswer::default() };
        }
        let few = speech.held.len() + text.len() < MIN_FIRST_CHUNK_BYTES;
        let first = speech.sent.is_empty() && (few || may_be_structured(&speech.held, text));
        // Trailing blanks are not part of an answer, so they cannot be its last piece.
        if !self.revealed || first || text.trim().is_empty() {
            speech.held.push_str(text);
            return;
        }
        let piece = std::mem::replace(&mut speech.held, text.to_owned());
        self.emit_text(piece, false, out);
    }

    /// Sends one more piece of the answer.
    fn emit_text(&mut self, piece: String, last: bool, out: &mut Vec<StreamResponse>) {
        if piece.is_empty() {
            return;
        }
        let append = !self.turn.speech.sent.is_empty();
        self.turn.speech.sent.push_str(&piece);
        self.turn.speech.begun = true;
        out.push(self.build_artifact_update(vec![Part::text(piece)], append, last));
    }

    /// Discards the text of this speaker. What was already sent is replaced by what follows.
    fn discard_speech(&mut self, event: &Event) {
        let speech = &mut self.turn.speech;
        if speech.speaker == Some((event.branch.clone(), event.step)) {
            *speech = StreamedAnswer { begun: speech.begun, ..StreamedAnswer::default() };
        }
    }

    fn finish(&mut self, event: &Event, outcome: &Outcome, out: &mut Vec<StreamResponse>) {
        let at = to_milliseconds(event.at);
        let id = event.id.to_string();
        let (answer_id, answer) =
            self.turn.answer.take().unwrap_or_else(|| (id.clone(), String::new()));
        let speech = std::mem::take(&mut self.turn.speech);
        self.turn.questions.clear();
        if outcome.status == OutcomeStatus::Done {
            let parts = parse_parts(&answer);
            if !self.revealed {
                let mut message = self.build_agent_message(&answer_id, String::new());
                message.parts = parts;
                // The message does not belong to a task that the caller could query.
                message.task_id = None;
                self.state = TaskState::Completed;
                self.status_at = self.status_at.max(at);
                self.message = Some(message.clone());
                out.push(StreamResponse::Message(message));
                return;
            }
            self.turn.speech = speech;
            self.finish_answer(&answer, &parts, out);
            let short = is_text(&parts)
                && answer.len() <= MAX_STATUS_ANSWER_BYTES
                && !answer.trim().is_empty();
            let message = short.then(|| self.build_agent_message(&answer_id, answer));
            self.set_status(TaskState::Completed, at, message, out);
            return;
        }
        self.reveal_task(out);
        let (state, text) = match &outcome.status {
            OutcomeStatus::NeedsInput => (TaskState::InputRequired, answer),
            OutcomeStatus::Rejected { reason } => {
                (TaskState::Rejected, words::describe_rejection(reason))
            }
            OutcomeStatus::Cancelled => (TaskState::Canceled, words::CANCELED.to_owned()),
            OutcomeStatus::TimedOut => (TaskState::Failed, words::TIMED_OUT.to_owned()),
            OutcomeStatus::Failed { class, .. } => {
                (TaskState::Failed, words::describe_failure(*class).to_owned())
            }
            OutcomeStatus::Done => (TaskState::Completed, answer),
        };
        if speech.begun {
            // Text that was taken for an answer was none; this text replaces it.
            out.push(self.build_artifact_update(vec![Part::text(text.as_str())], false, true));
        }
        let message = self.build_agent_message(&id, text);
        self.set_status(state, at, Some(message), out);
    }

    /// Sends the last piece of the answer, or the whole answer if the sent text differs from it.
    fn finish_answer(&mut self, answer: &str, parts: &[Part], out: &mut Vec<StreamResponse>) {
        let sent = &self.turn.speech.sent;
        let rest = answer.strip_prefix(sent.as_str()).filter(|rest| !rest.is_empty());
        match rest {
            Some(rest) if !sent.is_empty() && is_text(parts) => {
                self.emit_text(rest.to_owned(), true, out);
            }
            _ => out.push(self.build_artifact_update(parts.to_vec(), false, true)),
        }
        self.turn.speech = StreamedAnswer::default();
        let artifact = self.build_artifact(parts.to_vec());
        self.artifacts.push(artifact);
    }

    fn build_artifact(&self, parts: Vec<Part>) -> Artifact {
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

    fn build_artifact_update(&self, parts: Vec<Part>, append: bool, last: bool) -> StreamResponse {
        StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: self.id.clone(),
            context_id: self.context.clone(),
            artifact: self.build_artifact(parts),
            append: Some(append),
            last_chunk: Some(last),
            metadata: None,
        })
    }

    fn build_agent_message(&self, id: &str, text: String) -> Message {
        self.build_message(id.to_owned(), Role::Agent, vec![Part::text(text)])
    }

    fn build_user_message(
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
        self.build_message(self.turn.message_id.clone(), Role::User, parts)
    }

    fn build_message(&self, message_id: String, role: Role, parts: Vec<Part>) -> Message {
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
