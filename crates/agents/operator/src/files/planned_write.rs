//! Prepares the new content of a file.

use std::path::Path;

use lango_tool::ToolError;

use crate::changes::FileChange;
use crate::workspace::{Workspace, WriteTarget};

/// Names a file that gets new content.
pub(super) struct WriteRequest<'a> {
    pub(super) path: &'a str,
    /// The size of the largest file that is read or written.
    pub(super) max_bytes: u64,
    /// True if the file must not exist.
    pub(super) create_only: bool,
}

/// Holds a write that has been checked and not been made yet.
pub(super) struct PlannedWrite {
    target: WriteTarget,
    content: Vec<u8>,
    create_only: bool,
    pub(super) changes: Vec<FileChange>,
    /// The path for messages.
    pub(super) shown: String,
    /// True if the file is new.
    pub(super) created: bool,
}

impl PlannedWrite {
    /// Plans to write what `build` makes of the path for messages, the present content, and whether
    /// the file exists. The content is none if the file is too large or does not exist.
    pub(super) fn plan(
        workspace: &Workspace,
        request: &WriteRequest<'_>,
        build: impl FnOnce(&str, Option<&[u8]>, bool) -> Result<Vec<u8>, ToolError>,
    ) -> Result<Self, ToolError> {
        let WriteRequest { path, max_bytes, create_only } = *request;
        let location = workspace.check_path(path)?;
        let shown = location.shown();
        if path.ends_with('/') {
            return Err(ToolError::Failed(format!("{shown} names a directory; name a file")));
        }
        let resolved = workspace.resolve_for_writing(&location)?;
        let parent = resolved.parent().unwrap_or(Path::new(""));
        let made = workspace.find_missing_directories(parent)?;
        let target = workspace.write_target(&location)?;
        if create_only && target.exists() {
            return Err(target.already_exists_error());
        }
        let before = target.read_current(max_bytes)?;
        let content = build(shown, before.as_deref(), target.exists())?;
        if content.len() as u64 > max_bytes {
            return Err(ToolError::Failed(format!(
                "{shown} would be larger than {max_bytes} bytes; write it in parts"
            )));
        }
        let mut changes: Vec<FileChange> =
            made.iter().map(|path| FileChange::make_directory(path)).collect();
        changes.push(target.describe_change(&content, before));
        let created = !target.exists();
        Ok(Self { target, content, create_only, changes, shown: shown.to_owned(), created })
    }

    pub(super) fn carry_out(self) -> Result<(), ToolError> {
        self.target.replace(&self.content, self.create_only)
    }
}
