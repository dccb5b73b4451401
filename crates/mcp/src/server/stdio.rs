//! MCP over standard input and output.

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio_util::sync::CancellationToken;

use super::TeamServer;

/// Why nothing was served.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The client did not begin as the protocol says.
    #[error(
        "the program at the other end did not begin as MCP says: {0}. This command is started by an \
         MCP client: put `lango mcp serve` into its configuration"
    )]
    Beginning(Box<ServerInitializeError>),
    /// The task of the connection broke down.
    #[error("the connection ended unexpectedly: {0}. Please report this")]
    Broken(String),
}

/// Serves one client until its input ends, or until `stop`.
pub async fn serve_stdio(server: TeamServer, stop: CancellationToken) -> Result<(), StdioError> {
    let transport = rmcp::transport::stdio();
    let begun = tokio::select! {
        begun = server.serve(transport) => begun,
        () = stop.cancelled() => return Ok(()),
    };
    let running = match begun {
        Ok(running) => running,
        // A client that leaves before it said anything has changed its mind.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError::Beginning(Box::new(error))),
    };
    let closer = running.cancellation_token();
    let waiting = running.waiting();
    tokio::pin!(waiting);
    let ended = tokio::select! {
        ended = &mut waiting => ended,
        () = stop.cancelled() => {
            closer.cancel();
            waiting.await
        }
    };
    ended.map(|_| ()).map_err(|error| StdioError::Broken(error.to_string()))
}
