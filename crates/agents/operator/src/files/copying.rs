//! Implements `fs_copy`, which copies files and directories with all that is in them.

use std::sync::Arc;

use lango_protocol::CallReport;
use lango_tool::{ExcludedPaths, Proposal, SafetyLevel, Tool, ToolContext, ToolError};

use super::change_plan::{ChangeAction, ChangePlan};
use super::transfer::{
    Transfer, TransferArguments, TransferResult, describe_transfer, propose_transfer, read_replaced,
};
use super::tree::{MAX_TREE_BYTES, Tree, TreeEntry, TreeKind, too_much_error};
use crate::blocking::run_blocking;
use crate::changes::{ChangeKind, FileChange};
use crate::digest::sha256_hex;
use crate::workspace::{Workspace, WorkspacePath};
use crate::{OperatorSettings, Records};

pub(crate) struct CopyFile {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    records: Records,
}

impl CopyFile {
    pub(crate) fn new(
        workspace: Workspace,
        settings: Arc<OperatorSettings>,
        records: Records,
    ) -> Self {
        Self { workspace, settings, records }
    }

    /// Describes what is copied, or why it will be refused.
    fn describe_copy(
        &self,
        arguments: &TransferArguments,
        transfer: &Transfer,
    ) -> Result<String, ToolError> {
        let excluded = ExcludedPaths::default();
        let tree = list_sources(&self.workspace, transfer, &excluded)?;
        arguments.decided.remember(digest(transfer, &tree));
        let extent = |at| tree.describe_content(at).map(|content| content.extent);
        let extents: Vec<Option<String>> = (0..transfer.items.len()).map(extent).collect();
        Ok(transfer.describe("Copy", &arguments.to, &extents))
    }
}

impl Tool for CopyFile {
    type Arguments = TransferArguments;
    type Output = TransferResult;
    const NAME: &'static str = "fs_copy";
    const DESCRIPTION: &'static str = "Copies files and directories.";
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
            plan_copy(&workspace, &arguments, &excluded, max_bytes)
        })
        .await?;
        self.records.record_changes(&context, &self.workspace, &plan.changes).await?;
        let workspace = self.workspace.clone();
        run_blocking(&context, move |_| plan.carry_out(&workspace)).await?;
        Ok(result)
    }

    fn render(&self, output: &TransferResult) -> String {
        output.render("copied")
    }

    fn describe(&self, arguments: &TransferArguments) -> Option<String> {
        describe_transfer("Copying", arguments)
    }

    fn report(&self, _: &TransferArguments, output: &TransferResult) -> Option<CallReport> {
        Some(output.report("Copied"))
    }

    fn propose(&self, arguments: &TransferArguments) -> Option<Proposal> {
        let describe = |transfer: &Transfer| self.describe_copy(arguments, transfer);
        Some(propose_transfer(&self.workspace, arguments, "Copy", describe))
    }
}

/// Lists all that is copied.
fn list_sources<'a>(
    workspace: &'a Workspace,
    transfer: &Transfer,
    excluded: &'a ExcludedPaths,
) -> Result<Tree<'a>, ToolError> {
    let mut tree = Tree::new(workspace, excluded, "copied");
    for (at, item) in transfer.items.iter().enumerate() {
        tree.add_path(&item.from, true, at)?;
    }
    Ok(tree)
}

/// Returns a digest of what goes where, so that another effect is noticed.
fn digest(transfer: &Transfer, tree: &Tree<'_>) -> String {
    let targets: Vec<_> = transfer.items.iter().map(|item| (&item.to, item.replaced)).collect();
    sha256_hex(format!("{:?}\n{targets:?}\n{}", transfer.made, tree.digest()).as_bytes())
}

fn plan_copy(
    workspace: &Workspace,
    arguments: &TransferArguments,
    excluded: &ExcludedPaths,
    max_bytes: u64,
) -> Result<(ChangePlan, TransferResult), ToolError> {
    let transfer = Transfer::find(workspace, arguments)?;
    let tree = list_sources(workspace, &transfer, excluded)?;
    arguments.decided.check(&digest(&transfer, &tree))?;
    let mut plan = ChangePlan::default();
    plan.make_directories(&transfer.made);
    for TreeEntry { entry, kind, root } in tree.entries {
        let item = &transfer.items[root];
        let within = entry.path.strip_prefix(&item.from.resolved).unwrap_or(&entry.path);
        // A join with the empty path would end in a slash.
        let path =
            if within.as_os_str().is_empty() { item.to.clone() } else { item.to.join(within) };
        match kind {
            TreeKind::Directory { mode } => {
                let change = FileChange::make_directory(&path);
                // The owner must be able to put the content in.
                plan.push(ChangeAction::MakeDirectory { path, mode: mode | 0o700 }, [change]);
            }
            TreeKind::Link { target } => {
                let kind = ChangeKind::MakeLink { target: target.clone() };
                let change = FileChange { path: path.clone(), kind };
                plan.push(ChangeAction::MakeLink { path, target }, [change]);
            }
            TreeKind::File { mode, .. } => {
                let location = WorkspacePath::from_workspace_path(&entry.path);
                let content = entry
                    .read_content(MAX_TREE_BYTES)
                    .map_err(|error| location.describe_error("copy", &error))?
                    .ok_or_else(|| too_much_error(location.shown(), "copied"))?;
                let replaced = item.replaced.map(|_| read_replaced(workspace, &path, max_bytes));
                let before = replaced.transpose()?;
                let kind = ChangeKind::Write { before, after: sha256_hex(&content) };
                let change = FileChange { path: path.clone(), kind };
                let action = ChangeAction::WriteFile {
                    path,
                    content,
                    mode,
                    replaces: item.replaced.is_some(),
                };
                plan.push(action, [change]);
            }
        }
    }
    Ok((plan, TransferResult::of(&transfer)))
}
