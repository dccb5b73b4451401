//! Reads the files of a skill, and computes the digest that trust is bound to.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use lango_text::hex;
use sha2::{Digest as _, Sha256};

const MAX_FILE_COUNT: usize = 200;
/// Limits the bytes of all files of a skill.
pub(super) const MAX_TOTAL_BYTES: u64 = 8 * 1024 * 1024;
const MAX_DEPTH: usize = 8;

/// Describes the content of a skill's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    /// The relative paths, in order.
    pub(crate) files: Vec<String>,
    /// The digest over names, modes and contents of all files.
    pub(crate) digest: String,
}

impl Content {
    /// Reads a directory. Links and special files are refused: their targets could change without a
    /// change of the digest.
    pub(crate) fn read(directory: &Path) -> Result<Self, String> {
        let mut paths = Vec::new();
        collect(directory, Path::new(""), 0, &mut paths)?;
        paths.sort();
        let mut hasher = Sha256::new();
        let mut left = MAX_TOTAL_BYTES;
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let name = path.to_str().ok_or("a file name is not UTF-8")?.to_owned();
            let whole = directory.join(&path);
            let content = read_bounded(&whole, left)?;
            left -= content.len() as u64;
            let mode = fs::metadata(&whole).map_or(0, |found| found.permissions().mode() & 0o111);
            for part in [name.as_bytes(), &mode.to_le_bytes(), &content] {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
            files.push(name);
        }
        Ok(Self { files, digest: hex(hasher.finalize()) })
    }

    /// Tells whether the skill has this file.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.iter().any(|file| file == path)
    }

    /// Returns the names of its scripts.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &str> {
        self.files
            .iter()
            .filter_map(|file| file.strip_prefix("scripts/"))
            .filter(|name| !name.contains('/'))
    }
}

fn collect(
    directory: &Path,
    below: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("it is deeper than {MAX_DEPTH} directories"));
    }
    let unreadable = |error: std::io::Error| format!("{}: {error}", below.display());
    for entry in fs::read_dir(directory.join(below)).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            collect(directory, &path, depth + 1, found)?;
        } else if kind.is_file() {
            found.push(path);
        } else {
            return Err(format!("{} is neither a file nor a directory", path.display()));
        }
        if found.len() > MAX_FILE_COUNT {
            return Err(format!("it has more than {MAX_FILE_COUNT} files"));
        }
    }
    Ok(())
}

/// Reads a file of at most `max_bytes`.
pub(super) fn read_bounded(path: &Path, max_bytes: u64) -> Result<Vec<u8>, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut content = Vec::new();
    File::open(path)
        .and_then(|file| file.take(max_bytes + 1).read_to_end(&mut content))
        .map_err(|error| format!("{name}: {error}"))?;
    if content.len() as u64 > max_bytes {
        return Err(format!("{name} makes it larger than it may be"));
    }
    Ok(content)
}
