//! Lets clients call tools of single agents: each call is a turn of its own.

use lango_protocol::{CallStatus, Caller, DirectCall, MessageOrigin, SessionId};
use lango_runtime::{Runtime, TurnRequest};
use lango_store::Journal;
use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::OfferedTool;
use super::ask::{FinishedTurn, LastCall, follow_turn, sender_of_caller};
use super::team_server::{StopSignals, internal_error};

/// Limits the output that is returned.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// Holds the free sessions of one connection. A session has one turn at a time, so parallel calls
/// take one session each. The lock is held only to take or return one.
#[derive(Default)]
pub(super) struct FreeSessions(Mutex<Vec<SessionId>>);

impl FreeSessions {
    fn take_session(&self) -> SessionId {
        let mut free = self.0.lock();
        free.pop().unwrap_or_else(SessionId::generate)
    }

    fn return_session(&self, session: SessionId) {
        self.0.lock().push(session);
    }
}

/// Returns a tool as clients see it. The read-only hint comes from the registry.
pub(super) fn describe_tool(offered: &OfferedTool) -> Result<Tool, ErrorData> {
    let declaration = &offered.tool.declaration;
    let schema: Value =
        serde_json::from_str(declaration.parameters.get()).map_err(internal_error)?;
    let Value::Object(schema) = schema else {
        return Err(internal_error("the schema of a tool is not an object"));
    };
    let name = declaration.name.to_string();
    let mut tool = Tool::new(name, declaration.description.to_string(), schema);
    let read_only = offered.tool.read_only;
    tool.annotations = Some(ToolAnnotations::new().read_only(read_only));
    Ok(tool)
}

/// Calls tools for one connection.
pub(super) struct DirectCaller<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) caller: &'a Caller,
    pub(super) free: &'a FreeSessions,
    pub(super) signals: &'a StopSignals,
}

impl DirectCaller<'_> {
    /// Makes one call, which is one turn.
    pub(super) async fn call(
        &self,
        offered: &OfferedTool,
        given: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let call = DirectCall {
            agent: offered.agent.clone(),
            tool: offered.tool.name().to_owned(),
            arguments: given.to_string(),
            carries_foreign_text: false,
        };
        let request = TurnRequest {
            sender: sender_of_caller(self.caller),
            ..TurnRequest::new(self.free.take_session(), call, MessageOrigin::Mcp)
        };
        let turn = self.runtime.start_turn(request);
        let ended = follow_turn(turn, self.caller, context, self.signals).await?;
        let session = ended.session().clone();
        let result = build_result(self.runtime.journal(), &ended, self.caller).await;
        self.free.return_session(session);
        result
    }
}

/// Returns the result of a call, with the full output if it was too long to show to an agent.
async fn build_result(
    journal: &Journal,
    ended: &FinishedTurn,
    caller: &Caller,
) -> Result<CallToolResult, ErrorData> {
    let Some(LastCall { status, output, full_output }) = &ended.last_call else {
        return Ok(CallToolResult::error(vec![ContentBlock::text(ended.words(caller))]));
    };
    let whole = match full_output {
        Some(reference) => {
            journal.read_output(ended.session(), reference).await.map_err(internal_error)?
        }
        None => None,
    };
    let content = vec![ContentBlock::text(bound_text(whole.unwrap_or_else(|| output.clone())))];
    Ok(match status {
        CallStatus::Ok => CallToolResult::success(content),
        _ => CallToolResult::error(content),
    })
}

fn bound_text(mut text: String) -> String {
    if text.len() > MAX_OUTPUT_BYTES {
        let end = (0..=MAX_OUTPUT_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("\n[the output was longer and was cut here]");
    }
    text
}
