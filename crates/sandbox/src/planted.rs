//! Disables what a job left that would make git start programs.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat_with};

const DISABLED_SUFFIX: &str = ".untrusted";
/// Limits how many names are tried for what is disabled.
const MAX_NAME_COUNT: usize = 100;

/// Something that a job made and that would make git start programs. It is displayed as a sentence
/// without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantedRepository {
    /// The `.git` entry, the directory that is a repository, or the file in a repository.
    pub path: PathBuf,
    /// The name that the file has now without which it is harmless; none if it could not be renamed.
    pub renamed: Option<PathBuf>,
    /// What was made.
    pub kind: PlantedKind,
}

/// What a job made that would make git start programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedKind {
    /// A repository, or one in which the job changed what decides about programs.
    Repository,
    /// Steps of a rebase or a cherry-pick that run commands.
    Steps,
    /// A link or a special file in a repository, through which git would write.
    Link,
    /// An index with paths in `.git` or outside of the work tree.
    Index,
    /// A configuration that changed while the job ran. The earlier one is in its place again.
    Config,
    /// A directory that could be looked through before the job, and cannot now.
    Unchecked,
}

impl fmt::Display for PlantedRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.kind {
            PlantedKind::Repository => write!(
                f,
                "the command made or changed the repository {path}, which decides which programs git \
                 starts"
            ),
            PlantedKind::Steps => {
                write!(f, "the command left steps in {path} that make git start programs")
            }
            PlantedKind::Link => {
                write!(f, "the command made {path}, which leads git to write to another file")
            }
            PlantedKind::Config => write!(
                f,
                "while the command ran, {path} got settings that may start programs, and the earlier \
                 ones are in force again"
            ),
            PlantedKind::Index => write!(
                f,
                "the command left the index {path} with paths in .git or outside of the work tree"
            ),
            PlantedKind::Unchecked => {
                return write!(
                    f,
                    "the command left so many or such directories that {path} could not be checked for \
                     repositories; look at it before you use git there"
                );
            }
        }?;
        match &self.renamed {
            Some(name) => write!(
                f,
                "; it is disabled, and a person who trusts it can enable it by removing \
                 {DISABLED_SUFFIX} from the name of {}",
                name.display()
            ),
            None => f.write_str("; it could not be disabled: remove it before you use git there"),
        }
    }
}

/// Renames what makes a path a repository: `HEAD` of a directory, or a `.git` that leads to another
/// place.
/// Returns none if it is no repository.
pub(crate) fn disable_repository(path: &Path) -> Option<PlantedRepository> {
    let is_directory = path.symlink_metadata().ok()?.is_dir();
    let (directory, name) = if is_directory {
        // Without it, git looks further up.
        path.join("HEAD").symlink_metadata().ok().filter(|found| !found.is_dir())?;
        (path, "HEAD")
    } else {
        (path.parent()?, ".git")
    };
    let renamed =
        rename_to_free_name(directory, name.as_ref()).ok().map(|name| directory.join(name));
    Some(PlantedRepository { path: path.to_owned(), renamed, kind: PlantedKind::Repository })
}

/// Renames an entry.
pub(crate) fn disable_entry(path: PathBuf, kind: PlantedKind) -> Option<PlantedRepository> {
    let (directory, name) = (path.parent()?, path.file_name()?);
    let renamed = rename_to_free_name(directory, name).ok().map(|name| directory.join(name));
    Some(PlantedRepository { path, renamed, kind })
}

/// Renames an entry of a directory, whatever another command puts on the way there.
fn rename_to_free_name(directory: &Path, name: &OsStr) -> io::Result<OsString> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let directory = openat2(CWD, directory, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    for number in 0..MAX_NAME_COUNT {
        let number = if number == 0 { String::new() } else { number.to_string() };
        let mut new = name.to_owned();
        new.push(format!("{DISABLED_SUFFIX}{number}"));
        match renameat_with(&directory, name, &directory, &new, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(new),
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
