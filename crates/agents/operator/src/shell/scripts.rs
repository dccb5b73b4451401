//! The files that a command would run: what is in them now.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use lango_tool::{Bound, visible};
use rustix::fs::OFlags;

use crate::digest;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// The digest of a file that is not there.
const MISSING: &str = "missing";

/// A file that a command would run.
#[derive(Debug)]
pub(super) struct Script {
    /// The path as written in the command.
    pub(super) path: String,
    pub(super) content: Content,
}

/// What is in a file.
#[derive(Debug)]
pub(super) enum Content {
    Read(Vec<u8>),
    Missing,
    /// It is there and was not read, for this reason.
    NotRead(String),
}

impl Script {
    /// The SHA-256 of the content. A file that is not there has the digest `missing`; one that is not
    /// read, for its size or its kind, has `not read: ` and the reason, which is no content to decide on.
    pub(super) fn digest(&self) -> String {
        match &self.content {
            Content::Read(bytes) => digest::of(bytes),
            Content::Missing => MISSING.to_owned(),
            Content::NotRead(reason) => format!("not read: {reason}"),
        }
    }

    /// Why nobody can know what would run.
    pub(super) fn unreadable(&self) -> Option<String> {
        match &self.content {
            Content::NotRead(reason) => Some(format!("{} {reason}", visible(&self.path))),
            Content::Read(_) | Content::Missing => None,
        }
    }

    /// As something that a decision rests on.
    pub(super) fn bound(&self) -> Bound {
        Bound { what: visible(&self.path), digest: self.digest() }
    }
}

/// The files of a reading, as they are now, when a command runs in `directory`. A link counts by what
/// it leads to.
pub(super) fn look(directory: &Path, scripts: &[String]) -> Vec<Script> {
    let script =
        |path: &String| Script { path: path.clone(), content: content(&directory.join(path)) };
    scripts.iter().map(script).collect()
}

fn content(path: &Path) -> Content {
    match read(path) {
        Ok(content) => content,
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Content::Missing,
            _ => Content::NotRead(format!("cannot be read: {error}")),
        },
    }
}

fn read(path: &Path) -> io::Result<Content> {
    // Without NONBLOCK a FIFO would wait for a writer.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Content::NotRead("is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed tells that it is too large, also while it grows.
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Ok(Content::NotRead(format!("is larger than {} KiB", LARGEST / 1024)));
    }
    Ok(Content::Read(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_special_file_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let scripts = look(directory.path(), &["pipe".to_owned(), "pipe/x".to_owned()]);
        assert_eq!(scripts[0].bound().digest, "not read: is not a regular file");
        assert_eq!(scripts[1].bound().digest, "missing");
    }
}
