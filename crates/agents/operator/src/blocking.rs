//! Moves file operations off the async threads.

use lango_tool::{ToolContext, ToolError};
use tokio_util::sync::CancellationToken;

use crate::workspace::Workspace;

/// Inspects a path in the workspace: on the current thread if that takes no longer than waking up
/// another one, otherwise on a thread that may block.
pub(crate) async fn inspect_path<T: Send + 'static>(
    context: &ToolContext,
    workspace: &Workspace,
    path: &str,
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    if !context.cancel.is_cancelled() && workspace.is_quick_to_read(path) {
        return work(&context.cancel);
    }
    run_blocking(context, work).await
}

/// Runs `work` on a thread that may block.
///
/// The token fires when the turn is cancelled and when the caller's future is dropped; work that
/// can take long checks it. Work that writes does not: a write that began is finished, so that the
/// report matches what happened.
pub(crate) async fn run_blocking<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    if context.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let token = context.cancel.child_token();
    let _stop_when_dropped = token.clone().drop_guard();
    tokio::task::spawn_blocking(move || work(&token))
        .await
        .map_err(|error| ToolError::Failed(format!("the work broke off: {error}")))?
}
