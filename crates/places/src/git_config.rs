//! Finds the files of a workspace that its repository's configuration names: hooks, included
//! configuration, filters. What is in them decides which programs git starts.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Limits how much of a configuration is read.
const MAX_CONFIG_BYTES: u64 = 256 * 1024;
/// Limits how many configurations include each other.
const MAX_INCLUDED_COUNT: usize = 16;

/// Returns the existing paths in a workspace that the configuration of its repository names. Every
/// value counts that leads to a file or directory of the workspace: which keys name programs, changes
/// with git.
pub fn list_paths_named_by_git(workspace: &Path) -> Vec<PathBuf> {
    let Ok(workspace) = workspace.canonicalize() else { return Vec::new() };
    let git = workspace.join(".git");
    let mut named: Vec<PathBuf> = Vec::new();
    let mut configs = vec![git.join("config"), git.join("config.worktree")];
    let mut position = 0;
    while let Some(config) =
        configs.get(position).cloned().filter(|_| position < MAX_INCLUDED_COUNT)
    {
        position += 1;
        let text = read_config(&config).unwrap_or_default();
        let beside = config.parent().unwrap_or(&git);
        for value in text.lines().filter_map(|line| line.split_once('=')).map(|(_, value)| value) {
            for path in resolve_value(value, &[&workspace, beside]) {
                let is_inside = path.starts_with(&workspace) && path != workspace;
                if is_inside && !path.starts_with(&git) && !named.contains(&path) {
                    if path.is_file() {
                        configs.push(path.clone());
                    }
                    named.push(path);
                }
            }
        }
    }
    named
}

/// Returns the text of a configuration, as far as it is read; none if it cannot be.
fn read_config(path: &Path) -> Option<String> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(MAX_CONFIG_BYTES).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Returns the existing paths that a value may mean: the whole value, or a program at its beginning,
/// relative to one of the directories.
fn resolve_value<'a>(
    value: &'a str,
    directories: &'a [&Path],
) -> impl Iterator<Item = PathBuf> + 'a {
    let whole = value.trim().trim_matches('"').trim_start_matches('!');
    let first = whole.split_whitespace().next().unwrap_or_default();
    let texts = [whole, first].into_iter().filter(|text| !text.is_empty());
    let joined = move |text: &'a str| directories.iter().map(move |directory| directory.join(text));
    texts.flat_map(joined).filter_map(|path| path.canonicalize().ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn hooks_and_included_files_of_the_workspace_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in [".git", "scripts/hooks", "tools"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let config = "[core]\n\thooksPath = scripts/hooks\n\tbare = false\n[include]\n\tpath = \
                      ../my.gitconfig\n[remote \"origin\"]\n\turl = https://example.org/x\n";
        fs::write(root.join(".git/config"), config).unwrap();
        fs::write(root.join("my.gitconfig"), "[filter \"x\"]\n\tclean = \"tools/clean %f\"\n")
            .unwrap();
        fs::write(root.join("tools/clean"), "").unwrap();
        let found = list_paths_named_by_git(&root);
        assert_eq!(
            found,
            ["scripts/hooks", "my.gitconfig", "tools/clean"].map(|name| root.join(name))
        );
        assert!(list_paths_named_by_git(&root.join("tools")).is_empty());
    }
}
