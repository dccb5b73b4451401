//! `lango serve`: one server for every program that talks to the team.

use std::net::SocketAddr;
use std::sync::Arc;

use lango_app::{HttpServer, HttpServerOptions, Notice, OpenOptions, OwnerOptions, OwnerToken};

use super::run::{team_options, warn_about_workspace};
use super::turn::StopSignals;
use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::ServeArguments;

pub(crate) async fn serve(
    context: &CommandContext,
    arguments: ServeArguments,
) -> Result<ExitStatus, Failure> {
    let ServeArguments { host, port, no_auth, new_token, expose, tools, team } = arguments;
    let options = HttpServerOptions {
        host,
        port,
        expose,
        tools,
        owner: OwnerOptions { open: no_auth, new_token },
        version: env!("CARGO_PKG_VERSION"),
    };
    let server = HttpServer::new(&context.config().server, options)?;
    let (team, models) = team_options(team);
    warn_about_workspace(context.printer, &team)?;
    let notice = notice_printer(context.printer);
    let assembly = context.app.open(OpenOptions::new(team, models)).await?;
    let serving = assembly.serve(server.serve_options(Arc::clone(&notice))).await?;
    let mut signals = StopSignals::new()?;
    let announce = |address, owner: &OwnerToken| {
        Ok(context.printer.print(&render_introduction(address, owner))?)
    };
    let stop = async {
        signals.next().await;
        notice("ending; turns that run have 10 seconds");
    };
    server.run::<Failure>(&context.app, serving, announce, stop).await?;
    Ok(ExitStatus::Success)
}

/// Returns a function that shows a line to the operator of the machine.
pub(super) fn notice_printer(printer: Printer) -> Notice {
    Arc::new(move |line: &str| printer.note(&lango_text::make_visible(line)))
}

/// Describes the endpoints, and how a client authenticates.
fn render_introduction(address: SocketAddr, owner: &OwnerToken) -> String {
    let mut text = format!("Lango serves at http://{address}\n");
    let places = [
        ("OpenAI wire", "/v1", "any OpenAI client, model lango"),
        ("MCP", "/mcp", "any MCP client, streamable HTTP"),
        ("A2A", "/.well-known/agent-card.json", "other agents"),
        ("health", "/health", ""),
    ];
    for (name, path, what) in places {
        let line = format!("  {name:<12} http://{address}{path:<8} {what}");
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    match owner {
        OwnerToken::New(token) => {
            text.push_str(&format!(
                "Your token, which is not shown again (for a new one: lango serve --new-token):\n  \
                 {}\n",
                token.reveal()
            ));
        }
        OwnerToken::Before => text.push_str(
            "Your token is the one printed before; for a new one: lango serve --new-token\n",
        ),
        OwnerToken::Configured(_) => text.push_str("Your token is the configured one\n"),
        OwnerToken::Open => {
            text.push_str("No token: every program on this machine is let in as you\n");
        }
    }
    if !address.ip().is_loopback() {
        text.push_str(
            "Other machines reach this address, without encryption: put a proxy with TLS before it\n",
        );
    }
    text.push_str("Ctrl-C ends it\n");
    text
}
