//! Reads `.gitignore` through the workspace's handle.
//!
//! The walker of the `ignore` crate opens paths, and would block on a FIFO or read a link to
//! `/dev/zero` that has that name. Its matcher is used, its walker is not.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::workspace::{Workspace, open_regular};

/// Limits how many bytes of a `.gitignore` are read.
const MAX_IGNORE_FILE_BYTES: u64 = 1024 * 1024;

/// Holds the rules for one directory: its own, and those of the directories above it.
#[derive(Clone, Default)]
pub(super) struct IgnoreRules {
    innermost: Option<Rc<RuleLevel>>,
}

struct RuleLevel {
    /// The directory of the rules, relative to the workspace.
    base: PathBuf,
    matcher: Gitignore,
    above: IgnoreRules,
}

impl IgnoreRules {
    /// Returns the rules of the directories above `start`, from the workspace down.
    pub(super) fn above(workspace: &Workspace, start: &Path) -> Self {
        let mut above: Vec<PathBuf> = start.ancestors().skip(1).map(Path::to_owned).collect();
        above.reverse();
        above.iter().fold(Self::default(), |rules, path| {
            let opened = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            match workspace.open_walked(opened) {
                Ok(directory) => rules.with_directory(&directory, path),
                Err(_) => rules,
            }
        })
    }

    /// Returns these rules with those of `directory` added, which is at `base`.
    pub(super) fn with_directory(&self, directory: &Dir, base: &Path) -> Self {
        let Some(matcher) = read_ignore_file(directory) else { return self.clone() };
        let level = RuleLevel { base: base.to_owned(), matcher, above: self.clone() };
        Self { innermost: Some(Rc::new(level)) }
    }

    /// Tells whether a path, relative to the workspace, is ignored. The nearest rule decides.
    pub(super) fn is_ignored(&self, path: &Path, is_directory: bool) -> bool {
        let mut rules = self;
        while let Some(level) = &rules.innermost {
            if let Ok(path) = path.strip_prefix(&level.base) {
                match level.matcher.matched(path, is_directory) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
            rules = &level.above;
        }
        false
    }
}

/// Reads the rules of a directory. A file that cannot be read has none, as in git.
fn read_ignore_file(directory: &Dir) -> Option<Gitignore> {
    let name = Path::new(".gitignore");
    // Git does not follow a link here either.
    if !directory.symlink_metadata(name).ok()?.is_file() {
        return None;
    }
    let (file, _) = open_regular(directory, name).ok()??;
    let mut content = Vec::new();
    file.take(MAX_IGNORE_FILE_BYTES).read_to_end(&mut content).ok()?;
    let mut builder = GitignoreBuilder::new(".");
    for line in String::from_utf8_lossy(&content).lines() {
        // A rule that cannot be read is skipped, as git does.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}
