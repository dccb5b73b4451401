//! Implements the tool `answer_ask`, which sends a message to the team and returns its answer.

use lango_protocol::{Caller, EventBody, MessageOrigin, Outcome, OutcomeStatus, Sender, SessionId};
use lango_runtime::{OWNER, Runtime, TurnHandle, TurnRequest, outcome_for_clients, owns_session};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use rmcp::service::{RequestContext, RoleServer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::progress::Progress;
use super::team_server::{StopSignals, internal_error, parse_arguments, schema_of};

pub(super) const ASK: &str = "ask";

/// Limits the size of a message.
const MAX_MESSAGE_BYTES: usize = 1024 * 1024;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskArguments {
    /// What the team should do or answer.
    message: String,
    /// The session of an earlier answer, to go on with that conversation. A new one begins without it.
    session: Option<String>,
}

/// The result of the request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Reply")]
struct AskReply {
    /// The answer of the team.
    answer: String,
    /// The conversation, to go on with.
    session: String,
    /// The agent that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// `done`, `needs_input` (the answer is a question: answer it in the same session), `rejected`,
    /// `failed`, `timed_out` or `cancelled`.
    outcome: &'static str,
}

pub(super) fn declare_ask_tool() -> Result<Tool, ErrorData> {
    let description = "Asks a team of agents that work on the machine of their owner, with tools of \
                       their own: files, commands, web pages, documents, memory. They plan, act and \
                       answer in words. What needs the owner's approval waits for it.";
    let mut tool = Tool::new(ASK, description, schema_of::<AskArguments>()?);
    tool.title = Some("Ask the team".to_owned());
    tool.output_schema = Some(schema_of::<AskReply>()?);
    tool.annotations = Some(ToolAnnotations::new().read_only(false).open_world(true));
    Ok(tool)
}

pub(super) async fn answer_ask(
    runtime: &Runtime,
    caller: &Caller,
    given: Value,
    context: &RequestContext<RoleServer>,
    signals: &StopSignals,
) -> Result<CallToolResult, ErrorData> {
    let AskArguments { message, session } = parse_arguments(given)?;
    if message.trim().is_empty() || message.len() > MAX_MESSAGE_BYTES {
        let words = "the message must not be empty, and not longer than 1 MiB";
        return Err(ErrorData::invalid_params(words, None));
    }
    let session = match session {
        None => SessionId::generate(),
        Some(name) => {
            let found: Option<SessionId> = name.parse().ok();
            match found {
                Some(session)
                    if owns_session(runtime.journal(), caller, &session)
                        .await
                        .map_err(internal_error)? =>
                {
                    session
                }
                _ => return Ok(no_session_result()),
            }
        }
    };
    let request = TurnRequest {
        sender: sender_of_caller(caller),
        ..TurnRequest::new(session, message, MessageOrigin::Mcp)
    };
    let ended = follow_turn(runtime.start_turn(request), caller, context, signals).await?;
    Ok(ended.result(caller))
}

/// Returns the same error for a session that does not exist and for one of another caller.
fn no_session_result() -> CallToolResult {
    let words = "there is no such session. Leave it out to start a new one";
    CallToolResult::error(vec![ContentBlock::text(words)])
}

/// Returns the sender of a message. The owner's messages are the user's and have none.
pub(super) fn sender_of_caller(caller: &Caller) -> Option<Sender> {
    (caller.as_str() != OWNER).then(|| Sender {
        caller: caller.clone(),
        message: None,
        trace: None,
    })
}

/// Holds a turn that has ended.
pub(super) struct FinishedTurn {
    session: SessionId,
    agent: Option<String>,
    answer: String,
    outcome: Outcome,
    /// The last call of the turn.
    pub(super) last_call: Option<LastCall>,
}

pub(super) struct LastCall {
    pub(super) status: lango_protocol::CallStatus,
    pub(super) output: String,
    pub(super) full_output: Option<String>,
}

/// Follows a turn to its end. A request that is cancelled, or whose session is closed, stops the
/// turn.
pub(super) async fn follow_turn(
    mut handle: TurnHandle,
    caller: &Caller,
    context: &RequestContext<RoleServer>,
    signals: &StopSignals,
) -> Result<FinishedTurn, ErrorData> {
    let mut progress = Progress::of(caller, context);
    let session = handle.session().clone();
    let stopped = handle.canceller().drop_guard();
    let (mut agent, mut answer, mut last_call) = (None, String::new(), None);
    let mut cancelled = false;
    loop {
        let event = tokio::select! {
            biased;
            () = signals.closing.cancelled() => {
                stopped.disarm();
                return Err(internal_error("the server is shutting down"));
            }
            () = context.ct.cancelled(), if !cancelled => {
                cancelled = true;
                handle.cancel();
                continue;
            }
            () = signals.gone.cancelled(), if !cancelled => {
                cancelled = true;
                handle.cancel();
                continue;
            }
            event = handle.next_event() => event,
        };
        let Some(event) = event else { break };
        progress.notify(&event).await;
        match event.body {
            EventBody::Message { text, answer: true } => {
                agent = event.author;
                answer = text;
            }
            EventBody::ToolResult { status, output, full_output, .. } => {
                last_call = Some(LastCall { status, output, full_output });
            }
            _ => {}
        }
    }
    let outcome = handle.wait_for_outcome().await.map_err(internal_error)?;
    stopped.disarm();
    Ok(FinishedTurn { session, agent, answer, outcome, last_call })
}

impl FinishedTurn {
    pub(super) fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the text for a caller.
    pub(super) fn words(&self, caller: &Caller) -> &str {
        if !self.outcome.is_done() && caller.as_str() != OWNER {
            return outcome_for_clients(&self.outcome);
        }
        &self.answer
    }

    fn result(mut self, caller: &Caller) -> CallToolResult {
        let done = self.outcome.is_done();
        if !done && caller.as_str() != OWNER {
            outcome_for_clients(&self.outcome).clone_into(&mut self.answer);
        }
        let outcome = match self.outcome.status {
            OutcomeStatus::Done => "done",
            OutcomeStatus::NeedsInput => "needs_input",
            OutcomeStatus::Rejected { .. } => "rejected",
            OutcomeStatus::Failed { .. } => "failed",
            OutcomeStatus::TimedOut => "timed_out",
            OutcomeStatus::Cancelled => "cancelled",
        };
        let content = vec![ContentBlock::text(self.answer.clone())];
        let reply = AskReply {
            answer: self.answer,
            session: self.session.to_string(),
            agent: self.agent,
            outcome,
        };
        let mut result =
            if done { CallToolResult::success(content) } else { CallToolResult::error(content) };
        // Texts always have a form in JSON.
        result.structured_content = serde_json::to_value(reply).ok();
        result
    }
}
