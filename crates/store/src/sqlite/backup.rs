//! Copies a database while it is in use, and puts a copy in its place.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{SqliteDatabase, commit_record, connection, failure, integrity};
use crate::StoreError;
use crate::backup::archive::{
    ArchiveReader, ArchiveWriter, create_private, sync_directory, with_suffix,
};
use crate::backup::{BackupEngine, BackupHeader, BackupInfo, file_error, now, run_blocking};

impl SqliteDatabase {
    pub(crate) async fn create_backup(&self, file: &Path) -> Result<BackupInfo, StoreError> {
        let (file, path) = (file.to_owned(), self.path().to_owned());
        run_blocking(move || {
            let copy = with_suffix(&file, ".copy");
            let written = write_backup(&path, &copy, &file);
            remove_copy(&copy);
            written
        })
        .await
    }
}

fn write_backup(path: &Path, copy: &Path, file: &Path) -> Result<BackupInfo, StoreError> {
    let location = path.display().to_string();
    let failed = |error: rusqlite::Error| failure::open_error(&error, &location);
    if file.exists() {
        return Err(file_error(file)(std::io::ErrorKind::AlreadyExists.into()));
    }
    create_private(copy).map_err(file_error(file))?;
    let schema = {
        let source = connection::open_reader(path, &location)?;
        let mut target = Connection::open(copy).map_err(failed)?;
        // All pages in one step: one snapshot, however much is written meanwhile.
        let backup = Backup::new(&source, &mut target).map_err(failed)?;
        backup.step(-1).map_err(failed)?;
        drop(backup);
        // One file, without a log beside it.
        target.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())).map_err(failed)?;
        integrity::require(&target, &location)?;
        read_versions(&target).map_err(failed)?
    };
    let header = BackupHeader {
        engine: BackupEngine::Sqlite,
        created_at: now(),
        schema,
        tables: Vec::new(),
    };
    let mut archive = ArchiveWriter::create(file, &header).map_err(file_error(file))?;
    let content = File::open(copy).map_err(file_error(file))?;
    archive.write_all_of(content).map_err(file_error(file))?;
    archive.end_section().map_err(file_error(file))?;
    let (digest, bytes) = archive.finish().map_err(file_error(file))?;
    Ok(BackupInfo::new(header, digest, bytes))
}

fn read_versions(connection: &Connection) -> rusqlite::Result<BTreeMap<String, u32>> {
    let mut prepared = connection.prepare("SELECT component, version FROM schema_versions")?;
    let rows = prepared.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Checks the database inside of a backup.
pub(crate) fn check_backup(archive: ArchiveReader, file: &Path) -> Result<(), StoreError> {
    let copy = with_suffix(file, ".verify");
    let checked = extract(archive, &copy).and_then(|()| check_file(&copy));
    remove_copy(&copy);
    checked
}

fn check_file(path: &Path) -> Result<(), StoreError> {
    let location = path.display().to_string();
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .map_err(|error| failure::open_error(&error, &location))?;
    integrity::require(&connection, &location)
}

/// Puts a backup in the place of a database. Returns where the one that was there is kept.
pub(crate) fn restore_backup(
    archive: ArchiveReader,
    target: &Path,
    force: bool,
) -> Result<Option<String>, StoreError> {
    let target = connection::resolve(target);
    let location = target.display().to_string();
    if target.exists() && !force {
        return Err(StoreError::NotEmpty { location });
    }
    connection::create_private_directory(&target).map_err(file_error(&target))?;
    let restored = with_suffix(&target, ".restoring");
    extract(archive, &restored)?;
    check_file(&restored).inspect_err(|_| remove_copy(&restored))?;
    let kept = if target.exists() { Some(put_aside(&target)?) } else { None };
    replace_database(&target, &restored)?;
    Ok(kept.map(|path| path.display().to_string()))
}

/// Gives a new database the name of another, which should have a second name by now.
pub(super) fn replace_database(target: &Path, new: &Path) -> Result<(), StoreError> {
    let failed = || file_error(target);
    // Says how much the old one had.
    commit_record::forget(target).map_err(failed())?;
    fs::rename(new, target).map_err(failed())?;
    for suffix in ["-wal", "-shm"] {
        remove_if_there(&connection::beside(target, suffix)).map_err(failed())?;
    }
    sync_directory(target).map_err(failed())
}

/// Gives the files of a database a second name. Refuses if another process has it open.
pub(super) fn put_aside(target: &Path) -> Result<PathBuf, StoreError> {
    let failed = || file_error(target);
    let name = format!(".before-{}", now() / 1_000_000);
    let mut kept = with_suffix(target, &name);
    let mut number = 1;
    while kept.exists() {
        number += 1;
        kept = with_suffix(target, &format!("{name}-{number}"));
    }
    require_unused(target)?;
    fs::hard_link(target, &kept).map_err(failed())?;
    let log = connection::beside(target, "-wal");
    if log.exists() {
        fs::hard_link(&log, connection::beside(&kept, "-wal")).map_err(failed())?;
    }
    Ok(kept)
}

/// Returns an error if another process has the database open. One that is too damaged to be opened
/// is not in use by a process of this program.
pub(super) fn require_unused(target: &Path) -> Result<(), StoreError> {
    let busy = || StoreError::InUse { location: target.display().to_string() };
    let Ok(connection) = Connection::open(target) else { return Ok(()) };
    let exclusive = connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .and_then(|_| connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"));
    match exclusive.map_err(|error| failure::open_error(&error, "")) {
        Err(StoreError::Busy { .. }) => Err(busy()),
        _ => Ok(()),
    }
}

fn extract(mut archive: ArchiveReader, target: &Path) -> Result<(), StoreError> {
    let failed = || file_error(target);
    let mut file = create_private(target).map_err(failed())?;
    while let Some(chunk) = archive.read_chunk().map_err(failed())? {
        file.write_all(&chunk).map_err(failed())?;
    }
    file.sync_all().map_err(failed())
}

pub(super) fn remove_copy(copy: &Path) {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let path = connection::beside(copy, suffix);
        if let Err(error) = remove_if_there(&path) {
            tracing::warn!(path = %path.display(), %error, "a temporary copy was not removed");
        }
    }
}

fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
