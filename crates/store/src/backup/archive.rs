//! Reads and writes the file of a backup: a header, sections of content, and a digest of all of it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use lango_text::hex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

/// The first line of every backup, with the version of the format.
const MAGIC: &[u8] = b"lango-backup 1\n";

const DIGEST_BYTES: usize = 32;

/// Limits a header, so that a damaged length cannot ask for all memory.
const MAX_HEADER_BYTES: u32 = 16 * 1024 * 1024;

/// Limits one piece of a section.
const MAX_CHUNK_BYTES: usize = 1024 * 1024;

/// Writes an archive. The file has its name only once it is whole and on the disk.
pub(crate) struct ArchiveWriter {
    file: BufWriter<File>,
    digest: Sha256,
    partial: PathBuf,
    target: PathBuf,
    bytes: u64,
}

impl ArchiveWriter {
    /// Starts a file that its owner alone can read. An existing one is not overwritten.
    pub(crate) fn create(target: &Path, header: &impl Serialize) -> io::Result<Self> {
        if target.exists() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let partial = with_suffix(target, ".partial");
        let file = create_private(&partial)?;
        let digest = Sha256::new();
        let target = target.to_owned();
        let mut archive = Self { file: BufWriter::new(file), digest, partial, target, bytes: 0 };
        let header = serde_json::to_vec(header).map_err(io::Error::other)?;
        archive.put(MAGIC)?;
        archive.put_length(header.len())?;
        archive.put(&header)?;
        Ok(archive)
    }

    /// Adds a piece to the section at hand.
    pub(crate) fn write_chunk(&mut self, content: &[u8]) -> io::Result<()> {
        for chunk in content.chunks(MAX_CHUNK_BYTES) {
            self.put_length(chunk.len())?;
            self.put(chunk)?;
        }
        Ok(())
    }

    /// Adds all of a reader to the section at hand.
    pub(crate) fn write_all_of(&mut self, mut content: impl Read) -> io::Result<()> {
        let mut buffer = vec![0; MAX_CHUNK_BYTES];
        loop {
            match content.read(&mut buffer)? {
                0 => return Ok(()),
                count => self.write_chunk(&buffer[..count])?,
            }
        }
    }

    /// Ends the section at hand.
    pub(crate) fn end_section(&mut self) -> io::Result<()> {
        self.put_length(0)
    }

    /// Writes the digest, syncs the file and gives it its name. Returns the digest and the size.
    pub(crate) fn finish(mut self) -> io::Result<(String, u64)> {
        let digest = std::mem::take(&mut self.digest).finalize();
        self.file.write_all(&digest)?;
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        // Fails if another process was faster, unlike a rename.
        std::fs::hard_link(&self.partial, &self.target)?;
        std::fs::remove_file(&self.partial)?;
        sync_directory(&self.target)?;
        Ok((hex(digest), self.bytes + DIGEST_BYTES as u64))
    }

    fn put_length(&mut self, length: usize) -> io::Result<()> {
        self.put(&u32::try_from(length).map_err(io::Error::other)?.to_be_bytes())
    }

    fn put(&mut self, content: &[u8]) -> io::Result<()> {
        self.digest.update(content);
        self.bytes += content.len() as u64;
        self.file.write_all(content)
    }
}

/// An archive whose digest was found right.
pub(crate) struct ArchiveReader {
    file: BufReader<File>,
}

impl ArchiveReader {
    /// Reads the whole file once to check it. Returns it with its header, digest and size.
    pub(crate) fn open<H: DeserializeOwned>(path: &Path) -> io::Result<(Self, H, String, u64)> {
        let (digest, bytes) = check_digest(path)?;
        let mut archive = Self { file: BufReader::new(File::open(path)?) };
        archive.take(MAGIC.len())?;
        let length = archive.take_length()?;
        if length > MAX_HEADER_BYTES {
            return Err(damaged("its header is too long"));
        }
        let header = archive.take(length as usize)?;
        let header = serde_json::from_slice(&header).map_err(io::Error::other)?;
        Ok((archive, header, digest, bytes))
    }

    /// Returns the next piece of the section at hand; none at its end.
    pub(crate) fn read_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.take_length()? as usize {
            0 => Ok(None),
            length if length > MAX_CHUNK_BYTES => Err(damaged("a piece of it is too long")),
            length => self.take(length).map(Some),
        }
    }

    fn take_length(&mut self) -> io::Result<u32> {
        let mut length = [0; 4];
        self.file.read_exact(&mut length)?;
        Ok(u32::from_be_bytes(length))
    }

    fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut content = vec![0; length];
        self.file.read_exact(&mut content)?;
        Ok(content)
    }
}

fn check_digest(path: &Path) -> io::Result<(String, u64)> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let Some(content) = bytes.checked_sub(DIGEST_BYTES as u64).filter(|_| bytes > 64) else {
        return Err(damaged("it is too short"));
    };
    let mut file = BufReader::new(file);
    let mut magic = [0; MAGIC.len()];
    file.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Err(damaged("it is not a backup of lango, or of a newer version"));
    }
    let mut digest = Sha256::new();
    digest.update(magic);
    let mut left = content - MAGIC.len() as u64;
    let mut buffer = vec![0; MAX_CHUNK_BYTES];
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(MAX_CHUNK_BYTES).min(MAX_CHUNK_BYTES);
        file.read_exact(&mut buffer[..part])?;
        digest.update(&buffer[..part]);
        left -= part as u64;
    }
    let mut expected = [0; DIGEST_BYTES];
    file.read_exact(&mut expected)?;
    let found = digest.finalize();
    if found[..] != expected {
        return Err(damaged("its content does not have the digest that it was written with"));
    }
    Ok((hex(found), bytes))
}

fn damaged(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

/// Creates a file that its owner alone can read. What an interrupted backup left is replaced.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Brings the name of a new file to the disk.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}
