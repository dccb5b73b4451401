//! Makes the work of steps, and the entries that tell people about runs.

use lango_model::UserMessage;
use lango_protocol::{
    AgentName, DirectCall, MessageOrigin, Sender, SessionId, Space, Timestamp, TurnId,
};
use lango_runtime::{TurnInput, TurnRequest, store_work_request};
use lango_store::{WorkItem, WorkState};
use lango_text::to_one_line;
use lango_workflow::{Action, RenderedMessage, Step, Values};

use super::run::WorkflowRun;
use super::step::{StepRow, WHOLE};
use super::{WORKFLOW_KIND, WORKFLOW_QUESTION_KIND, WORKFLOW_RUN_KIND};
use crate::AutomatorError;

/// Limits the characters of a title.
const MAX_TITLE_CHARACTERS: usize = 60;

/// What a step does, with every template filled in.
pub(crate) enum FilledAction {
    Message(UserMessage),
    Call { tool: String, arguments: String, carries_foreign_text: bool },
}

impl FilledAction {
    /// Fills in the templates of a step.
    pub(crate) fn of(step: &Step, values: &Values) -> Result<Option<Self>, AutomatorError> {
        Ok(match &step.action {
            Action::Task { agent, task } => {
                let RenderedMessage { mut text, attachment } =
                    task.render_message(values, step.has_foreign_items())?;
                if let Some(agent) = agent {
                    text.push_str(&format!("\n\n(This is a task for the agent {agent}.)"));
                }
                Some(Self::Message(UserMessage { attachment, ..UserMessage::new(text) }))
            }
            Action::Call { tool, arguments } => Some(Self::Call {
                tool: tool.clone(),
                arguments: arguments.render(values)?.to_string(),
                carries_foreign_text: step.passes_on_outputs(),
            }),
            Action::Approval => None,
        })
    }

    /// Describes it for the record of the run.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Message(message) => message.rendered().into_owned(),
            Self::Call { tool, arguments, .. } => format!("{tool} {arguments}"),
        }
    }

    pub(crate) fn tool(&self) -> Option<&str> {
        match self {
            Self::Call { tool, .. } => Some(tool),
            Self::Message(_) => None,
        }
    }

    /// Returns the input of a turn. A call is made by the agent that owns the tool.
    pub(crate) fn into_input(self, owner: Option<AgentName>) -> Option<TurnInput> {
        Some(match self {
            Self::Message(message) => TurnInput::Message(message),
            Self::Call { tool, arguments, carries_foreign_text } => {
                let agent = owner?;
                TurnInput::Call(DirectCall { agent, tool, arguments, carries_foreign_text })
            }
        })
    }
}

/// Returns the id of the work of an attempt, which is also the name of its session. The same attempt
/// has the same id in every process.
fn work_id(run: &str, row: &StepRow) -> String {
    let mut id = format!("{run}.{}", row.step);
    if row.item != WHOLE {
        id.push_str(&format!(".{}", row.item));
    }
    if row.attempt > 1 {
        id.push_str(&format!(".a{}", row.attempt));
    }
    id
}

/// Returns the work of the current attempt of a step.
pub(crate) fn build_step_work(
    run: &WorkflowRun,
    row: &StepRow,
    input: TurnInput,
    now: Timestamp,
) -> Result<WorkItem, AutomatorError> {
    let id = work_id(&run.id, row);
    let session = parse_session(&id)?;
    let turn = TurnId::generate();
    let sender = match &run.space {
        Space::Owner => None,
        Space::Client(caller) => {
            Some(Sender { caller: caller.clone(), message: None, trace: None })
        }
    };
    let request = TurnRequest {
        turn,
        sender,
        ..TurnRequest::new(session.clone(), input, MessageOrigin::Work)
    };
    let title = format!("{}: {}", run.name, row.name());
    let entry = build_entry(run, id, WORKFLOW_KIND, session, turn, &title, now);
    Ok(WorkItem { request: store_work_request(&request)?, reply_to: None, ..entry })
}

/// Returns the entry that tells the end of a run to those who asked for it.
pub(crate) fn build_run_end(
    run: &WorkflowRun,
    state: WorkState,
    result: String,
    now: Timestamp,
) -> Result<WorkItem, AutomatorError> {
    // A run that was tried again ends again.
    let id = match run.ended_at {
        None => run.id.clone(),
        Some(_) => format!("{}@{}", run.id, run.revision),
    };
    let entry = build_told(run, id, WORKFLOW_RUN_KIND, result, now)?;
    Ok(WorkItem { state, ..entry })
}

/// Returns the entry that tells that a run waits for a person.
pub(crate) fn build_question(
    run: &WorkflowRun,
    row: &StepRow,
    text: String,
    now: Timestamp,
) -> Result<WorkItem, AutomatorError> {
    let id = format!("{}.{}@{}", run.id, row.name(), run.revision);
    build_told(run, id, WORKFLOW_QUESTION_KIND, text, now)
}

fn build_told(
    run: &WorkflowRun,
    id: String,
    kind: &str,
    result: String,
    now: Timestamp,
) -> Result<WorkItem, AutomatorError> {
    let session = parse_session(&run.id)?;
    let entry = build_entry(run, id, kind, session, TurnId::generate(), &run.name, now);
    let (started_at, ended_at) = (Some(now), Some(now));
    Ok(WorkItem { state: WorkState::Done, result, started_at, ended_at, ..entry })
}

fn parse_session(id: &str) -> Result<SessionId, AutomatorError> {
    id.parse().map_err(|error: lango_protocol::InvalidName| {
        AutomatorError::Refused(format!("a step cannot have a session: {error}"))
    })
}

fn build_entry(
    run: &WorkflowRun,
    id: String,
    kind: &str,
    session: SessionId,
    turn: TurnId,
    title: &str,
    now: Timestamp,
) -> WorkItem {
    WorkItem {
        id,
        kind: kind.to_owned(),
        parent: run.id.clone(),
        space: run.space.clone(),
        workspace: run.workspace.clone(),
        depth: run.depth,
        session,
        turn,
        request: String::new(),
        title: to_one_line(title, MAX_TITLE_CHARACTERS),
        state: WorkState::Waiting,
        due_at: now,
        created_at: now,
        started_at: None,
        ended_at: None,
        result: String::new(),
        reply_to: run.session.clone(),
        is_cancelled: false,
    }
}
