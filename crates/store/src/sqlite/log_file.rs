//! Brings the write-ahead log to the disk.
//!
//! A commit is synced after it was made, and without the connection: SQLite's own sync would keep
//! everybody from writing until the disk has answered. A process that waits for a commit is answered once
//! the log is on the disk up to it.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::connection;
use crate::StoreError;

/// The log of an open database.
#[derive(Debug)]
pub(super) struct LogFile {
    file: File,
    location: Arc<str>,
    /// The number of acknowledged commits that are known to be on the disk.
    synced_commits: AtomicU64,
    /// Why a sync failed. The system may have dropped what it could not write, and would report
    /// success the next time, so that nothing more can be acknowledged.
    failure: OnceLock<StoreError>,
}

impl LogFile {
    /// Opens the log of a database that a connection has open. Closing it again drops no lock:
    /// SQLite has its locks on the other files.
    pub(super) fn open(database: &Path, location: Arc<str>) -> Result<Self, StoreError> {
        let path = connection::beside(database, "-wal");
        match File::open(&path) {
            Ok(file) => Ok(Self::new(file, location)),
            Err(error) => {
                let reason = format!("{}: {error}", path.display());
                Err(StoreError::Open { location: location.to_string(), reason })
            }
        }
    }

    fn new(file: File, location: Arc<str>) -> Self {
        Self { file, location, synced_commits: AtomicU64::new(0), failure: OnceLock::new() }
    }

    /// Returns the size in bytes; 0 if it is not known.
    pub(super) fn size(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    /// Waits until everything that was written is on the disk; `commits` is the number of acknowledged
    /// commits by then.
    pub(super) fn sync(&self, commits: u64) -> Result<(), StoreError> {
        if let Some(failure) = self.failure.get() {
            return Err(failure.clone());
        }
        match self.file.sync_data() {
            Ok(()) => {
                self.synced_commits.fetch_max(commits, Ordering::AcqRel);
                Ok(())
            }
            Err(error) => Err(self.note_failure(&error)),
        }
    }

    pub(super) fn synced_commits(&self) -> u64 {
        self.synced_commits.load(Ordering::Acquire)
    }

    fn note_failure(&self, error: &io::Error) -> StoreError {
        let location = self.location.to_string();
        if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
            return StoreError::Full { location };
        }
        let reason = format!("{error}; start this process again afterwards");
        self.failure.get_or_init(|| StoreError::Disk { location, reason }).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_acknowledged_after_a_failed_sync() {
        // A device without a disk refuses to sync.
        let log = LogFile::new(File::open("/dev/null").unwrap(), "lango.db".into());
        let error = log.sync(1).unwrap_err();
        assert!(matches!(error, StoreError::Disk { .. }), "{error}");
        assert_eq!(log.synced_commits(), 0);
        // Even if the disk would say yes again.
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lango.db");
        std::fs::write(connection::beside(&path, "-wal"), "").unwrap();
        let whole = LogFile::open(&path, "lango.db".into()).unwrap();
        whole.sync(2).unwrap();
        assert_eq!(whole.synced_commits(), 2);
        let log = LogFile { failure: log.failure, ..whole };
        assert_eq!(log.sync(3), Err(error));
        assert_eq!(log.synced_commits(), 2);
    }
}
