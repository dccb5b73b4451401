//! Reads and creates the key file, which unlocks the vault without a passphrase.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use lango_text::hex;
use zeroize::Zeroizing;

use crate::KeyStoreError;
use crate::cipher::EncryptionKey;

const HEADER: &str = "lango-vault-key-1:";
/// Limits how much of a file is read that may be another one.
const MAX_FILE_BYTES: u64 = 4096;

/// Reads a key file; none if there is no such file.
pub(crate) fn read_key_file(path: &Path) -> Result<Option<EncryptionKey>, KeyStoreError> {
    let failed = |reason: String| KeyStoreError::KeyFile { path: path.to_owned(), reason };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    let mode = file.metadata().map_err(|error| failed(error.to_string()))?.mode();
    if mode & 0o077 != 0 {
        let path = path.display();
        return Err(failed(format!("others can read it. Type: chmod 600 {path}")));
    }
    let mut text = Zeroizing::new(String::new());
    let read = file.take(MAX_FILE_BYTES).read_to_string(&mut text);
    read.map_err(|error| failed(error.to_string()))?;
    let key = text.trim().strip_prefix(HEADER).and_then(parse_hex);
    key.map(Some)
        .ok_or_else(|| failed("it is damaged or cut short. Restore it from a backup".to_owned()))
}

/// Waits until no other process of this machine changes the key file together with what the database
/// says of it, and keeps them from it until the result is dropped.
pub(crate) async fn lock_key_file(path: &Path) -> Result<File, KeyStoreError> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new(".")).to_owned();
    let lock = move || {
        DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let directory = File::open(&directory)?;
        match directory.lock() {
            // A file system without locks is not one that several processes of a machine share.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            locked => locked?,
        }
        Ok(directory)
    };
    let locked: io::Result<File> = match tokio::task::spawn_blocking(lock).await {
        Ok(locked) => locked,
        Err(error) => Err(io::Error::other(error)),
    };
    let failed = |error: io::Error| KeyStoreError::KeyFile {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    locked.map_err(failed)
}

/// Creates a key file, readable by its owner only, and returns its key. A file that is there already
/// is read.
pub(crate) fn create_key_file(path: &Path) -> Result<EncryptionKey, KeyStoreError> {
    if let Some(key) = read_key_file(path)? {
        return Ok(key);
    }
    let key = EncryptionKey::generate()?;
    let text = Zeroizing::new(format!("{HEADER}{}\n", hex(key.reveal())));
    match write_new_private_file(path, text.as_bytes()) {
        Ok(()) => Ok(key),
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read_key_file(path)?.ok_or_else(|| KeyStoreError::MissingKeyFile(path.to_owned()))
        }
        Err(error) => {
            Err(KeyStoreError::KeyFile { path: path.to_owned(), reason: error.to_string() })
        }
    }
}

/// Writes a file that does not exist yet, whole, readable by its owner only.
pub(crate) fn write_new_private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let temporary = path.with_extension(format!("{}.new", uuid::Uuid::new_v4().simple()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    // Unlike a rename, a link never replaces a file that another process has written since.
    let linked = written.and_then(|()| std::fs::hard_link(&temporary, path));
    std::fs::remove_file(&temporary)?;
    linked
}

pub(crate) fn parse_hex(text: &str) -> Option<EncryptionKey> {
    let digits = Zeroizing::new(text.as_bytes().to_vec());
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = Zeroizing::new([0; 32]);
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()?;
    }
    EncryptionKey::from_bytes(&*bytes)
}
