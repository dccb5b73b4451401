//! The commands, one file each.

pub(crate) mod a2a;
pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod callers;
pub(crate) mod chat;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod eval;
mod find;
pub(crate) mod graph;
mod image;
pub(crate) mod ingest;
pub(crate) mod knowledge;
pub(crate) mod mcp;
pub(crate) mod memory;
mod meter;
pub(crate) mod models;
pub(crate) mod processes;
pub(crate) mod prompt;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod skills;
mod table;
pub(crate) mod turn;
pub(crate) mod undo;
pub(crate) mod usage;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use lango_app::config::Config;
use lango_app::{App, LoadOptions, LogOptions, start_logging};

use crate::failure::Failure;
pub(crate) use crate::printer::Printer;
use crate::terminal::Terminal;

/// Holds what every command gets: the application and the printer.
pub(crate) struct CommandContext {
    pub(crate) app: App,
    pub(crate) printer: Printer,
}

impl CommandContext {
    pub(crate) fn load(config_file: Option<PathBuf>, log: LogOptions) -> Result<Self, Failure> {
        let app = App::load(LoadOptions { config_file })?;
        start_logging(&app.home, log)?;
        Ok(Self { app, printer: Printer::new() })
    }

    pub(crate) fn config(&self) -> &Config {
        self.app.config()
    }
}

/// Asks the user to confirm. Without a terminal, the action that `what` names needs `--yes`.
pub(crate) async fn ask_to_confirm(
    printer: Printer,
    question: &str,
    what: &str,
) -> Result<bool, Failure> {
    ask_or_advise(printer, question, &format!("{what} cannot be undone. Say --yes if you mean it"))
        .await
}

/// Asks the user to confirm. Without a terminal, `otherwise` says what to do.
pub(crate) async fn ask_or_advise(
    printer: Printer,
    question: &str,
    otherwise: &str,
) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(otherwise));
    }
    printer.print(&format!("{question} [y/N] "))?;
    io::stdout().flush()?;
    let answer = Terminal::standard_input().line().await.unwrap_or_default();
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
