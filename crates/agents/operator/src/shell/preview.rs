//! Previews a command for the user and the rules before it may run.

use std::path::Path;

use lango_protocol::Rights;
use lango_sandbox::GrantedRight;
use lango_shell_command::{CommandStep, READING_PROGRAMS, read_command};
use lango_text::{make_lines_visible, make_visible};
use lango_tool::{Proposal, ProposedStep, StepDirectory};

use super::launch::Launcher;
use super::script_preview::ScriptPreview;
use super::scripts::{Script, read_scripts};
use crate::Workspace;

/// Describes a command that was called for.
pub(super) struct CommandCall<'a> {
    pub(super) command: &'a str,
    /// The directory in the workspace; the workspace itself if none is given.
    pub(super) cwd: Option<&'a str>,
    /// The rights beyond the sandbox.
    pub(super) rights: &'a Rights,
    /// For how long it runs, in words.
    pub(super) how: &'a str,
}

/// Builds the proposal to run a command.
pub(super) fn build_command_proposal(
    workspace: &Workspace,
    launcher: &Launcher,
    call: &CommandCall<'_>,
) -> Proposal {
    let CommandCall { command, cwd, rights, how } = call;
    let located = workspace.check_path(cwd.unwrap_or("."));
    let directory = located.and_then(|directory| workspace.absolute_directory(&directory));
    let location = match &directory {
        Ok(path) => make_visible(&path.to_string_lossy()),
        Err(error) => format!("{} (will be refused: {error})", make_visible(cwd.unwrap_or("."))),
    };
    let reading = read_command(command);
    // Without a directory no command will run.
    let directory = directory.ok();
    let scripts = directory.as_deref().map(|directory| read_scripts(directory, &reading.scripts));
    let scripts = scripts.unwrap_or_default();
    let preview = ScriptPreview::of(&scripts);
    let (granted, shown_rights) = resolve_rights(launcher, directory.as_deref(), rights);
    let summary = format!(
        "Run in {location}, {how}{shown_rights}:\n{}{}\n{}\nvariables: {}",
        make_lines_visible(command, "  $ "),
        preview.shown,
        make_visible(&launcher.describe_confinement(&granted)),
        make_visible(&launcher.variable_names().join(" ")),
    );
    let only_reads = launcher.confines_reading(&reading, rights).then_some(READING_PROGRAMS);
    let unreadable =
        reading.unreadable.or_else(|| scripts.iter().find_map(Script::unreadable_reason));
    let bound = scripts.iter().map(Script::to_bound_resource).collect();
    let start = match directory {
        Some(directory) if directory != workspace.root() => StepDirectory::At(directory),
        _ => StepDirectory::Workspace,
    };
    let directory = if reading.changes_directory { StepDirectory::Unknown } else { start.clone() };
    // Several steps depend on each other, by `&&` or by a loop, in ways that they do not show.
    let whole = (reading.changes_directory || reading.steps.len() > 1)
        .then(|| ProposedStep { directory: start, ..ProposedStep::new([command]) });
    let steps = reading.steps.iter().map(|step| convert_step(step, &directory)).collect();
    let (rights, not_shown) = ((*rights).clone(), preview.not_shown);
    Proposal {
        summary,
        steps,
        whole,
        unreadable,
        bound,
        only_reads,
        rights,
        not_shown,
        ..Proposal::default()
    }
}

/// Returns the rights that would be given, and the lines that name each of them.
fn resolve_rights(
    launcher: &Launcher,
    directory: Option<&Path>,
    rights: &Rights,
) -> (Vec<GrantedRight>, String) {
    let mut granted = Vec::new();
    let mut lines = Vec::new();
    for right in rights.iter() {
        let line = match directory.map(|directory| launcher.resolve_right(directory, right)) {
            Some(Ok(resolved)) => {
                let line = format!("  + {right}: it {resolved}");
                granted.push(resolved);
                line
            }
            Some(Err(error)) => format!("  + {right} (will be refused: {error})"),
            None => format!("  + {right}"),
        };
        lines.push(make_visible(&line));
    }
    if lines.is_empty() {
        return (granted, String::new());
    }
    (granted, format!(",\nwith rights beyond the sandbox:\n{}\nthe command", lines.join("\n")))
}

/// Converts a step of a command for the rules and the user. A rule that denies a program holds
/// whatever assignments precede it and whatever redirections follow.
fn convert_step(step: &CommandStep, directory: &StepDirectory) -> ProposedStep {
    let proposed = ProposedStep {
        words: step.words.clone(),
        directory: directory.clone(),
        exact_only: step.exact_only.clone(),
        ..ProposedStep::default()
    };
    proposed
        .with_spelling(step.words_from_program().to_vec())
        .with_spelling(step.program_words().to_vec())
}
