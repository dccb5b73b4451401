//! Keeps the number of acknowledged commits in a small file beside the database.
//!
//! SQLite drops whatever follows a damaged or missing part of its log, without a word. The database
//! counts the commits that were acknowledged; this file says how many there must be. It is written
//! after a commit, so that it may lag behind the database and is never ahead of it: a process that
//! is killed in between causes no false alarm. It is never synced: after a power failure, only the
//! number that was on the disk together with its commits counts.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// The length of a slot. Two writes in turn go to different slots, so that one that is cut short
/// leaves the other.
const SLOT_BYTES: usize = 256;

const SLOT_COUNT: u64 = 2;

/// What the file says about the database beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommitRecord {
    /// The identity of the database.
    pub(super) identity: String,
    /// The number of acknowledged commits.
    pub(super) commits: u64,
    /// How many of them are known to be on the disk.
    pub(super) synced: u64,
    /// The boot of the machine in which it was written.
    boot: String,
}

impl CommitRecord {
    /// Reads the file beside a database; none if it says nothing.
    pub(super) fn read(database: &Path) -> Option<Self> {
        let content = fs::read(record_path(database)).ok()?;
        content.chunks(SLOT_BYTES).filter_map(Self::parse).max_by_key(|record| record.commits)
    }

    /// Returns how many commits the database must have. Without a loss of power since then, what
    /// the system accepted is there, too.
    pub(super) fn expected_commits(&self) -> u64 {
        if self.boot == boot_identity() { self.commits.max(self.synced) } else { self.synced }
    }

    fn parse(slot: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(slot).ok()?.trim_end();
        let (content, digest) = text.rsplit_once(' ')?;
        if digest != short_digest(content) {
            return None;
        }
        let mut words = content.split(' ');
        if words.next() != Some("lango-commits") {
            return None;
        }
        Some(Self {
            identity: words.next()?.to_owned(),
            commits: words.next()?.parse().ok()?,
            synced: words.next()?.parse().ok()?,
            boot: words.next()?.to_owned(),
        })
    }

    fn render(&self) -> Vec<u8> {
        let Self { identity, commits, synced, boot } = self;
        let content = format!("lango-commits {identity} {commits} {synced} {boot}");
        let mut slot = format!("{content} {}", short_digest(&content)).into_bytes();
        slot.resize(SLOT_BYTES - 1, b' ');
        slot.push(b'\n');
        slot
    }
}

/// Writes the file.
#[derive(Debug)]
pub(super) struct CommitRecordFile {
    path: PathBuf,
    file: Option<File>,
    record: CommitRecord,
}

impl CommitRecordFile {
    /// Starts with what the database itself says. Nothing is written.
    pub(super) fn new(database: &Path, identity: String, commits: u64) -> Self {
        let record = CommitRecord { identity, commits, synced: 0, boot: boot_identity() };
        Self { path: record_path(database), file: None, record }
    }

    /// Returns the number of acknowledged commits.
    pub(super) fn commits(&self) -> u64 {
        self.record.commits
    }

    /// Writes that a commit was made, and how many are on the disk.
    pub(super) fn note_commit(&mut self, commits: u64, synced: u64) {
        self.record.commits = commits;
        self.record.synced = self.record.synced.max(synced);
        self.write();
    }

    /// Writes that all commits of this process are on the disk.
    pub(super) fn note_sync(&mut self) {
        if self.record.synced < self.record.commits {
            self.record.synced = self.record.commits;
            self.write();
        }
    }

    fn write(&mut self) {
        let slot = self.record.commits % SLOT_COUNT;
        let content = self.record.render();
        let written =
            self.open().and_then(|file| file.write_all_at(&content, slot * SLOT_BYTES as u64));
        if let Err(error) = written {
            // The file lags behind then, which only makes a loss harder to notice.
            tracing::warn!(path = %self.path.display(), %error, "the commit record was not written");
        }
    }

    fn open(&mut self) -> std::io::Result<&File> {
        if self.file.is_none() {
            let mut options = OpenOptions::new();
            let file = options.write(true).create(true).truncate(false).mode(0o600);
            self.file = Some(file.open(&self.path)?);
        }
        self.file.as_ref().ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

/// Removes the file, so that the database is accepted as it is.
pub(super) fn forget(database: &Path) -> std::io::Result<()> {
    match fs::remove_file(record_path(database)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the path of the file beside a database.
pub(super) fn record_path(database: &Path) -> PathBuf {
    super::connection::beside(database, "-state")
}

fn short_digest(content: &str) -> String {
    lango_text::hex(&Sha256::digest(content)[..8])
}

/// Returns the identity of this boot of the machine. Where it is not known, only what was synced
/// counts, because every boot looks like another one.
fn boot_identity() -> String {
    match fs::read_to_string("/proc/sys/kernel/random/boot_id") {
        Ok(text) => text.trim().to_owned(),
        Err(_) => uuid::Uuid::new_v4().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_whole_slot_counts() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("lango.db");
        assert_eq!(CommitRecord::read(&database), None);
        let mut file = CommitRecordFile::new(&database, "a".into(), 0);
        for commits in 1..=5 {
            file.note_commit(commits, commits.min(3));
        }
        let record = CommitRecord::read(&database).unwrap();
        assert_eq!((record.commits, record.synced, record.expected_commits()), (5, 3, 5));
        let other_boot = CommitRecord { boot: "another".into(), ..record };
        assert_eq!(other_boot.expected_commits(), 3);
        // A write that was cut short leaves the one before.
        let path = record_path(&database);
        let mut content = fs::read(&path).unwrap();
        content[SLOT_BYTES + 20] ^= 1;
        fs::write(&path, content).unwrap();
        assert_eq!(CommitRecord::read(&database).unwrap().commits, 4);
    }
}
