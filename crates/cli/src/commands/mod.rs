//! The commands, one file each.

pub(crate) mod a2a;
pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod background;
pub(crate) mod backup;
pub(crate) mod callers;
pub(crate) mod chat;
pub(crate) mod config;
pub(crate) mod cron;
pub(crate) mod daemon;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod eval;
mod find;
pub(crate) mod graph;
pub(crate) mod help;
mod image;
pub(crate) mod ingest;
pub(crate) mod knowledge;
pub(crate) mod mcp;
pub(crate) mod memory;
mod meter;
pub(crate) mod models;
pub(crate) mod notify;
pub(crate) mod processes;
pub(crate) mod prompt;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod secrets;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod skills;
pub(crate) mod turn;
pub(crate) mod undo;
pub(crate) mod usage;
pub(crate) mod vault;
pub(crate) mod wallet;
pub(crate) mod worker;
pub(crate) mod workflow;
mod workflow_progress;

use std::path::PathBuf;

use lango_app::config::Config;
use lango_app::{App, LoadOptions, LogOptions, start_logging};

use crate::failure::Failure;
pub(crate) use lango_terminal::Printer;
use lango_terminal::{Choice, Choices, Terminal};
use turn::StopSignals;

/// Holds what every command gets: the application and the printer.
pub(crate) struct CommandContext {
    pub(crate) app: App,
    pub(crate) printer: Printer,
}

impl CommandContext {
    pub(crate) fn load(
        config_file: Option<PathBuf>,
        log: LogOptions,
        printer: Printer,
    ) -> Result<Self, Failure> {
        let app = App::load(LoadOptions { config_file })?;
        start_logging(&app.home, log, &app.scrubber)?;
        for variable in &app.loaded.unknown_variables {
            printer.note(&format!("warning: {variable}"));
        }
        Ok(Self { app, printer })
    }

    pub(crate) fn config(&self) -> &Config {
        self.app.config()
    }
}

/// Asks for a text that is not shown while it is typed.
pub(crate) async fn ask_hidden(terminal: &Terminal, prompt: &str) -> Result<String, Failure> {
    // The terminal gets its modes back before a signal ends the process.
    let mut signals = StopSignals::new()?;
    tokio::select! {
        typed = terminal.ask_secret(prompt) => {
            typed.ok_or_else(|| Failure::usage("nothing was typed; nothing was changed"))
        }
        status = signals.next() => {
            Err(Failure { status, message: "stopped before there was an answer".to_owned() })
        }
    }
}

/// Asks the user to confirm. Without a terminal, the action that `what` names needs `--yes`.
pub(crate) async fn ask_to_confirm(question: &str, what: &str) -> Result<bool, Failure> {
    ask_or_advise(question, &format!("{what} cannot be undone. Say --yes if you mean it")).await
}

/// Asks the user to confirm. Without a terminal, `otherwise` says what to do.
pub(crate) async fn ask_or_advise(question: &str, otherwise: &str) -> Result<bool, Failure> {
    let Some(terminal) = Terminal::on_standard_input() else {
        return Err(Failure::usage(otherwise));
    };
    // The terminal gets its modes back before a signal ends the process.
    let mut signals = StopSignals::new()?;
    tokio::select! {
        choice = terminal.ask(question, Choices::YesNo) => Ok(choice == Some(Choice::Yes)),
        status = signals.next() => {
            Err(Failure { status, message: "stopped before there was an answer".to_owned() })
        }
    }
}
