//! What a person and the rules are shown of a command before it may run.

use std::path::PathBuf;

use lango_shell_command::{CommandStep, read};
use lango_tool::{Proposal, Step, visible, visible_lines};

use super::launch::Launcher;
use super::scripts::{Content, Script, look};
use crate::Workspace;

/// Bytes of a script that are shown whole. A longer one is named, with its digest.
const SHOWN: usize = 4 * 1024;
/// Hexadecimal digits of a digest that people compare.
const DIGITS: usize = 12;

/// The proposal to run a command; `manner` says for how long.
pub(super) fn proposal(
    workspace: &Workspace,
    launcher: &Launcher,
    command: &str,
    cwd: Option<&str>,
    manner: &str,
) -> Proposal {
    let located = workspace.locate(cwd.unwrap_or("."));
    let directory = located.and_then(|directory| workspace.directory_path(&directory));
    let place = match &directory {
        Ok(path) => visible(&path.to_string_lossy()),
        Err(error) => format!("{} (will be refused: {error})", visible(cwd.unwrap_or("."))),
    };
    let reading = read(command);
    let look = |directory: PathBuf| look(&directory, &reading.scripts);
    // Without a directory nothing will run.
    let scripts = directory.map(look).unwrap_or_default();
    let summary = format!(
        "Run in {place}, {manner}:\n{}{}\n{}\nvariables: {}",
        visible_lines(command, "  $ "),
        shown(&scripts),
        visible(&launcher.confinement()),
        visible(&launcher.variables().join(" ")),
    );
    let unreadable = reading.unreadable.or_else(|| scripts.iter().find_map(Script::unreadable));
    let bound = scripts.iter().map(Script::bound).collect();
    let steps = reading.steps.into_iter().map(step).collect();
    Proposal { summary, steps, unreadable, bound, always_ask: None }
}

/// A step of a command as rules and people look at it.
fn step(CommandStep { words, exact_only }: CommandStep) -> Step {
    Step { words, exact_only }
}

/// The scripts as a person sees them, each on lines of its own.
fn shown(scripts: &[Script]) -> String {
    let mut shown: String = scripts.iter().filter_map(content).collect();
    let missing = |script: &&Script| matches!(script.content, Content::Missing);
    let missing: Vec<_> = scripts.iter().filter(missing).map(|it| visible(&it.path)).collect();
    if !missing.is_empty() {
        shown.push_str(&format!("\nruns files that are not there now: {}", missing.join(", ")));
    }
    shown
}

/// A script with what is in it, if it is there.
fn content(script: &Script) -> Option<String> {
    let path = visible(&script.path);
    let bytes = match &script.content {
        Content::Read(bytes) => bytes,
        Content::Missing => return None,
        Content::NotRead(reason) => return Some(format!("\nruns the file {path}, which {reason}")),
    };
    let digest = script.digest();
    let digest = digest.get(..DIGITS).unwrap_or(&digest);
    let first = format!("\nruns the file {path}, {} bytes, SHA-256 {digest}…", bytes.len());
    Some(match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= SHOWN => {
            format!("{first}:\n{}", visible_lines(text.strip_suffix('\n').unwrap_or(text), "  | "))
        }
        Ok(_) => format!("{first}; it is too long to be shown here"),
        Err(_) => format!("{first}; it is not a text"),
    })
}
