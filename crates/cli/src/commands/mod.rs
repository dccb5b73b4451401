//! The commands, one file each.

pub(crate) mod a2a;
pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod callers;
mod calls;
pub(crate) mod chat;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod eval;
mod find;
pub(crate) mod graph;
mod hear;
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

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use crate::config::{Config, Loaded, load};
use crate::failure::Failure;
use crate::home::Home;
use crate::terminal::Terminal;

/// The configuration and where files are: what every command starts from.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) home: Home,
    pub(crate) loaded: Loaded,
}

impl Setting {
    pub(crate) fn new(config: Option<PathBuf>) -> Result<Self, Failure> {
        let explicit = config.clone();
        let home = Home::find(config).map_err(Failure::usage)?;
        if let Some(path) = explicit.filter(|path| !path.exists()) {
            return Err(Failure::usage(format!("there is no file {}", path.display())));
        }
        // A variable that is not text is some other program's, or will not fit its key.
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        let variables = env::vars_os().map(|(name, value)| (text(name), text(value)));
        let loaded = load(&home.config_file, variables)?;
        Ok(Self { home, loaded })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.loaded.config
    }
}

/// Prints to standard output. A closed pipe is a reader that has seen enough.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// Says something beside the answer, on standard error.
pub(crate) fn tell(text: &str) {
    // With standard error gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "lango: {text}");
}

/// Asks a person for a yes. Without one at the terminal, whatever `what` says needs `--yes`.
pub(crate) async fn confirmed(question: &str, what: &str) -> Result<bool, Failure> {
    asked(question, &format!("{what} cannot be undone. Say --yes if you mean it")).await
}

/// Asks a person for a yes. Without one at the terminal, `otherwise` says what to do.
pub(crate) async fn asked(question: &str, otherwise: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(otherwise));
    }
    print(&format!("{question} [y/N] "))?;
    io::stdout().flush()?;
    let answer = Terminal::standard_input().line().await.unwrap_or_default();
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Prints a value as indented JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    print(&format!("{text}\n"))
}
