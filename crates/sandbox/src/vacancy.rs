//! Reserves paths that do not exist and must not be created.
//!
//! A mount needs a mount point, so an empty directory or file is created as a placeholder while a
//! job runs. It is removed afterwards if it is still as it was made and not in use; one that a killed
//! process left is recognized by its modification time and removed the next time.

use std::fs::{self, File, FileTimes};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lango_places::PlaceholderKind;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

/// The modification time of placeholders, in seconds and nanoseconds after 1970.
const PLACEHOLDER_MTIME: (i64, i64) = (1_000_000, 271_828);
/// The content of a placeholder that stands for the path of its own directory.
const OWN_DIRECTORY: &[u8] = b".\n";
/// Limits how often a placeholder may vanish or be unmarked while it is being taken.
const MAX_TAKE_ATTEMPTS: usize = 100;

/// A placeholder. It must stay as long as one of its users lives: removing it would uncover the
/// path in the others' sandboxes.
#[derive(Debug)]
pub(crate) struct Placeholder {
    path: PathBuf,
    /// Holds a shared lock on the placeholder.
    file: File,
}

impl Placeholder {
    /// Creates a placeholder, or shares that of another job.
    ///
    /// Returns none if something real was created there meanwhile, or if the path is not writable
    /// for this process and so not for the job either.
    pub(crate) fn create_or_share(path: &Path, kind: PlaceholderKind) -> io::Result<Option<Self>> {
        for _ in 0..MAX_TAKE_ATTEMPTS {
            match create_placeholder(path, kind) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if is_not_writable(&error) => return Ok(None),
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
            if is_placeholder(path, &file) {
                return Ok(Some(Self { path: path.to_owned(), file }));
            }
            if !is_recently_created(path, &file) {
                return Ok(None);
            }
            // Another process is creating it, and has not marked it yet.
            std::thread::sleep(Duration::from_millis(1));
        }
        // It is still empty and unmarked, so it is not a placeholder, or it keeps vanishing.
        match fs::symlink_metadata(path) {
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes it, unless it is in use or no longer empty.
    pub(crate) fn release(self) {
        if flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_err()
            || !is_still_at(&self.file, &self.path)
            || !is_placeholder(&self.path, &self.file)
        {
            return;
        }
        // Both fail if it is not empty or does not exist, and is then not ours to remove.
        let _ = match self.file.metadata() {
            Ok(found) if found.is_dir() => fs::remove_dir(&self.path),
            Ok(_) => fs::remove_file(&self.path),
            Err(error) => Err(error),
        };
    }
}

/// Removes a placeholder that no process uses any more. Everything else stays.
pub(crate) fn remove_leftover(path: &Path) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    // What is not there, or cannot be opened, is no placeholder.
    if let Ok(file) = open(path, flags, Mode::empty()) {
        Placeholder { path: path.to_owned(), file: file.into() }.release();
    }
}

/// Tells whether the entry at `path` is a placeholder, in use or left over.
pub(crate) fn is_existing_placeholder(path: &Path, found: &fs::Metadata) -> bool {
    if !is_marked(found) {
        return false;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    open(path, flags, Mode::empty()).is_ok_and(|file| is_placeholder(path, &File::from(file)))
}

/// Tells whether an entry has the modification time of a placeholder.
pub(crate) fn is_marked(found: &fs::Metadata) -> bool {
    (found.mtime(), found.mtime_nsec()) == PLACEHOLDER_MTIME
}

fn create_placeholder(path: &Path, kind: PlaceholderKind) -> io::Result<()> {
    let file = match kind {
        PlaceholderKind::Directory => {
            fs::create_dir(path)?;
            File::open(path)?
        }
        PlaceholderKind::File => File::options().write(true).create_new(true).open(path)?,
        PlaceholderKind::OwnDirectory => {
            let mut file = File::options().write(true).create_new(true).open(path)?;
            file.write_all(OWN_DIRECTORY)?;
            file
        }
    };
    file.set_times(FileTimes::new().set_modified(placeholder_time()))
}

fn placeholder_time() -> SystemTime {
    let (seconds, nanoseconds) = PLACEHOLDER_MTIME;
    SystemTime::UNIX_EPOCH
        + Duration::new(seconds.unsigned_abs(), u32::try_from(nanoseconds).unwrap_or_default())
}

fn is_not_writable(error: &io::Error) -> bool {
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

fn is_placeholder(path: &Path, file: &File) -> bool {
    let Ok(found) = file.metadata() else { return false };
    is_marked(&found) && is_empty(path, &found)
}

/// Tells whether it is empty and was created within the last second.
fn is_recently_created(path: &Path, file: &File) -> bool {
    let Ok(found) = file.metadata() else { return false };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let age = now.as_secs().cast_signed() - found.ctime();
    (0..=1).contains(&age) && is_empty(path, &found)
}

fn is_empty(path: &Path, found: &fs::Metadata) -> bool {
    if found.is_dir() {
        fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
    } else {
        found.is_file() && (found.len() == 0 || has_own_directory(path, found.len()))
    }
}

/// Tells whether a file of this length has the content of a placeholder for its own directory.
fn has_own_directory(path: &Path, length: u64) -> bool {
    let mut content = Vec::new();
    length == OWN_DIRECTORY.len() as u64
        // What cannot be read is no placeholder.
        && File::open(path).and_then(|file| file.take(length).read_to_end(&mut content)).is_ok()
        && content == OWN_DIRECTORY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_two_users_removes_it() {
        let directory = tempfile::tempdir().unwrap();
        for (name, kind) in [
            (".git", PlaceholderKind::Directory),
            ("AGENTS.md", PlaceholderKind::File),
            ("commondir", PlaceholderKind::OwnDirectory),
        ] {
            let path = directory.path().join(name);
            let first = Placeholder::create_or_share(&path, kind).unwrap().unwrap();
            let second = Placeholder::create_or_share(&path, kind).unwrap().unwrap();
            assert!(is_existing_placeholder(&path, &fs::symlink_metadata(&path).unwrap()));
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
        drop(Placeholder::create_or_share(&path, PlaceholderKind::Directory).unwrap().unwrap());
        assert!(path.exists());
        Placeholder::create_or_share(&path, PlaceholderKind::Directory).unwrap().unwrap().release();
        assert!(!path.exists());
    }

    #[test]
    fn a_file_with_content_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("AGENTS.md");
        let placeholder =
            Placeholder::create_or_share(&path, PlaceholderKind::File).unwrap().unwrap();
        fs::write(&path, "words").unwrap();
        placeholder.release();
        assert_eq!(fs::read_to_string(&path).unwrap(), "words");
        // Empty, but not a placeholder: it is not marked.
        fs::write(&path, "").unwrap();
        assert!(!is_existing_placeholder(&path, &fs::symlink_metadata(&path).unwrap()));
        assert!(Placeholder::create_or_share(&path, PlaceholderKind::File).unwrap().is_none());
        assert!(path.exists());
    }
}
