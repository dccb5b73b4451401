//! Implements `fs_delete`, which deletes a file, a link, or a directory with its content.

use std::sync::Arc;

use lango_protocol::CallReport;
use lango_text::{code_span, make_visible};
use lango_tool::{ExcludedPaths, Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::preview;
use crate::blocking::run_blocking;
use crate::changes::{ChangeKind, FileChange, PreviousFile};
use crate::sentence::{describe_activity, report_change};
use crate::workspace::{
    DirectoryEntry, EntryKind, PathUse, Workspace, WorkspacePath, is_git, permission_bits,
};
use crate::{OperatorSettings, Records};

/// Limits how many entries one call deletes: each is recorded, so that it can be restored.
const MAX_DELETED_ENTRIES: usize = 2000;
/// Limits how many bytes one call deletes, of all files together.
const MAX_DELETED_BYTES: u64 = 64 * 1024 * 1024;

pub(crate) struct DeleteFile {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    records: Records,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteArguments {
    /// File, link or directory in the workspace.
    path: String,
    /// Delete a directory with all that is in it.
    #[serde(default)]
    recursive: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct DeleteResult {
    path: String,
    entries: usize,
}

impl DeleteFile {
    pub(crate) fn new(
        workspace: Workspace,
        settings: Arc<OperatorSettings>,
        records: Records,
    ) -> Self {
        Self { workspace, settings, records }
    }
}

impl Tool for DeleteFile {
    type Arguments = DeleteArguments;
    type Output = DeleteResult;
    const NAME: &'static str = "fs_delete";
    const DESCRIPTION: &'static str = "Deletes a file, a link, an empty directory, or with \
        recursive a directory and all in it. The user can undo it.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: DeleteArguments,
        context: ToolContext,
    ) -> Result<DeleteResult, ToolError> {
        let location = self.workspace.check_path(&arguments.path)?;
        let path = location.shown().to_owned();
        let (workspace, max_bytes) = (self.workspace.clone(), self.settings.max_file_bytes);
        let excluded = context.excluded.clone();
        let plan = run_blocking(&context, move |_| {
            let mut plan = DeletionPlan {
                entries: Vec::new(),
                changes: Vec::new(),
                bytes: 0,
                max_bytes,
                excluded,
            };
            plan.add_entry(
                workspace.find_entry_to_change(&location)?,
                &location,
                arguments.recursive,
            )?;
            Ok(plan)
        })
        .await?;
        self.records.record_changes(&context, &self.workspace, &plan.changes).await?;
        let entries = plan.entries.len();
        run_blocking(&context, move |_| plan.carry_out()).await?;
        Ok(DeleteResult { path, entries })
    }

    fn render(&self, output: &DeleteResult) -> String {
        match output.entries {
            1 => format!("deleted {}", output.path),
            entries => format!("deleted {} with {} entries", output.path, entries - 1),
        }
    }

    fn describe(&self, arguments: &DeleteArguments) -> Option<String> {
        describe_activity("Deleting", &arguments.path)
    }

    fn report(&self, _: &DeleteArguments, output: &DeleteResult) -> Option<CallReport> {
        let name = code_span(&output.path);
        let summary = match output.entries {
            1 => format!("Deleted {name}."),
            2 => format!("Deleted {name} with the one entry in it."),
            entries => format!("Deleted {name} with the {} entries in it.", entries - 1),
        };
        Some(report_change(summary).data(output))
    }

    fn propose(&self, arguments: &DeleteArguments) -> Option<Proposal> {
        let all = if arguments.recursive { " and all that is in it" } else { "" };
        let summary = format!("Delete {}{all}", make_visible(&arguments.path));
        let (path, usage) = (&arguments.path, PathUse::Entry);
        let mut proposal =
            preview::build_change_proposal(&self.workspace, summary, path, usage, &[]);
        if arguments.recursive
            && let Some(step) = proposal.steps.first_mut()
        {
            step.spellings.push(step.words.clone());
            step.words.push("--recursive".to_owned());
            step.exact_only = Some("it deletes everything in a directory".to_owned());
        }
        Some(proposal)
    }
}

/// Lists the entries to delete, the innermost first.
struct DeletionPlan {
    entries: Vec<(DirectoryEntry, bool)>,
    changes: Vec<FileChange>,
    bytes: u64,
    max_bytes: u64,
    excluded: ExcludedPaths,
}

impl DeletionPlan {
    fn add_entry(
        &mut self,
        entry: DirectoryEntry,
        named: &WorkspacePath,
        recursive: bool,
    ) -> Result<(), ToolError> {
        let problem = |error: std::io::Error| named.describe_error("delete", &error);
        let shown = WorkspacePath::from_workspace_path(&entry.path).shown().to_owned();
        if entry.path.iter().any(is_git) {
            return Err(ToolError::Forbidden(format!(
                "{shown} belongs to git, which is not changed by hand; use git commands"
            )));
        }
        if self.excluded.contains(&entry.path) {
            return Err(ToolError::Forbidden(format!(
                "{shown} is kept by a rule (`lango approvals list`); nothing was deleted"
            )));
        }
        let Some(metadata) = entry.read_metadata().map_err(problem)? else {
            return Err(named.describe_error("delete", &std::io::ErrorKind::NotFound.into()));
        };
        let kind = match EntryKind::of_file_type(metadata.file_type()) {
            EntryKind::Directory => {
                let children = entry.list_children().map_err(problem)?;
                if !recursive && !children.is_empty() {
                    return Err(ToolError::Failed(format!(
                        "{shown} is a directory with {} entries; set recursive to delete them too",
                        children.len()
                    )));
                }
                for child in children {
                    self.add_entry(child, named, recursive)?;
                }
                ChangeKind::DeleteDirectory { mode: permission_bits(&metadata) }
            }
            EntryKind::Link => {
                ChangeKind::DeleteLink { target: entry.read_link().map_err(problem)? }
            }
            EntryKind::File => {
                self.bytes += metadata.len();
                let content = entry.read_content(self.max_bytes).map_err(problem)?;
                if content.is_none() {
                    return Err(too_many_entries_error(&shown));
                }
                ChangeKind::DeleteFile(PreviousFile { content, mode: permission_bits(&metadata) })
            }
            kind => {
                return Err(ToolError::Failed(format!(
                    "{shown} is a {kind}, which could not be brought back; delete it with a command"
                )));
            }
        };
        if self.entries.len() >= MAX_DELETED_ENTRIES || self.bytes > MAX_DELETED_BYTES {
            return Err(too_many_entries_error(named.shown()));
        }
        self.changes.push(FileChange { path: entry.path.clone(), kind });
        self.entries.push((entry, metadata.is_dir()));
        Ok(())
    }

    fn carry_out(self) -> Result<(), ToolError> {
        for (entry, is_directory) in &self.entries {
            let gone = if *is_directory { entry.remove_directory() } else { entry.remove_file() };
            let location = || WorkspacePath::from_workspace_path(&entry.path);
            gone.map_err(|error| location().describe_error("delete", &error))?;
        }
        Ok(())
    }
}

fn too_many_entries_error(shown: &str) -> ToolError {
    ToolError::Failed(format!(
        "{shown} is more than can be brought back ({MAX_DELETED_ENTRIES} entries, {} MB in all); \
         nothing was deleted. Delete it in parts, or with a command",
        MAX_DELETED_BYTES / 1024 / 1024
    ))
}
