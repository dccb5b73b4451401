//! Lists the names in a workspace, for a model that looks up what a request names.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

use super::{EntryKind, Workspace, read_entries};

/// Limits the names that are listed.
const MAX_LISTED_NAMES: usize = 5_000;
/// Limits how deep directories are listed.
const MAX_LISTED_DEPTH: usize = 8;
/// Limits the size of a text that is read, in bytes.
const MAX_TEXT_BYTES: u64 = 256 * 1024;

/// Lists directories whose content no request means by its name.
const SKIPPED: &[&str] = &["node_modules", "target", "__pycache__", "venv", "dist", "vendor"];

/// Names a file or directory of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceName {
    /// The path in the workspace.
    pub path: String,
    /// True for a directory.
    pub is_directory: bool,
}

impl Workspace {
    /// Lists the files and directories that agents may see, sorted by directory and name. Links are
    /// not followed, and what cannot be read is left out.
    pub fn list_names(&self) -> Vec<WorkspaceName> {
        let mut found = Vec::new();
        if let Ok(root) = self.directory().try_clone() {
            self.add_names(&root, Path::new(""), 1, &mut found);
        }
        found
    }

    fn add_names(
        &self,
        directory: &Dir,
        path: &Path,
        depth: usize,
        found: &mut Vec<WorkspaceName>,
    ) {
        // A directory that cannot be read has no names that a request can mean.
        let Ok(entries) = read_entries(directory) else { return };
        for (name, kind) in entries {
            if found.len() >= MAX_LISTED_NAMES {
                return;
            }
            let (Some(text), inner) = (name.to_str(), path.join(&name)) else { continue };
            if self.is_hidden(&inner) || !matches!(kind, EntryKind::File | EntryKind::Directory) {
                continue;
            }
            let is_directory = kind == EntryKind::Directory;
            let is_skipped = is_directory && (text.starts_with('.') || SKIPPED.contains(&text));
            if is_skipped {
                continue;
            }
            found.push(WorkspaceName { path: inner.to_string_lossy().into_owned(), is_directory });
            if is_directory
                && depth < MAX_LISTED_DEPTH
                && let Ok(inside) = directory.open_dir(&name)
            {
                self.add_names(&inside, &inner, depth + 1, found);
            }
        }
    }

    /// Returns the text of a small file that agents may read.
    pub fn read_small_text(&self, path: &str) -> Option<String> {
        let resolved = PathBuf::from(path);
        if self.is_hidden(&resolved) || self.check_path(path).is_err() {
            return None;
        }
        // What cannot be read cannot be quoted; the tool that is called for it says why.
        let metadata = self.directory().symlink_metadata(&resolved).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_TEXT_BYTES {
            return None;
        }
        let text = self.directory().read_to_string(&resolved).ok()?;
        (!text.contains('\0')).then_some(text)
    }
}
