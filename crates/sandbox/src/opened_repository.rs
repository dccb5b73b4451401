//! Opens a repository for a job, except for what decides which programs git starts.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lango_places::PlaceholderKind::{self, Directory, File, OwnDirectory};
use rustix::fs::{Mode, OFlags, open};

use crate::job::ProtectedPath;
use crate::repositories::{PlantedRepository, rename_to_free_name};

/// The places in a `.git` directory that decide which programs git starts, or lead it to another
/// repository that does. All of them stay read-only, existing or not.
const DECIDING_PLACES: [(&str, PlaceholderKind); 11] = [
    ("config", File),
    ("config.worktree", File),
    // Git fails on an empty file, and takes `.` for this very directory.
    ("commondir", OwnDirectory),
    ("hooks", Directory),
    ("info", Directory),
    ("modules", Directory),
    ("worktrees", Directory),
    ("remotes", Directory),
    ("branches", Directory),
    ("objects/info/alternates", File),
    ("objects/info/http-alternates", File),
];

/// The directory of a rebase that is under way. Its steps can run programs.
const REBASE: &str = "rebase-merge";
/// The files of a rebase that can name programs.
const REBASE_FILES: [&str; 3] = [STEPS, "strategy", "strategy_opts"];
/// The file with the steps of a rebase.
const STEPS: &str = "git-rebase-todo";
/// Limits how many bytes of such a file are compared.
const MAX_REBASE_BYTES: u64 = 1024 * 1024;

/// Returns the places of a `.git` directory that decide which programs git starts.
pub(crate) fn list_deciding_places(git: &Path) -> Vec<ProtectedPath> {
    DECIDING_PLACES.map(|(name, kind)| ProtectedPath { path: git.join(name), kind }).into()
}

/// A repository that a job may write, with what cannot be kept read-only in it, as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedRepository {
    git: PathBuf,
    /// The steps of a rebase that name programs. They are files that git itself makes anew.
    programs: Option<Vec<u8>>,
}

impl OpenedRepository {
    /// Looks at the repository before the job.
    pub(crate) fn new(git: &Path) -> Self {
        Self { git: git.to_owned(), programs: read_rebase_programs(git) }
    }

    /// Disables a rebase whose steps name programs, unless they are the same as before.
    pub(crate) fn disable_planted_rebase(self) -> Option<PlantedRepository> {
        let programs = read_rebase_programs(&self.git)?;
        if self.programs.as_ref() == Some(&programs) {
            return None;
        }
        let renamed = rename_to_free_name(&self.git, REBASE).ok().map(|name| self.git.join(name));
        Some(PlantedRepository { path: self.git.join(REBASE), renamed, is_rebase: true })
    }
}

/// Returns the parts of a rebase that name programs: steps that run a command, and a merge strategy
/// that is not a plain name.
fn read_rebase_programs(git: &Path) -> Option<Vec<u8>> {
    let mut programs = Vec::new();
    for name in REBASE_FILES {
        let content = match read_rebase_file(&git.join(REBASE).join(name)) {
            RebaseFile::Missing => continue,
            RebaseFile::Unusual => Vec::new(),
            RebaseFile::Text(text) if name == STEPS && !runs_command(&text) => continue,
            RebaseFile::Text(text) if name != STEPS && is_plain(&text) => continue,
            RebaseFile::Text(text) => text,
        };
        programs.extend_from_slice(name.as_bytes());
        programs.extend(content);
    }
    (!programs.is_empty()).then_some(programs)
}

/// A file of a rebase, which a job may have made.
enum RebaseFile {
    Missing,
    /// No regular file, or a very long one: git makes none of them.
    Unusual,
    Text(Vec<u8>),
}

fn read_rebase_file(path: &Path) -> RebaseFile {
    if path.symlink_metadata().is_err() {
        return RebaseFile::Missing;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let read = || {
        let file = fs::File::from(open(path, flags, Mode::empty()).ok()?);
        let mut content = Vec::new();
        // A device has no end, and a pipe no content yet.
        file.metadata().ok().filter(fs::Metadata::is_file)?;
        let length = file.take(MAX_REBASE_BYTES + 1).read_to_end(&mut content).ok()?;
        (length as u64 <= MAX_REBASE_BYTES).then_some(content)
    };
    read().map_or(RebaseFile::Unusual, RebaseFile::Text)
}

/// Tells whether a list of steps has one that is not known to run no command.
fn runs_command(steps: &[u8]) -> bool {
    let is_harmless = |line: &[u8]| {
        let line = line.trim_ascii_start();
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        matches!(
            &line[..end],
            b"" | b"pick"
                | b"p"
                | b"reword"
                | b"r"
                | b"edit"
                | b"e"
                | b"squash"
                | b"s"
                | b"fixup"
                | b"f"
                | b"drop"
                | b"d"
                | b"break"
                | b"b"
                | b"label"
                | b"l"
                | b"reset"
                | b"t"
                | b"merge"
                | b"m"
                | b"update-ref"
                | b"u"
                | b"noop"
        ) || line.starts_with(b"#")
    };
    !steps.split(|byte| *byte == b'\n').all(is_harmless)
}

/// Tells whether a merge strategy is the name of one.
fn is_plain(strategy: &[u8]) -> bool {
    strategy.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-=_ '\n".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_run_a_command_are_recognized() {
        assert!(!runs_command(b"# rebase\npick 1234 words exec x\nbreak\n\nlabel onto\n"));
        for steps in ["exec evil", "x evil", " exec evil", "\texec evil", "pick 1\nx\tevil", "; x"]
        {
            assert!(runs_command(steps.as_bytes()), "{steps}");
        }
        assert!(is_plain(b"ort\n") && !is_plain(b"../evil\n"));
    }
}
