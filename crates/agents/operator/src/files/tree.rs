//! Lists files and directories with all that is in them, before they are deleted or copied.

use std::path::PathBuf;

use lango_text::{make_visible, plural};
use lango_tool::{ExcludedPaths, ToolError};

use super::path_list::ListedPath;
use super::size::format_size;
use crate::digest::sha256_hex;
use crate::workspace::{
    DirectoryEntry, EntryKind, Workspace, WorkspacePath, is_git, permission_bits,
};

/// Limits how many entries one call deletes or copies: each is recorded, so that it can be undone.
pub(super) const MAX_TREE_ENTRIES: usize = 2000;
/// Limits how many bytes one call deletes or copies, of all files together.
pub(super) const MAX_TREE_BYTES: u64 = 64 * 1024 * 1024;
/// The number of names that a question shows of a directory's content.
const SHOWN_NAMES: usize = 10;

/// Lists entries, each directory before what is in it.
pub(super) struct Tree<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) excluded: &'a ExcludedPaths,
    /// What happens to the entries, for messages: "deleted".
    pub(super) action: &'static str,
    pub(super) entries: Vec<TreeEntry>,
    pub(super) bytes: u64,
}

/// Is an entry with what has to be known to delete or copy it.
pub(super) struct TreeEntry {
    pub(super) entry: DirectoryEntry,
    pub(super) kind: TreeKind,
    /// The position of the path that was named, for what lies in it.
    pub(super) root: usize,
}

pub(super) enum TreeKind {
    File { size: u64, mode: u32 },
    Link { target: PathBuf },
    Directory { mode: u32 },
}

impl<'a> Tree<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        excluded: &'a ExcludedPaths,
        action: &'static str,
    ) -> Self {
        Self { workspace, excluded, action, entries: Vec::new(), bytes: 0 }
    }

    /// Adds a path with all that is in it; a directory with content only if `recursive`.
    pub(super) fn add_path(
        &mut self,
        path: &ListedPath,
        recursive: bool,
        root: usize,
    ) -> Result<(), ToolError> {
        let entry = self.workspace.find_entry_to_change(&path.location)?;
        self.add_entry(entry, &path.location, recursive, root)
    }

    fn add_entry(
        &mut self,
        entry: DirectoryEntry,
        named: &WorkspacePath,
        recursive: bool,
        root: usize,
    ) -> Result<(), ToolError> {
        let action = self.action;
        let problem = |error: std::io::Error| named.describe_error("look at", &error);
        let shown = WorkspacePath::from_workspace_path(&entry.path).shown().to_owned();
        if entry.path.iter().any(is_git) {
            return Err(ToolError::Forbidden(format!(
                "{shown} belongs to git, which is not changed by hand; use git commands"
            )));
        }
        if self.workspace.is_hidden(&entry.path) {
            return Err(ToolError::Forbidden(format!(
                "{} has something in it that is hidden from agents; nothing was {action}",
                named.shown()
            )));
        }
        if self.excluded.contains(&entry.path) {
            return Err(ToolError::Forbidden(format!(
                "{shown} is kept by a rule (`lango approvals list`); nothing was {action}"
            )));
        }
        let Some(metadata) = entry.read_metadata().map_err(problem)? else {
            return Err(named.describe_error("look at", &std::io::ErrorKind::NotFound.into()));
        };
        let mode = permission_bits(&metadata);
        let mut children = Vec::new();
        let kind = match EntryKind::of_file_type(metadata.file_type()) {
            EntryKind::Directory => {
                children = entry.list_children().map_err(problem)?;
                if !recursive && !children.is_empty() {
                    return Err(ToolError::Failed(format!(
                        "{shown} is a directory with {}; set recursive if they are to be {action}, \
                         too",
                        plural(children.len(), "entry", "entries")
                    )));
                }
                TreeKind::Directory { mode }
            }
            EntryKind::Link => TreeKind::Link { target: entry.read_link().map_err(problem)? },
            EntryKind::File => {
                self.bytes += metadata.len();
                TreeKind::File { size: metadata.len(), mode }
            }
            kind => {
                return Err(ToolError::Failed(format!(
                    "{shown} is a {kind}, which cannot be {action}; use a command"
                )));
            }
        };
        if self.entries.len() >= MAX_TREE_ENTRIES || self.bytes > MAX_TREE_BYTES {
            return Err(too_much_error(named.shown(), action));
        }
        self.entries.push(TreeEntry { entry, kind, root });
        children.into_iter().try_for_each(|child| self.add_entry(child, named, recursive, root))
    }

    /// Returns a digest of which entries these are, so that others are noticed.
    pub(super) fn digest(&self) -> String {
        let name = |entry: &TreeEntry| {
            let kind = match &entry.kind {
                TreeKind::File { .. } => 'f',
                TreeKind::Link { .. } => 'l',
                TreeKind::Directory { .. } => 'd',
            };
            (kind, entry.entry.path.clone())
        };
        let names: Vec<(char, PathBuf)> = self.entries.iter().map(name).collect();
        sha256_hex(format!("{names:?}").as_bytes())
    }

    /// Describes what is in the path at a position; none if it is not a directory or has no content.
    pub(super) fn describe_content(&self, root: usize) -> Option<DirectoryContent> {
        let mut within = self.entries.iter().filter(|entry| entry.root == root);
        let top = &within.next()?.entry.path;
        let (mut files, mut directories, mut bytes) = (0, 0, 0);
        let mut names = Vec::new();
        for entry in within {
            match entry.kind {
                TreeKind::Directory { .. } => directories += 1,
                TreeKind::File { size, .. } => {
                    files += 1;
                    bytes += size;
                }
                TreeKind::Link { .. } => files += 1,
            }
            let name = entry.entry.path.strip_prefix(top).unwrap_or(&entry.entry.path);
            let is_directory = matches!(entry.kind, TreeKind::Directory { .. });
            let slash = if is_directory { "/" } else { "" };
            names.push(format!("{}{slash}", make_visible(&name.to_string_lossy())));
        }
        (!names.is_empty()).then(|| DirectoryContent::new(files, directories, bytes, names))
    }
}

/// Describes what is in a directory, for a question.
pub(super) struct DirectoryContent {
    /// The extent: "12 files and 2 directories, 3.4 MB".
    pub(super) extent: String,
    /// The first names.
    pub(super) names: Vec<String>,
    /// The number of further names.
    pub(super) more: usize,
}

impl DirectoryContent {
    fn new(files: usize, directories: usize, bytes: u64, mut names: Vec<String>) -> Self {
        let mut extent = plural(files, "file", "files");
        if directories > 0 {
            extent = format!("{extent} and {}", plural(directories, "directory", "directories"));
        }
        let more = names.len().saturating_sub(SHOWN_NAMES);
        names.truncate(SHOWN_NAMES);
        Self { extent: format!("{extent}, {}", format_size(bytes)), names, more }
    }

    /// Returns the names as lines, each after this text.
    pub(super) fn render_names(&self, before: &str) -> String {
        let mut text: String = self.names.iter().map(|name| format!("\n{before}{name}")).collect();
        if self.more > 0 {
            text.push_str(&format!("\n{before}… and {} more", self.more));
        }
        text
    }
}

/// Builds the error for more than can be recorded.
pub(super) fn too_much_error(shown: &str, action: &str) -> ToolError {
    ToolError::Failed(format!(
        "{shown} is more than one call can take back ({MAX_TREE_ENTRIES} entries, {} in all); \
         nothing was {action}. Do it in parts, or with a command",
        format_size(MAX_TREE_BYTES)
    ))
}
