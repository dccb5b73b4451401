//! Opens a repository for a job, except for what decides which programs git starts.
//!
//! Some files that git itself makes anew can lead to programs as well. They cannot be kept read-only,
//! so they are checked when the job has ended.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use lango_places::PlaceholderKind::{self, Directory, File, OwnDirectory};
use rustix::fs::{Mode, OFlags, open};

use crate::config_file::has_plain_additions;
use crate::entry_stamp::EntryStamp;
use crate::index_file::{self, is_harmless_index};
use crate::job::ProtectedPath;
use crate::planted::{PlantedKind, PlantedRepository, disable_entry};

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

/// The files of a rebase or a cherry-pick under way that can name programs.
const STEP_FILES: [(&str, &str); 4] = [
    ("rebase-merge", STEPS),
    ("rebase-merge", "strategy"),
    ("rebase-merge", "strategy_opts"),
    ("sequencer", "opts"),
];
/// The file with the steps of a rebase.
const STEPS: &str = "git-rebase-todo";
/// Limits how many bytes of a file are compared.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Limits how many entries of a repository are checked for links.
const MAX_CHECKED_ENTRY_COUNT: usize = 20_000;

/// Returns the places of a `.git` directory that decide which programs git starts.
pub(crate) fn list_deciding_places(git: &Path) -> Vec<ProtectedPath> {
    DECIDING_PLACES.map(|(name, kind)| ProtectedPath { path: git.join(name), kind }).into()
}

/// A repository that a job may write, with what cannot be kept read-only in it, as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedRepository {
    git: PathBuf,
    /// The steps under way that name programs, by their directory.
    steps: BTreeMap<&'static str, Vec<u8>>,
    /// The links and special files, with the targets of links.
    unusual: BTreeMap<PathBuf, PathBuf>,
    /// The indexes.
    indexes: BTreeMap<PathBuf, EntryStamp>,
    /// The configuration. It is read-only for the job, unless another program replaces the file.
    config: Option<String>,
}

impl OpenedRepository {
    /// Looks at the repository before the job.
    pub(crate) fn new(git: &Path) -> Self {
        Self {
            git: git.to_owned(),
            steps: read_steps(git),
            unusual: find_unusual_entries(git),
            indexes: stamp_indexes(git).collect(),
            config: read_config(git),
        }
    }

    /// Disables what the job left in the repository that would make git start programs or write to
    /// files outside of the work tree. What was there before stays.
    pub(crate) fn disable_planted(&self) -> Vec<PlantedRepository> {
        let git = &self.git;
        let steps = read_steps(git).into_iter();
        let steps = steps.filter(|(name, text)| self.steps.get(name) != Some(text));
        let steps = steps.map(|(name, _)| (git.join(name), PlantedKind::Steps));
        let unusual = find_unusual_entries(git).into_iter();
        let unusual = unusual.filter(|(path, target)| self.unusual.get(path) != Some(target));
        let unusual = unusual.map(|(path, _)| (path, PlantedKind::Link));
        let object_bytes = read_object_size(git);
        let indexes = stamp_indexes(git);
        let indexes = indexes.filter(|(path, stamp)| self.indexes.get(path) != Some(stamp));
        let indexes = indexes.filter(|(path, _)| !is_harmless_index(path, object_bytes));
        let indexes = indexes.map(|(path, _)| (path, PlantedKind::Index));
        // The steps go last: a link in them is renamed where it was found.
        let planted: Vec<_> = unusual.chain(indexes).chain(steps).collect();
        let planted = planted.into_iter().filter_map(|(path, kind)| disable_entry(path, kind));
        planted.chain(self.restore_config()).collect()
    }

    /// Tells whether there is a configuration that could be put back.
    pub(crate) fn has_config(&self) -> bool {
        self.config.is_some()
    }

    /// Puts the earlier configuration back if the one that is there now could start programs.
    fn restore_config(&self) -> Option<PlantedRepository> {
        let before = self.config.as_deref()?;
        let is_plain = |now: &str| now == before || has_plain_additions(before, now);
        if read_config(&self.git).is_some_and(|now| is_plain(&now)) {
            return None;
        }
        let path = self.git.join("config");
        path.symlink_metadata().ok()?;
        let mut planted = disable_entry(path, PlantedKind::Config)?;
        let file = fs::File::options().write(true).create_new(true).open(&planted.path);
        if file.and_then(|mut file| file.write_all(before.as_bytes())).is_err() {
            planted.renamed = None;
        }
        Some(planted)
    }
}

/// Reads the configuration of a repository, if it is one.
fn read_config(git: &Path) -> Option<String> {
    match read_repository_file(&git.join("config")) {
        RepositoryFile::Text(text) => String::from_utf8(text).ok(),
        RepositoryFile::Missing | RepositoryFile::Unusual => None,
    }
}

/// Tells whether a repository has nothing that is checked after a job.
pub(crate) fn is_harmless_inside(git: &Path) -> bool {
    read_steps(git).is_empty()
        && find_unusual_entries(git).is_empty()
        && find_harmful_indexes(git).is_empty()
}

/// Returns the links and special files of a repository outside of its objects, the nearest first.
/// Git makes none of them, and would write through them.
fn find_unusual_entries(git: &Path) -> BTreeMap<PathBuf, PathBuf> {
    let mut unusual = BTreeMap::new();
    let mut left = MAX_CHECKED_ENTRY_COUNT;
    let mut level = vec![git.to_owned()];
    while !level.is_empty() && left > 0 {
        let mut next = Vec::new();
        for directory in level {
            // What cannot be listed has no entries to write through.
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                left = left.saturating_sub(1);
                let (path, kind) = (entry.path(), entry.file_type());
                match kind {
                    Ok(kind) if kind.is_dir() && path != git.join("objects") => next.push(path),
                    Ok(kind) if kind.is_dir() || kind.is_file() => {}
                    // Only a link has a target.
                    _ => drop(unusual.insert(path.clone(), path.read_link().unwrap_or_default())),
                }
                if left == 0 {
                    return unusual;
                }
            }
        }
        level = next;
    }
    unusual
}

/// Returns the indexes of a repository with paths that git itself does not add.
pub(crate) fn find_harmful_indexes(git: &Path) -> Vec<PathBuf> {
    let object_bytes = read_object_size(git);
    list_indexes(git).filter(|path| !is_harmless_index(path, object_bytes)).collect()
}

fn stamp_indexes(git: &Path) -> impl Iterator<Item = (PathBuf, EntryStamp)> {
    list_indexes(git).filter_map(|path| EntryStamp::of(&path).map(|stamp| (path, stamp)))
}

/// Tells whether git looks into repositories below this one, each with a configuration of its own.
pub fn has_submodules(git: &Path) -> bool {
    let object_bytes = read_object_size(git);
    list_indexes(git).any(|path| index_file::has_submodules(&path, object_bytes))
}

/// Returns the number of bytes of the names of objects.
fn read_object_size(git: &Path) -> usize {
    let config = fs::read_to_string(git.join("config")).unwrap_or_default();
    if config.to_ascii_lowercase().contains("sha256") { 32 } else { 20 }
}

fn list_indexes(git: &Path) -> impl Iterator<Item = PathBuf> {
    let is_index = |name: &str| name == "index" || name.starts_with("sharedindex.");
    let entries = fs::read_dir(git).into_iter().flatten().flatten();
    let indexes = entries.filter(move |entry| entry.file_name().to_str().is_some_and(is_index));
    // A disabled one keeps the beginning of its name.
    let is_enabled = |path: &PathBuf| !path.to_string_lossy().contains(".untrusted");
    indexes.map(|entry| entry.path()).filter(is_enabled)
}

/// Returns the parts of steps under way that name programs, by their directory: steps that run a
/// command, and merge strategies that are no plain names.
fn read_steps(git: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    let mut found: BTreeMap<&'static str, Vec<u8>> = BTreeMap::new();
    for (directory, name) in STEP_FILES {
        let text = match read_repository_file(&git.join(directory).join(name)) {
            RepositoryFile::Missing => continue,
            RepositoryFile::Unusual => Vec::new(),
            RepositoryFile::Text(text) if name == STEPS && !runs_command(&text) => continue,
            // A strategy names a part of git, and with a slash any program.
            RepositoryFile::Text(text) if name != STEPS && !text.contains(&b'/') => continue,
            RepositoryFile::Text(text) => text,
        };
        let programs = found.entry(directory).or_default();
        programs.extend_from_slice(name.as_bytes());
        programs.extend(text);
    }
    found
}

/// A file in a repository, which a job may have made.
enum RepositoryFile {
    Missing,
    /// No regular file, or a very long one: git makes none of them.
    Unusual,
    Text(Vec<u8>),
}

fn read_repository_file(path: &Path) -> RepositoryFile {
    if path.symlink_metadata().is_err() {
        return RepositoryFile::Missing;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let read = || {
        let file = fs::File::from(open(path, flags, Mode::empty()).ok()?);
        let mut content = Vec::new();
        // A device has no end, and a pipe no content yet.
        file.metadata().ok().filter(fs::Metadata::is_file)?;
        let length = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut content).ok()?;
        (length as u64 <= MAX_FILE_BYTES).then_some(content)
    };
    read().map_or(RepositoryFile::Unusual, RepositoryFile::Text)
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
    }
}
