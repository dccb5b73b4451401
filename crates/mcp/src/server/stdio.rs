//! Serves MCP over standard input and output.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::TeamServer;
use super::team_server::StopSignals;

/// The reason why no client was served.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The client did not start as the protocol requires.
    #[error(
        "the program at the other end did not begin as MCP says: {0}. This command is started by an \
         MCP client: put `lango mcp serve` into its configuration"
    )]
    Beginning(Box<ServerInitializeError>),
    /// The task of the connection panicked.
    #[error("the connection ended unexpectedly: {0}. Please report this")]
    Broken(String),
}

/// Limits how long answers may still be sent after the input has ended, for scripts that send
/// everything at once. Clients that stop a server wait about two seconds before they kill it.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Detects the end of the input. The protocol library would wait for running calls first.
struct EndDetector<R> {
    input: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for EndDetector<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.input).poll_read(context, buffer);
        let nothing = buffer.filled().len() == before && buffer.remaining() > 0;
        if matches!(&read, Poll::Ready(result) if result.is_err() || nothing) {
            self.ended.cancel();
        }
        read
    }
}

/// Serves one client until its input ends, or until `stop`.
pub async fn serve_stdio(server: TeamServer, stop: CancellationToken) -> Result<(), StdioError> {
    let (input, output) = rmcp::transport::stdio();
    let signals = StopSignals::default();
    let server = server.with_signals(signals.clone());
    let ended = CancellationToken::new();
    let transport = (EndDetector { input, ended: ended.clone() }, output);
    let stopped = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = stopped.cancelled() => {}
            () = ended.cancelled() => tokio::time::sleep(DRAIN_TIMEOUT).await,
        }
        signals.gone.cancel();
    });
    let begun = tokio::select! {
        begun = server.serve(transport) => begun,
        () = stop.cancelled() => return Ok(()),
    };
    let running = match begun {
        Ok(running) => running,
        // A client may close the connection before it sends anything.
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
