//! `lango`: arguments in, exit code out. Everything else is in the crates below.

mod arguments;
mod commands;
#[path = "../../app/src/config/mod.rs"]
mod config;
#[path = "../../app/src/confinement.rs"]
mod confinement;
mod display;
mod failure;
#[path = "../../app/src/home.rs"]
mod home;
#[path = "../../app/src/knowledge/mod.rs"]
mod knowledge;
#[path = "../../app/src/mcp/mod.rs"]
mod mcp;
#[path = "../../app/src/memory.rs"]
mod memory;
mod person;
#[path = "../../app/src/provider/mod.rs"]
mod provider;
#[path = "../../app/src/remotes.rs"]
mod remotes;
#[path = "../../app/src/serving.rs"]
mod serving;
#[path = "../../app/src/team.rs"]
mod team;
#[path = "../../app/src/teams.rs"]
mod teams;
mod terminal;
#[path = "../../app/src/web.rs"]
mod web;
#[path = "../../app/src/wiring.rs"]
mod wiring;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Arguments, ChatArguments, Command};
use commands::Setting;
use failure::Failure;

fn main() -> ExitCode {
    // Before everything else: this is paid for with every command.
    if let Some(code) = lango_sandbox::helper_requested() {
        return code;
    }
    if let Some(code) = lango_librarian::documents::reader_requested() {
        return code;
    }
    let arguments = Arguments::parse();
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::from)
        .and_then(|runtime| {
            let code = runtime.block_on(run(arguments));
            // A thread that waits for a line of input must not keep the process.
            runtime.shutdown_background();
            code
        });
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            // With standard error gone there is nobody left to tell.
            let _ = writeln!(io::stderr(), "lango: {}", failure.message);
            failure.exit_code()
        }
    }
}

async fn run(arguments: Arguments) -> Result<u8, Failure> {
    // One TLS implementation for everything; a second call finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let setting = Setting::new(arguments.config.clone());
    match arguments.command {
        None if io::stdin().is_terminal() => {
            commands::chat::chat(&setting?, ChatArguments::default()).await
        }
        None => Err(Failure::usage(format!(
            "no command given.\n\n{}",
            Arguments::command().render_help()
        ))),
        Some(Command::Run(arguments)) => commands::run::run(&setting?, arguments).await,
        Some(Command::Chat(arguments)) => commands::chat::chat(&setting?, arguments).await,
        Some(Command::Resume(arguments)) => commands::resume::resume(&setting?, arguments).await,
        Some(Command::Demo(arguments)) => commands::demo::demo(&setting?, &arguments).await,
        Some(Command::Serve { command: None, arguments }) => {
            commands::serve::serve(&setting?, arguments).await
        }
        Some(Command::Serve { command: Some(command), .. }) => {
            commands::callers::callers(&setting?, command).await
        }
        Some(Command::Agents { command }) => commands::agents::agents(&setting?, command).await,
        Some(Command::Tools { command }) => commands::agents::tools(&setting?, command).await,
        Some(Command::Prompt { command }) => commands::prompt::prompt(&setting?, command).await,
        Some(Command::Sessions { command }) => {
            commands::sessions::sessions(&setting?, command).await
        }
        Some(Command::Knowledge { command }) => {
            commands::knowledge::knowledge(&setting?, command).await
        }
        Some(Command::Ingest(arguments)) => commands::ingest::ingest(&setting?, arguments).await,
        Some(Command::Memory { command }) => commands::memory::memory(&setting?, command).await,
        Some(Command::Documents { command }) => {
            commands::documents::documents(&setting?, command).await
        }
        Some(Command::Graph { command }) => commands::graph::graph(&setting?, command).await,
        Some(Command::Skills { command }) => commands::skills::skills(&setting?, command).await,
        Some(Command::Trust(arguments)) => commands::skills::trust(&setting?, &arguments),
        Some(Command::Ps { all, json }) => {
            commands::processes::processes(&setting?, all, json).await
        }
        Some(Command::Undo(arguments)) => commands::undo::undo(&setting?, arguments).await,
        Some(Command::Approvals { command }) => {
            commands::approvals::approvals(&setting?, command).await
        }
        Some(Command::McpConformanceServer { port }) => {
            commands::mcp::conformance_server::serve(port).await
        }
        Some(Command::McpConformanceClient { url }) => {
            commands::mcp::conformance::client(&url).await
        }
        Some(Command::Mcp { command }) => commands::mcp::mcp(&setting?, command).await,
        Some(Command::A2a { command }) => commands::a2a::a2a(&setting?, command).await,
        Some(Command::Models { command }) => commands::models::models(&setting?, command).await,
        Some(Command::Eval { command }) => commands::eval::eval(&setting?, command).await,
        Some(Command::Usage(arguments)) => commands::usage::usage(&setting?, arguments).await,
        Some(Command::Config { command }) => {
            commands::config::config(setting, arguments.config, command)
        }
        Some(Command::Doctor { deep, json }) => commands::doctor::doctor(setting, deep, json).await,
        Some(Command::Completion { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "lango", &mut script);
            commands::print(&String::from_utf8_lossy(&script))?;
            Ok(failure::ANSWERED)
        }
    }
}
