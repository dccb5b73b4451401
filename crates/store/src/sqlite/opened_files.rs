//! Notices that the files of an open database were deleted or replaced.
//!
//! SQLite goes on to write to the files that it opened, which have no name any more: everything
//! would be gone at the end of the process. So the names are looked up before a commit is
//! acknowledged.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::connection;
use crate::StoreError;

/// The files that SQLite has open, with what identifies them on this machine.
#[derive(Debug)]
pub(super) struct OpenedFiles {
    files: Vec<(PathBuf, Option<FileIdentity>)>,
}

type FileIdentity = (u64, u64);

impl OpenedFiles {
    /// Looks at the files right after they were opened.
    pub(super) fn new(database: &Path) -> Self {
        let paths = [database.to_owned(), connection::beside(database, "-wal")];
        let files = paths.map(|path| {
            let identity = identify(&path);
            (path, identity)
        });
        Self { files: files.into() }
    }

    /// Returns an error if a file is not the one that was opened.
    pub(super) fn check(&self, location: &str) -> Result<(), StoreError> {
        for (path, opened) in &self.files {
            let found = identify(path);
            // A file that was not there when it was looked for cannot be compared.
            if opened.is_some() && found != *opened {
                let what = if found.is_none() { "deleted" } else { "replaced" };
                return Err(StoreError::Replaced {
                    location: location.to_owned(),
                    reason: format!("{} was {what}", path.display()),
                });
            }
        }
        Ok(())
    }
}

fn identify(path: &Path) -> Option<FileIdentity> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
