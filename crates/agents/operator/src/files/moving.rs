//! Implements `fs_move`, which renames a file or a directory and replaces nothing.

use lango_protocol::CallReport;
use lango_text::{code_span, make_visible};
use lango_tool::{
    ExcludedPaths, Proposal, ProposedStep, SafetyLevel, Tool, ToolContext, ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::preview;
use crate::Records;
use crate::blocking::run_blocking;
use crate::changes::{ChangeKind, FileChange};
use crate::sentence::{code, describe_activity, report_change};
use crate::workspace::{DirectoryEntry, PathUse, Workspace, WorkspacePath};

/// Limits how many entries of a directory are compared with rules before it is moved.
const MAX_CHECKED_ENTRIES: usize = 10_000;

pub(crate) struct MoveFile {
    workspace: Workspace,
    records: Records,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoveArguments {
    /// File or directory in the workspace.
    from: String,
    /// Its new name, in a directory that is there.
    to: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct MoveResult {
    from: String,
    to: String,
}

impl MoveFile {
    pub(crate) fn new(workspace: Workspace, records: Records) -> Self {
        Self { workspace, records }
    }
}

impl Tool for MoveFile {
    type Arguments = MoveArguments;
    type Output = MoveResult;
    const NAME: &'static str = "fs_move";
    const DESCRIPTION: &'static str = "Moves or renames a file or directory. Nothing is replaced.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: MoveArguments,
        context: ToolContext,
    ) -> Result<MoveResult, ToolError> {
        let from = self.workspace.check_path(&arguments.from)?;
        let to = self.workspace.check_path(&arguments.to)?;
        let result = MoveResult { from: from.shown().to_owned(), to: to.shown().to_owned() };
        let workspace = self.workspace.clone();
        let shown = to.clone();
        let excluded = context.excluded.clone();
        let (old, new) = run_blocking(&context, move |_| {
            let (old, new) = plan_move(&workspace, &from, &to)?;
            let mut left = MAX_CHECKED_ENTRIES;
            refuse_excluded(&old, &excluded, &mut left)?;
            Ok((old, new))
        })
        .await?;
        let change =
            FileChange { path: old.path.clone(), kind: ChangeKind::Move { to: new.path.clone() } };
        self.records.record_changes(&context, &self.workspace, &[change]).await?;
        run_blocking(&context, move |_| {
            old.rename_to(&new).map_err(|error| shown.describe_error("move to", &error))
        })
        .await?;
        Ok(result)
    }

    fn render(&self, output: &MoveResult) -> String {
        format!("moved {} to {}", output.from, output.to)
    }

    fn describe(&self, arguments: &MoveArguments) -> Option<String> {
        let moving = describe_activity("Moving", &arguments.from)?;
        Some(format!("{moving} to {}", code(&arguments.to)))
    }

    fn report(&self, _: &MoveArguments, output: &MoveResult) -> Option<CallReport> {
        let (from, to) = (code_span(&output.from), code_span(&output.to));
        Some(report_change(format!("Moved {from} to {to}.")).data(output))
    }

    fn propose(&self, arguments: &MoveArguments) -> Option<Proposal> {
        let MoveArguments { from, to } = arguments;
        let summary = format!(
            "Move {} to {}",
            make_visible(from),
            preview::describe_destination(&self.workspace, to)
        );
        let steps = [from, to].map(|path| self.workspace.propose_path(path, PathUse::Entry));
        let words =
            |steps: &[ProposedStep]| steps.iter().flat_map(|step| step.words.clone()).collect();
        // Both names are spellings of their own, so that a rule about one path holds for either.
        let mut step = ProposedStep { words: words(&steps), ..ProposedStep::default() };
        step = step.with_spelling(vec![from.clone(), to.clone()]);
        for one in steps {
            step = step.with_spelling(one.words);
            step = one.spellings.into_iter().fold(step, ProposedStep::with_spelling);
        }
        let always_ask = [from, to]
            .into_iter()
            .find_map(|path| self.workspace.find_change_warning(path, PathUse::Entry));
        Some(Proposal { always_ask, ..Proposal::of_step(summary, step) })
    }
}

/// Refuses to move what a rule names, also where it lies in the directory that is moved.
fn refuse_excluded(
    entry: &DirectoryEntry,
    excluded: &ExcludedPaths,
    left: &mut usize,
) -> Result<(), ToolError> {
    if excluded.is_empty() {
        return Ok(());
    }
    let refuse = |why: &str| {
        let shown = WorkspacePath::from_workspace_path(&entry.path).shown().to_owned();
        Err(ToolError::Forbidden(format!("{shown} {why}; nothing was moved")))
    };
    if excluded.contains(&entry.path) {
        return refuse("is kept by a rule (`lango approvals list`)");
    }
    *left = left.saturating_sub(1);
    if *left == 0 {
        return refuse("is in a directory with too many entries to compare with the rules");
    }
    // What cannot be looked at cannot be compared.
    let Ok(Some(metadata)) = entry.read_metadata() else { return refuse("cannot be looked at") };
    if !metadata.is_dir() {
        return Ok(());
    }
    let Ok(children) = entry.list_children() else { return refuse("cannot be listed") };
    children.iter().try_for_each(|child| refuse_excluded(child, excluded, left))
}

fn plan_move(
    workspace: &Workspace,
    from: &WorkspacePath,
    to: &WorkspacePath,
) -> Result<(DirectoryEntry, DirectoryEntry), ToolError> {
    let old = workspace.find_entry_to_change(from)?;
    if old.read_metadata().map_err(|error| from.describe_error("look at", &error))?.is_none() {
        return Err(from.describe_error("move", &std::io::ErrorKind::NotFound.into()));
    }
    let new = workspace.find_entry_to_change(to)?;
    if new.read_metadata().map_err(|error| to.describe_error("look at", &error))?.is_some() {
        return Err(ToolError::Failed(format!(
            "{} is there already and was left alone; move to a name inside it, or delete it first",
            to.shown()
        )));
    }
    Ok((old, new))
}
