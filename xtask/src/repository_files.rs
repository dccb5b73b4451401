//! The files of the repository, as the checks read them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Names of directories that hold nothing which a person wrote.
const GENERATED: &[&str] = &[".git", "__pycache__", "node_modules"];

/// Returns the files below a folder that have one of these extensions, in order. The paths begin with
/// `folder`; a folder that does not exist has no files.
pub(crate) fn files_below(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if folder.is_dir() {
        collect(folder, extensions, &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, extensions: &[&str], files: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        folder.read_dir().with_context(|| format!("could not read {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            if !GENERATED.contains(&&*name) && !name.starts_with("target") {
                collect(&path, extensions, files)?;
            }
        } else if path.extension().is_some_and(|one| extensions.iter().any(|known| one == *known)) {
            files.push(path);
        }
    }
    Ok(())
}

/// Reads a file as text.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))
}

/// Returns a path as it is written in documents: from the root, with `/`.
pub(crate) fn from_root(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_kind_are_found_and_build_output_is_not() {
        let root = tempfile::tempdir().unwrap();
        for file in ["src/a.rs", "src/deep/b.rs", "notes.md", "target/c.rs", ".git/d.rs"] {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = |extensions: &[&str]| -> Vec<String> {
            let files = files_below(root.path(), extensions).unwrap();
            files.iter().map(|file| from_root(root.path(), file)).collect()
        };
        assert_eq!(found(&["rs"]), ["src/a.rs", "src/deep/b.rs"]);
        assert_eq!(found(&["md", "toml"]), ["notes.md"]);
        assert!(files_below(&root.path().join("missing"), &["rs"]).unwrap().is_empty());
    }
}
