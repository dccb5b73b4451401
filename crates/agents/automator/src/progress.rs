//! Says how far a piece of work is that has not ended, from what its turn has done until now.

use lango_protocol::{EventBody, ORCHESTRATOR};
use lango_store::{Journal, StoreError, WorkItem, WorkState};
use lango_text::plural;

/// Describes in a few words what the turn of a piece of work does; none if it does not run.
pub(crate) async fn describe_progress(
    journal: &Journal,
    item: &WorkItem,
) -> Result<Option<String>, StoreError> {
    if item.state != WorkState::Started {
        return Ok(None);
    }
    let (mut agent, mut tool, mut question) = (ORCHESTRATOR.to_owned(), None, None);
    let mut calls = 0;
    for event in journal.read_turn_events(&item.session, item.turn).await? {
        match event.body {
            EventBody::Transfer { to, .. } => agent = to.to_string(),
            EventBody::TransferFinished { .. } => ORCHESTRATOR.clone_into(&mut agent),
            EventBody::ToolCall { tool: called, .. } => tool = Some(called),
            EventBody::ApprovalRequested { call, .. } => question = Some(call),
            EventBody::ApprovalResolved { .. } => question = None,
            EventBody::ToolResult { .. } => {
                calls += 1;
                tool = None;
            }
            _ => {}
        }
    }
    let done = plural(calls, "call", "calls");
    Ok(Some(match (question, tool) {
        (Some(call), Some(tool)) => {
            format!("{done} made; {tool} waits for you: lango approvals show {call}")
        }
        (_, Some(tool)) => format!("{done} made; {agent} runs {tool}"),
        (_, None) => format!("{done} made; {agent} is at work"),
    }))
}
