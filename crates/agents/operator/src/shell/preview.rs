//! What a person and the rules are shown of a command before it may run.

use lango_tool::{Proposal, visible, visible_lines};

use super::launch::Launcher;
use crate::Workspace;

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
    let summary = format!(
        "Run in {place}, {manner}:\n{}\n{}\nvariables: {}",
        visible_lines(command, "  $ "),
        visible(&launcher.confinement()),
        visible(&launcher.variables().join(" ")),
    );
    Proposal::plain(summary)
}
