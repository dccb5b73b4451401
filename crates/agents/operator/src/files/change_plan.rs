//! Makes several changes as one: all of them, or none.

use std::path::PathBuf;

use lango_tool::ToolError;

use crate::changes::FileChange;
use crate::workspace::{DirectoryEntry, Workspace, WorkspacePath};

/// Holds changes that have been checked and not been made yet, in their order.
#[derive(Default)]
pub(super) struct ChangePlan {
    /// What is recorded, so that it can be undone.
    pub(super) changes: Vec<FileChange>,
    steps: Vec<PlannedStep>,
}

struct PlannedStep {
    action: ChangeAction,
    /// The number of changes that are made once this step is.
    made_changes: usize,
}

/// Is one change of the file system, which happens as a whole or not at all.
pub(super) enum ChangeAction {
    RemoveFile(DirectoryEntry),
    RemoveDirectory(DirectoryEntry),
    Rename { from: DirectoryEntry, to: PathBuf, replaces: bool },
    MakeDirectory { path: PathBuf, mode: u32 },
    WriteFile { path: PathBuf, content: Vec<u8>, mode: u32, replaces: bool },
    MakeLink { path: PathBuf, target: PathBuf },
}

impl ChangePlan {
    /// Adds an action, with the changes that it makes.
    pub(super) fn push(
        &mut self,
        action: ChangeAction,
        changes: impl IntoIterator<Item = FileChange>,
    ) {
        self.changes.extend(changes);
        self.steps.push(PlannedStep { action, made_changes: self.changes.len() });
    }

    /// Adds directories that are made first.
    pub(super) fn make_directories(&mut self, paths: &[PathBuf]) {
        for path in paths {
            let action = ChangeAction::MakeDirectory { path: path.clone(), mode: 0o777 };
            self.push(action, [FileChange::make_directory(path)]);
        }
    }

    /// Makes all changes. If one of them fails, those before it are taken back.
    pub(super) fn carry_out(self, workspace: &Workspace) -> Result<(), ToolError> {
        let mut made = 0;
        for PlannedStep { action, made_changes } in self.steps {
            if let Err(error) = action.carry_out(workspace) {
                return Err(take_back(workspace, &self.changes[..made], error));
            }
            made = made_changes;
        }
        Ok(())
    }
}

/// Takes changes back, the last one first, and says what could not be.
fn take_back(workspace: &Workspace, made: &[FileChange], error: ToolError) -> ToolError {
    let results = made.iter().rev().map(|change| workspace.restore_change(change, false));
    let left: Vec<String> = results
        .filter(|result| !result.is_settled())
        .map(|result| format!("{}: {}", result.path, result.detail))
        .collect();
    let rest = if left.is_empty() {
        "everything is as it was before".to_owned()
    } else {
        format!(
            "what was done before this is taken back, except for {}; `lango undo` tries it again",
            left.join(", ")
        )
    };
    match error {
        ToolError::Failed(text) => ToolError::Failed(format!("{text}; {rest}")),
        // Nothing was changed is what this says of itself.
        ToolError::Forbidden(text) if left.is_empty() => ToolError::Forbidden(text),
        other => ToolError::Failed(format!("{other}; {rest}")),
    }
}

impl ChangeAction {
    fn carry_out(self, workspace: &Workspace) -> Result<(), ToolError> {
        let done = |path: &PathBuf, verb: &str, result: std::io::Result<()>| {
            let location = || WorkspacePath::from_workspace_path(path);
            result.map_err(|error| location().describe_error(verb, &error))
        };
        match self {
            Self::RemoveFile(entry) => done(&entry.path, "delete", entry.remove_file()),
            Self::RemoveDirectory(entry) => done(&entry.path, "delete", entry.remove_directory()),
            Self::Rename { from, to, replaces } => {
                let target = workspace.find_resolved_entry(&to)?;
                let renamed = if replaces {
                    from.replace_by_rename(&target)
                } else {
                    from.rename_to(&target)
                };
                done(&to, "move to", renamed)
            }
            Self::MakeDirectory { path, mode } => {
                let entry = workspace.find_resolved_entry(&path)?;
                done(&path, "make", entry.make_directory(mode))
            }
            Self::WriteFile { path, content, mode, replaces } => {
                // It makes sure that no link came into the path.
                workspace.find_resolved_entry(&path)?;
                let target = workspace.write_target(&WorkspacePath::from_workspace_path(&path))?;
                target.replace_with(&content, !replaces, Some(mode))
            }
            Self::MakeLink { path, target } => {
                let entry = workspace.find_resolved_entry(&path)?;
                done(&path, "link", entry.make_link(&target))
            }
        }
    }
}
