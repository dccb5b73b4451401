//! Implements `fs_move`, which renames files and directories.

use std::sync::Arc;

use lango_protocol::CallReport;
use lango_tool::{ExcludedPaths, Proposal, SafetyLevel, Tool, ToolContext, ToolError};

use super::change_plan::{ChangeAction, ChangePlan};
use super::transfer::{
    Transfer, TransferArguments, TransferResult, describe_transfer, propose_transfer, read_replaced,
};
use crate::blocking::run_blocking;
use crate::changes::{ChangeKind, FileChange};
use crate::digest::sha256_hex;
use crate::workspace::{DirectoryEntry, Workspace, WorkspacePath};
use crate::{OperatorSettings, Records};

/// Limits how many entries of directories are compared with rules before they are moved.
const MAX_CHECKED_ENTRIES: usize = 10_000;

pub(crate) struct MoveFile {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    records: Records,
}

impl MoveFile {
    pub(crate) fn new(
        workspace: Workspace,
        settings: Arc<OperatorSettings>,
        records: Records,
    ) -> Self {
        Self { workspace, settings, records }
    }
}

impl Tool for MoveFile {
    type Arguments = TransferArguments;
    type Output = TransferResult;
    const NAME: &'static str = "fs_move";
    const DESCRIPTION: &'static str = "Moves or renames files and directories.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: TransferArguments,
        context: ToolContext,
    ) -> Result<TransferResult, ToolError> {
        let (workspace, max_bytes) = (self.workspace.clone(), self.settings.max_file_bytes);
        let excluded = context.excluded.clone();
        let (plan, result) = run_blocking(&context, move |_| {
            plan_move(&workspace, &arguments, &excluded, max_bytes)
        })
        .await?;
        self.records.record_changes(&context, &self.workspace, &plan.changes).await?;
        let workspace = self.workspace.clone();
        run_blocking(&context, move |_| plan.carry_out(&workspace)).await?;
        Ok(result)
    }

    fn render(&self, output: &TransferResult) -> String {
        output.render("moved")
    }

    fn describe(&self, arguments: &TransferArguments) -> Option<String> {
        describe_transfer("Moving", arguments)
    }

    fn report(&self, _: &TransferArguments, output: &TransferResult) -> Option<CallReport> {
        Some(output.report("Moved"))
    }

    fn propose(&self, arguments: &TransferArguments) -> Option<Proposal> {
        Some(propose_transfer(&self.workspace, arguments, "Move", |transfer| {
            arguments.decided.remember(digest(transfer));
            Ok(transfer.describe("Move", &arguments.to, &[]))
        }))
    }
}

/// Returns a digest of what goes where, so that another effect is noticed.
fn digest(transfer: &Transfer) -> String {
    let items = transfer.items.iter();
    let items: Vec<_> = items.map(|item| (&item.from.resolved, &item.to, item.replaced)).collect();
    sha256_hex(format!("{:?}\n{items:?}", transfer.made).as_bytes())
}

fn plan_move(
    workspace: &Workspace,
    arguments: &TransferArguments,
    excluded: &ExcludedPaths,
    max_bytes: u64,
) -> Result<(ChangePlan, TransferResult), ToolError> {
    let transfer = Transfer::find(workspace, arguments)?;
    arguments.decided.check(&digest(&transfer))?;
    let result = TransferResult::of(&transfer);
    let mut plan = ChangePlan::default();
    plan.make_directories(&transfer.made);
    let mut left = MAX_CHECKED_ENTRIES;
    for item in transfer.items {
        let location = &item.from.location;
        let from = workspace.find_entry_to_change(location)?;
        let problem = |error: std::io::Error| location.describe_error("look at", &error);
        if from.read_metadata().map_err(problem)?.is_none() {
            return Err(location.describe_error("move", &std::io::ErrorKind::NotFound.into()));
        }
        if workspace.contains_hidden(&from.path) {
            let shown = location.shown();
            return Err(ToolError::Forbidden(format!(
                "{shown} has something in it that is hidden from agents; nothing was moved"
            )));
        }
        refuse_excluded(&from, excluded, &mut left)?;
        let mut changes = Vec::new();
        if item.replaced.is_some() {
            let before = read_replaced(workspace, &item.to, max_bytes)?;
            let kind = ChangeKind::DeleteFile(before);
            changes.push(FileChange { path: item.to.clone(), kind });
        }
        let kind = ChangeKind::Move { to: item.to.clone() };
        changes.push(FileChange { path: from.path.clone(), kind });
        let replaces = item.replaced.is_some();
        plan.push(ChangeAction::Rename { from, to: item.to, replaces }, changes);
    }
    Ok((plan, result))
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
