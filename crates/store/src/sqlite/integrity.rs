//! Runs SQLite's own checks over a whole database.

use rusqlite::Connection;

use super::failure;
use crate::StoreError;

/// Limits the problems that are reported.
const MAX_PROBLEM_COUNT: u32 = 20;

/// Returns what SQLite finds wrong: pages, cells, order, and indexes against their tables.
pub(super) fn find_problems(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut prepared =
        connection.prepare(&format!("PRAGMA integrity_check({MAX_PROBLEM_COUNT})"))?;
    let rows = prepared.query_map([], |row| row.get::<_, String>(0))?;
    let problems: Vec<String> = rows.collect::<Result<_, _>>()?;
    Ok(problems.into_iter().filter(|problem| problem != "ok").collect())
}

/// Returns an error if the database is damaged.
pub(super) fn require(connection: &Connection, location: &str) -> Result<(), StoreError> {
    let problems =
        find_problems(connection).map_err(|error| failure::open_error(&error, location))?;
    match problems.first() {
        None => Ok(()),
        Some(first) => Err(StoreError::Corrupt {
            location: location.to_owned(),
            reason: first.replace('\n', " "),
        }),
    }
}
