//! Reads the files that a command would run.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use lango_text::make_visible;
use lango_tool::BoundResource;
use rustix::fs::OFlags;

use crate::digest;

/// Limits how many bytes of a file are read.
const MAX_SCRIPT_BYTES: u64 = 1024 * 1024;
/// Stands for the digest of a file that does not exist.
const MISSING_DIGEST: &str = "missing";

/// Describes a file that a command would run.
#[derive(Debug)]
pub(super) struct Script {
    /// The path as written in the command.
    pub(super) path: String,
    pub(super) content: ScriptContent,
}

/// Holds the content of a file.
#[derive(Debug)]
pub(super) enum ScriptContent {
    Read(Vec<u8>),
    Missing,
    /// The file is larger than [`MAX_SCRIPT_BYTES`].
    TooLarge {
        /// True if it begins as a program that is no text.
        is_compiled: bool,
    },
    /// The file exists and was not read, for this reason.
    NotRead(String),
}

/// The beginning of a compiled program.
const COMPILED: &[u8] = b"\x7fELF";

impl ScriptContent {
    /// Tells whether the content is that of a compiled program.
    pub(super) fn is_compiled(&self) -> bool {
        matches!(self, Self::Read(bytes) if bytes.starts_with(COMPILED))
    }
}

impl Script {
    /// Returns the SHA-256 of the content. A file that does not exist has the digest `missing`; one
    /// that is not read, for its size or its kind, has `not read: ` and the reason, which is no
    /// content to decide on.
    pub(super) fn digest(&self) -> String {
        match &self.content {
            ScriptContent::Read(bytes) => digest::sha256_hex(bytes),
            ScriptContent::Missing => MISSING_DIGEST.to_owned(),
            ScriptContent::TooLarge { .. } => format!("not read: {}", too_large_reason()),
            ScriptContent::NotRead(reason) => format!("not read: {reason}"),
        }
    }

    /// Says why it cannot be known what would run.
    pub(super) fn unreadable_reason(&self) -> Option<String> {
        match &self.content {
            ScriptContent::NotRead(reason) => {
                Some(format!("{} {reason}", make_visible(&self.path)))
            }
            ScriptContent::TooLarge { .. } => {
                Some(format!("{} {}", make_visible(&self.path), too_large_reason()))
            }
            ScriptContent::Read(_) | ScriptContent::Missing => None,
        }
    }

    /// Returns the file as something that a decision is bound to.
    pub(super) fn to_bound_resource(&self) -> BoundResource {
        BoundResource { what: make_visible(&self.path), digest: self.digest() }
    }
}

/// Reads the files that a command would run, as they are now, if it runs in `directory`. Links are
/// followed.
pub(super) fn read_scripts(directory: &Path, scripts: &[String]) -> Vec<Script> {
    let script =
        |path: &String| Script { path: path.clone(), content: read_content(&directory.join(path)) };
    scripts.iter().map(script).collect()
}

fn read_content(path: &Path) -> ScriptContent {
    match read_script(path) {
        Ok(content) => content,
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ScriptContent::Missing,
            _ => ScriptContent::NotRead(format!("cannot be read: {error}")),
        },
    }
}

fn read_script(path: &Path) -> io::Result<ScriptContent> {
    // Without NONBLOCK a FIFO would wait for a writer.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(ScriptContent::NotRead("is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed tells that it is too large, also while it grows.
    file.take(MAX_SCRIPT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_SCRIPT_BYTES {
        return Ok(ScriptContent::TooLarge { is_compiled: bytes.starts_with(COMPILED) });
    }
    Ok(ScriptContent::Read(bytes))
}

fn too_large_reason() -> String {
    format!("is larger than {} KiB", MAX_SCRIPT_BYTES / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_special_file_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let scripts = read_scripts(directory.path(), &["pipe".to_owned(), "pipe/x".to_owned()]);
        assert_eq!(scripts[0].to_bound_resource().digest, "not read: is not a regular file");
        assert_eq!(scripts[1].to_bound_resource().digest, "missing");
    }
}
