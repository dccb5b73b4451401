//! File work off the async threads.

use lango_tool::{ToolContext, ToolError};
use tokio_util::sync::CancellationToken;

use crate::workspace::Workspace;

/// Looks at something in the workspace: on the spot where that takes no longer than waking up a
/// thread for it, otherwise on a thread that may block.
pub(crate) async fn look<T: Send + 'static>(
    context: &ToolContext,
    workspace: &Workspace,
    path: &str,
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    if !context.cancel.is_cancelled() && workspace.is_brief(path) {
        return work(&context.cancel);
    }
    blocking(context, work).await
}

/// Runs `work` on a thread that may block.
///
/// The token fires when the turn is cancelled and when the caller's future is dropped; work that
/// can take long looks at it. Work that writes does not: a write that began is finished, so that
/// what is reported is what happened.
pub(crate) async fn blocking<T: Send + 'static>(
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
