//! `lango`: arguments in, exit status out. What commands do is in `lango-app` and the crates below
//! it.

mod commands;
mod failure;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use lango_app::LogOptions;

use commands::{CommandContext, Printer};
use failure::{ExitStatus, Failure};
use lango_arguments::{Arguments, ChatArguments, Command};

fn main() -> ExitCode {
    // The helper is started with every command, so this comes before everything else.
    if let Some(code) = lango_sandbox::run_helper_if_requested() {
        return code;
    }
    if let Some(code) = lango_librarian::documents::run_reader_if_requested() {
        return code;
    }
    // From here on there can be secrets in memory.
    lango_keystore::protect_process_memory();
    let arguments = Arguments::parse();
    let printer = Printer::new(arguments.raw);
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::from)
        .and_then(|runtime| {
            let code = runtime.block_on(run(arguments, printer));
            // A thread that waits for a line of input must not keep the process running.
            runtime.shutdown_background();
            code
        });
    // Commands in the background end with the program, and leave nothing behind.
    for planted in lango_sandbox::end_all_jobs() {
        printer.note(&planted.to_string());
    }
    lango_terminal::restore_terminal();
    match outcome {
        Ok(status) => status.into(),
        Err(failure) => {
            printer.note(&failure.message);
            failure.status.into()
        }
    }
}

async fn run(arguments: Arguments, printer: Printer) -> Result<ExitStatus, Failure> {
    // All crates share one TLS implementation; a second call finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let log = LogOptions {
        verbosity: arguments.verbose,
        to_file: matches!(
            arguments.command,
            Some(Command::Serve { command: None, .. } | Command::Worker(_))
        ),
    };
    let context = CommandContext::load(arguments.config.clone(), log, printer);
    let databases = context.as_ref().ok().map(|context| context.app.databases.clone());
    let status = Box::pin(run_command(arguments, context, printer)).await;
    if let Some(databases) = databases {
        databases.close().await;
    }
    status
}

async fn run_command(
    arguments: Arguments,
    context: Result<CommandContext, Failure>,
    printer: Printer,
) -> Result<ExitStatus, Failure> {
    match arguments.command {
        None if io::stdin().is_terminal() => {
            Box::pin(commands::chat::chat(&context?, ChatArguments::default())).await
        }
        None => Err(Failure::usage(format!(
            "no command given.\n\n{}",
            Arguments::command().render_help()
        ))),
        Some(Command::Help { words }) => commands::help::help(printer, &words),
        Some(Command::Run(arguments)) => Box::pin(commands::run::run(&context?, arguments)).await,
        Some(Command::Chat(arguments)) => {
            Box::pin(commands::chat::chat(&context?, arguments)).await
        }
        Some(Command::Resume(arguments)) => {
            Box::pin(commands::resume::resume(&context?, arguments)).await
        }
        Some(Command::Demo(arguments)) => commands::demo::demo(&context?, &arguments).await,
        Some(Command::Serve { command: None, arguments }) => {
            commands::serve::serve(&context?, arguments).await
        }
        Some(Command::Serve { command: Some(command), .. }) => {
            commands::callers::callers(&context?, command).await
        }
        Some(Command::Agents { command }) => commands::agents::agents(&context?, command).await,
        Some(Command::Tools { command }) => commands::agents::tools(&context?, command).await,
        Some(Command::Prompt { command }) => commands::prompt::prompt(&context?, command).await,
        Some(Command::Sessions { command }) => {
            commands::sessions::sessions(&context?, command).await
        }
        Some(Command::Knowledge { command, space }) => {
            commands::knowledge::knowledge(&context?, command, &space.space()).await
        }
        Some(Command::Ingest(arguments)) => commands::ingest::ingest(&context?, arguments).await,
        Some(Command::Memory { command, space }) => {
            commands::memory::memory(&context?, command, &space.space()).await
        }
        Some(Command::Documents { command, space }) => {
            commands::documents::documents(&context?, command, &space.space()).await
        }
        Some(Command::Cron { command, space }) => {
            Box::pin(commands::cron::cron(&context?, command, &space.space())).await
        }
        Some(Command::Bg { command, space }) => {
            commands::background::background(&context?, command, &space.space()).await
        }
        Some(Command::Workflow { command, space }) => {
            Box::pin(commands::workflow::workflow(&context?, command, &space.space())).await
        }
        Some(Command::Worker(arguments)) => commands::worker::worker(&context?, arguments).await,
        Some(Command::Graph { command, space }) => {
            commands::graph::graph(&context?, command, &space.space()).await
        }
        Some(Command::Skills { command }) => commands::skills::skills(&context?, command).await,
        Some(Command::Trust(arguments)) => commands::skills::trust(&context?, &arguments),
        Some(Command::Ps { all, json }) => {
            commands::processes::processes(&context?, all, json).await
        }
        Some(Command::Undo(arguments)) => commands::undo::undo(&context?, arguments).await,
        Some(Command::Approvals { command }) => {
            commands::approvals::approvals(&context?, command).await
        }
        Some(Command::Mcp { command }) => commands::mcp::mcp(&context?, command).await,
        Some(Command::A2a { command }) => commands::a2a::a2a(&context?, command).await,
        Some(Command::Vault { command }) => commands::vault::vault(&context?, command).await,
        Some(Command::Secrets { command }) => commands::secrets::secrets(&context?, command).await,
        Some(Command::Keys { command }) => commands::vault::keys(&context?, command).await,
        Some(Command::Audit(arguments)) => commands::vault::audit(&context?, &arguments).await,
        Some(Command::Models { command }) => commands::models::models(&context?, command).await,
        Some(Command::Eval { command }) => commands::eval::eval(&context?, command).await,
        Some(Command::Usage(arguments)) => commands::usage::usage(&context?, arguments).await,
        Some(Command::Config { command }) => {
            commands::config::config(context, printer, arguments.config, command)
        }
        Some(Command::Doctor { repair: true, json, .. }) => {
            commands::doctor::repair(&context?, json).await
        }
        Some(Command::Doctor { deep, json, .. }) => {
            Box::pin(commands::doctor::doctor(context, printer, deep, json)).await
        }
        Some(Command::Wallet { command }) => commands::wallet::wallet(&context?, command).await,
        Some(Command::Backup { command }) => commands::backup::backup(&context?, command).await,
        Some(Command::Completion { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "lango", &mut script);
            printer.print(&String::from_utf8_lossy(&script))?;
            Ok(ExitStatus::Success)
        }
    }
}
