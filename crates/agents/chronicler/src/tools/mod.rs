//! Defines the chronicler's tools, one file each.

mod forget;
mod list_observations;
mod list_reflections;
mod observe_event;
mod observe_session;
mod reflect_summary;
mod report;
mod search;
mod store;

use lango_protocol::SessionId;
use lango_runtime::find_session_space;
use lango_tool::{ToolContext, ToolError};

use crate::ChroniclerError;
use crate::memory::MemorySystem;

pub(crate) use forget::Forget;
pub(crate) use list_observations::ListObservations;
pub(crate) use list_reflections::ListReflections;
pub(crate) use observe_event::ObserveEvent;
pub(crate) use observe_session::ObserveSession;
pub(crate) use reflect_summary::ReflectSummary;
pub(crate) use search::SearchMemories;
pub(crate) use store::StoreMemory;

/// Returns the session that an argument names, or the current one if it names none.
fn resolve_session(given: Option<&str>, context: &ToolContext) -> Result<SessionId, ToolError> {
    match given.map(str::trim).filter(|name| !name.is_empty()) {
        None => Ok(context.session.clone()),
        Some(name) => name
            .parse()
            .map_err(|error: lango_protocol::InvalidName| ToolError::Arguments(error.to_string())),
    }
}

/// Checks that a session was started by the one whose turn this is. The error is the same whether or
/// not the session exists.
async fn check_session(
    memory: &MemorySystem,
    session: &SessionId,
    context: &ToolContext,
) -> Result<(), ToolError> {
    let space = find_session_space(memory.journal(), session).await;
    if space.map_err(ChroniclerError::from)?.as_ref() == Some(context.space.own()) {
        return Ok(());
    }
    Err(ToolError::Failed(format!("there is no conversation {session}")))
}
