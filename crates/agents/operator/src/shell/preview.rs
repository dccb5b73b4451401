//! Previews a command for the user and the rules before it may run.

use std::path::PathBuf;

use lango_shell_command::{CommandStep, read_command};
use lango_text::{make_lines_visible, make_visible};
use lango_tool::{Proposal, ProposedStep, StepDirectory};

use super::launch::Launcher;
use super::scripts::{Script, ScriptContent, read_scripts};
use crate::Workspace;

/// Limits how many bytes of a script are shown whole. A longer one is named, with its digest.
const MAX_SHOWN_BYTES: usize = 4 * 1024;
/// Limits how many hexadecimal digits of a digest users compare.
const DIGEST_DIGITS: usize = 12;

/// Builds the proposal to run a command; `how` says for how long.
pub(super) fn build_command_proposal(
    workspace: &Workspace,
    launcher: &Launcher,
    command: &str,
    cwd: Option<&str>,
    how: &str,
) -> Proposal {
    let located = workspace.check_path(cwd.unwrap_or("."));
    let directory = located.and_then(|directory| workspace.absolute_directory(&directory));
    let location = match &directory {
        Ok(path) => make_visible(&path.to_string_lossy()),
        Err(error) => format!("{} (will be refused: {error})", make_visible(cwd.unwrap_or("."))),
    };
    let reading = read_command(command);
    let starting_directory = directory.as_ref().ok().cloned();
    let read_scripts = |directory: PathBuf| read_scripts(&directory, &reading.scripts);
    // Without a directory no command will run.
    let scripts = directory.map(read_scripts).unwrap_or_default();
    let summary = format!(
        "Run in {location}, {how}:\n{}{}\n{}\nvariables: {}",
        make_lines_visible(command, "  $ "),
        render_scripts(&scripts),
        make_visible(&launcher.describe_confinement()),
        make_visible(&launcher.variable_names().join(" ")),
    );
    let unreadable =
        reading.unreadable.or_else(|| scripts.iter().find_map(Script::unreadable_reason));
    let bound = scripts.iter().map(Script::to_bound_resource).collect();
    let start = match starting_directory {
        Some(directory) if directory != workspace.root() => StepDirectory::At(directory),
        _ => StepDirectory::Workspace,
    };
    let directory = if reading.changes_directory { StepDirectory::Unknown } else { start.clone() };
    // Several steps depend on each other, by `&&` or by a loop, in ways that they do not show.
    let whole = (reading.changes_directory || reading.steps.len() > 1)
        .then(|| ProposedStep { directory: start, ..ProposedStep::new([command]) });
    let steps = reading.steps.iter().map(|step| convert_step(step, &directory)).collect();
    Proposal { summary, steps, whole, unreadable, bound, ..Proposal::default() }
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

/// Renders the scripts for a user, each on lines of its own.
fn render_scripts(scripts: &[Script]) -> String {
    let mut shown: String = scripts.iter().filter_map(render_script).collect();
    let missing = |script: &&Script| matches!(script.content, ScriptContent::Missing);
    let missing: Vec<_> = scripts.iter().filter(missing).map(|it| make_visible(&it.path)).collect();
    if !missing.is_empty() {
        shown.push_str(&format!("\nruns files that are not there now: {}", missing.join(", ")));
    }
    shown
}

/// Renders a script with its content, if the file exists.
fn render_script(script: &Script) -> Option<String> {
    let path = make_visible(&script.path);
    let bytes = match &script.content {
        ScriptContent::Read(bytes) => bytes,
        ScriptContent::Missing => return None,
        ScriptContent::NotRead(reason) => {
            return Some(format!("\nruns the file {path}, which {reason}"));
        }
    };
    let digest = script.digest();
    let digest = digest.get(..DIGEST_DIGITS).unwrap_or(&digest);
    let first = format!("\nruns the file {path}, {} bytes, SHA-256 {digest}…", bytes.len());
    Some(match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= MAX_SHOWN_BYTES => {
            format!(
                "{first}:\n{}",
                make_lines_visible(text.strip_suffix('\n').unwrap_or(text), "  | ")
            )
        }
        Ok(_) => format!("{first}; it is too long to be shown here"),
        Err(_) => format!("{first}; it is not a text"),
    })
}
