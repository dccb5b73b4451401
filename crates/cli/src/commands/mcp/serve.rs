//! `lango mcp serve`: the team for one MCP client, over standard input and output.

use std::sync::Arc;
use std::time::Duration;

use lango_app::{OpenOptions, ServeOptions};
use lango_mcp::server::{TeamServer, serve_stdio};
use lango_runtime::OWNER;
use tokio_util::sync::CancellationToken;

use crate::commands::CommandContext;
use crate::commands::run::team_options;
use crate::commands::serve::notice_printer;
use crate::commands::turn::StopSignals;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::McpServeArguments;

/// Limits how long turns may take to end when the client has gone.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Serves the client. Standard output carries only the protocol; messages for the user go to
/// standard error, which clients log.
pub(super) async fn serve(
    context: &CommandContext,
    arguments: McpServeArguments,
) -> Result<ExitStatus, Failure> {
    let (team, models) = team_options(arguments.team);
    let assembly = context.app.open(OpenOptions::new(team, models)).await?;
    let options = ServeOptions {
        expose: Vec::new(),
        tools: arguments.tools,
        secrets: Vec::new(),
        notice: notice_printer(context.printer),
    };
    let serving = assembly.serve(options).await?;
    let caller = OWNER.parse()?;
    let server = TeamServer::new(caller, serving.teams.clone(), serving.teams.clone());
    let stop = CancellationToken::new();
    let mut signals = StopSignals::new()?;
    let signalled = stop.clone();
    let listening = tokio::spawn(async move {
        signals.next().await;
        signalled.cancel();
    });
    let outcome = serve_stdio(server, stop).await;
    listening.abort();
    // A turn whose client has gone is stopped, and the journal records that.
    let teams = Arc::clone(&serving.teams);
    let ending = async {
        while teams.count_running_turns() > 0 {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    // Work that does not end in time is in the journal and can be resumed.
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, ending).await;
    serving.end().await;
    outcome?;
    Ok(ExitStatus::Success)
}
