//! Names at which nothing is and nothing may be put.
//!
//! A mount needs something to be mounted on, so an empty directory or file is made there for as
//! long as a job runs. It is removed afterwards if it is still empty and nobody else uses it; one
//! that was left behind by a killed process is recognised by its time and removed the next time.

use std::fs::{self, File, FileTimes};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

use crate::job::Kind;

/// The time that stand-ins carry, in seconds and nanoseconds after 1970.
const MARK: (i64, i64) = (1_000_000, 271_828);
/// How often a stand-in may vanish or be without its mark while it is being taken.
const ATTEMPTS: usize = 100;

/// A stand-in. As long as one of its users lives, it must stay: removing it would uncover the
/// name in the others' sandboxes.
#[derive(Debug)]
pub(crate) struct StandIn {
    path: PathBuf,
    /// Holds a shared lock, on the thing itself.
    file: File,
}

impl StandIn {
    /// Makes a stand-in, or shares that of another job.
    ///
    /// None where somebody put something real there in the meantime, or where we may not write:
    /// then the job may not either.
    pub(crate) fn take(path: &Path, kind: Kind) -> io::Result<Option<Self>> {
        for _ in 0..ATTEMPTS {
            match make(path, kind) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if is_not_ours_to_write(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let file = match open(path, flags, Mode::empty()) {
                Ok(file) => File::from(file),
                Err(rustix::io::Errno::NOENT) => continue,
                Err(rustix::io::Errno::LOOP | rustix::io::Errno::ACCESS) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            flock(&file, FlockOperation::LockShared)?;
            if !is_still_at(&file, path) {
                continue;
            }
            if is_stand_in(path, &file) {
                return Ok(Some(Self { path: path.to_owned(), file }));
            }
            if !is_newborn(path, &file) {
                return Ok(None);
            }
            // Another process is just making it, and has not marked it yet.
            std::thread::sleep(Duration::from_millis(1));
        }
        // Still empty and without a mark: somebody else's. Or it is never there when one looks.
        match fs::symlink_metadata(path) {
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes it, unless somebody else uses it or it is no longer empty.
    pub(crate) fn release(self) {
        if flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_err()
            || !is_still_at(&self.file, &self.path)
            || !is_stand_in(&self.path, &self.file)
        {
            return;
        }
        // Both fail on something that is not empty or not there, which is then not ours.
        let _ = match self.file.metadata() {
            Ok(found) if found.is_dir() => fs::remove_dir(&self.path),
            Ok(_) => fs::remove_file(&self.path),
            Err(error) => Err(error),
        };
    }
}

/// Whether what is at `path` is a stand-in that was left behind or is in use.
pub(crate) fn is_left_behind(path: &Path, found: &fs::Metadata) -> bool {
    if (found.mtime(), found.mtime_nsec()) != MARK {
        return false;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    open(path, flags, Mode::empty()).is_ok_and(|file| is_stand_in(path, &File::from(file)))
}

fn make(path: &Path, kind: Kind) -> io::Result<()> {
    let file = match kind {
        Kind::Directory => {
            fs::create_dir(path)?;
            File::open(path)?
        }
        Kind::File => File::options().write(true).create_new(true).open(path)?,
    };
    file.set_times(FileTimes::new().set_modified(mark()))
}

fn mark() -> SystemTime {
    let (seconds, nanoseconds) = MARK;
    SystemTime::UNIX_EPOCH
        + Duration::new(seconds.unsigned_abs(), u32::try_from(nanoseconds).unwrap_or_default())
}

fn is_not_ours_to_write(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
    )
}

fn is_still_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(found)) => (open.dev(), open.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

fn is_stand_in(path: &Path, file: &File) -> bool {
    let Ok(found) = file.metadata() else { return false };
    (found.mtime(), found.mtime_nsec()) == MARK && is_empty(path, &found)
}

/// Whether it is empty and was made within the last second.
fn is_newborn(path: &Path, file: &File) -> bool {
    let Ok(found) = file.metadata() else { return false };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let age = now.as_secs().cast_signed() - found.ctime();
    (0..=1).contains(&age) && is_empty(path, &found)
}

fn is_empty(path: &Path, found: &fs::Metadata) -> bool {
    if found.is_dir() {
        fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
    } else {
        found.is_file() && found.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_two_users_removes_it() {
        let directory = tempfile::tempdir().unwrap();
        for (name, kind) in [(".git", Kind::Directory), ("AGENTS.md", Kind::File)] {
            let path = directory.path().join(name);
            let first = StandIn::take(&path, kind).unwrap().unwrap();
            let second = StandIn::take(&path, kind).unwrap().unwrap();
            assert!(is_left_behind(&path, &fs::symlink_metadata(&path).unwrap()));
            first.release();
            assert!(path.exists());
            second.release();
            assert!(!path.exists());
        }
    }

    #[test]
    fn what_was_left_behind_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".git");
        drop(StandIn::take(&path, Kind::Directory).unwrap().unwrap());
        assert!(path.exists());
        StandIn::take(&path, Kind::Directory).unwrap().unwrap().release();
        assert!(!path.exists());
    }

    #[test]
    fn what_somebody_put_there_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("AGENTS.md");
        let stand_in = StandIn::take(&path, Kind::File).unwrap().unwrap();
        fs::write(&path, "words").unwrap();
        stand_in.release();
        assert_eq!(fs::read_to_string(&path).unwrap(), "words");
        // Empty, but not ours: it does not carry the mark.
        fs::write(&path, "").unwrap();
        assert!(!is_left_behind(&path, &fs::symlink_metadata(&path).unwrap()));
        assert!(StandIn::take(&path, Kind::File).unwrap().is_none());
        assert!(path.exists());
    }
}
