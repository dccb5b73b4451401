//! Repairs what can be repaired: indexes from their tables, and otherwise a new database from every
//! row that can still be read. The damaged files are kept.

use std::fs;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::backup::{put_aside, remove_copy, replace_database};
use super::{commit_record, connection, failure, integrity};
use crate::StoreError;
use crate::backup::archive::{create_private, with_suffix};
use crate::backup::file_error;
use crate::repair::RepairReport;

/// Repairs a database that no process uses.
pub(crate) fn repair(target: &Path) -> Result<RepairReport, StoreError> {
    let target = connection::resolve(target);
    let location = target.display().to_string();
    let failed = |error: rusqlite::Error| failure::open_error(&error, &location);
    let mut report = RepairReport::default();
    let copy = with_suffix(&target, ".repairing");
    if !target.exists() {
        commit_record::forget(&target).map_err(file_error(&target))?;
        report.actions.push("there is no database; the next command starts a new one".into());
        return Ok(report);
    }
    let kept = put_aside(&target)?;
    copy_files(&target, &copy)?;
    let rebuilt = rebuild_indexes(&copy).map_err(failed);
    match rebuilt {
        Ok(problems) if problems.is_empty() => {
            report.actions.push("all tables are readable; indexes were rebuilt from them".into());
        }
        _ => {
            remove_copy(&copy);
            copy_files(&target, &copy)?;
            let salvaged = with_suffix(&target, ".salvaged");
            create_private(&salvaged).map_err(file_error(&target))?;
            let rows = salvage(&copy, &salvaged, &mut report).map_err(failed)?;
            report.actions.push(format!("{rows} rows were copied to a new database"));
            remove_copy(&copy);
            fs::rename(&salvaged, &copy).map_err(file_error(&target))?;
        }
    }
    replace_database(&target, &copy)?;
    report.kept = Some(kept.display().to_string());
    Ok(report)
}

/// Copies the files of a database, with what is in its log.
fn copy_files(target: &Path, copy: &Path) -> Result<(), StoreError> {
    for suffix in ["", "-wal"] {
        let (from, to) = (connection::beside(target, suffix), connection::beside(copy, suffix));
        if from.exists() {
            create_private(&to).map_err(file_error(target))?;
            fs::copy(&from, &to).map_err(file_error(target))?;
        }
    }
    Ok(())
}

/// Rebuilds all indexes, and returns what is still wrong.
fn rebuild_indexes(path: &Path) -> rusqlite::Result<Vec<String>> {
    let connection = Connection::open(path)?;
    connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    connection.execute_batch("REINDEX")?;
    rebuild_words(&connection)?;
    integrity::find_problems(&connection)
}

/// Rebuilds full-text indexes from the tables that they are about.
fn rebuild_words(connection: &Connection) -> rusqlite::Result<()> {
    let names = "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%'";
    for name in read_texts(connection, names)? {
        connection.execute_batch(&format!("INSERT INTO {name} ({name}) VALUES ('rebuild')"))?;
    }
    Ok(())
}

/// Copies every readable row of every table to a new database. Returns how many.
fn salvage(from: &Path, to: &Path, report: &mut RepairReport) -> rusqlite::Result<u64> {
    let source = Connection::open(from)?;
    source.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    let target = Connection::open(to)?;
    let schema = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL \
                  AND name NOT LIKE 'sqlite_%' ORDER BY rowid";
    let mut prepared = source.prepare(schema)?;
    let tables: Vec<(String, String)> =
        prepared.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let is_virtual = |sql: &str| sql.starts_with("CREATE VIRTUAL TABLE");
    let words: Vec<&str> =
        tables.iter().filter(|(_, sql)| is_virtual(sql)).map(|(name, _)| name.as_str()).collect();
    let mut copied = 0;
    target.execute_batch("BEGIN")?;
    for (name, sql) in &tables {
        // The tables inside of a full-text index come with it, and are filled from its texts.
        if words
            .iter()
            .any(|words| name.strip_prefix(words).is_some_and(|rest| rest.starts_with('_')))
        {
            continue;
        }
        target.execute_batch(sql)?;
        if !is_virtual(sql) {
            let (rows, whole) = copy_rows(&source, &target, name)?;
            copied += rows;
            if !whole {
                report.actions.push(format!("{name}: rows were lost; {rows} are left"));
            }
        }
    }
    let indexes = "SELECT sql FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL";
    for sql in read_texts(&source, indexes).unwrap_or_default() {
        // A unique index that damaged rows do not fit is left out: the rows matter more.
        if let Err(error) = target.execute_batch(&sql) {
            report.actions.push(format!("an index was not made: {error}"));
        }
    }
    target.execute_batch("COMMIT")?;
    rebuild_words(&target)?;
    Ok(copied)
}

/// Copies rows from the first one on and, where they end in damage, from the last one back. Returns
/// how many there were, and whether that is all.
fn copy_rows(
    source: &Connection,
    target: &Connection,
    name: &str,
) -> rusqlite::Result<(u64, bool)> {
    let keys = read_texts(
        source,
        &format!("SELECT name FROM pragma_table_info('{name}') WHERE pk > 0 ORDER BY pk"),
    )?;
    let backwards = if keys.is_empty() {
        "rowid DESC".to_owned()
    } else {
        keys.iter().map(|key| format!("\"{key}\" DESC")).collect::<Vec<_>>().join(", ")
    };
    let mut copied = 0;
    let all = format!("SELECT * FROM {name} NOT INDEXED");
    if copy_query(source, target, name, &all, &mut copied)? {
        return Ok((copied, true));
    }
    let from_the_end = format!("SELECT * FROM {name} NOT INDEXED ORDER BY {backwards}");
    copy_query(source, target, name, &from_the_end, &mut copied)?;
    Ok((copied, false))
}

/// Copies the rows of a query until one cannot be read. Returns whether all could.
fn copy_query(
    source: &Connection,
    target: &Connection,
    name: &str,
    query: &str,
    copied: &mut u64,
) -> rusqlite::Result<bool> {
    let Ok(mut prepared) = source.prepare(query) else { return Ok(false) };
    let columns = prepared.column_count();
    let places: Vec<String> = (1..=columns).map(|number| format!("?{number}")).collect();
    let insert = format!("INSERT OR IGNORE INTO {name} VALUES ({})", places.join(", "));
    let mut insert = target.prepare(&insert)?;
    let Ok(mut rows) = prepared.query([]) else { return Ok(false) };
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(true),
            Err(_) => return Ok(false),
        };
        let values: rusqlite::Result<Vec<Value>> =
            (0..columns).map(|column| row.get(column)).collect();
        // A text that is none any more cannot be told from a damaged row.
        let Ok(values) = values else { continue };
        *copied += insert.execute(params_from_iter(values))? as u64;
    }
}

fn read_texts(connection: &Connection, query: &str) -> rusqlite::Result<Vec<String>> {
    let mut prepared = connection.prepare(query)?;
    let rows = prepared.query_map([], |row| row.get(0))?;
    rows.collect()
}
