//! Binds values to prepared statements and reads them from rows.

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, Statement as Prepared, ffi};

use crate::row::ViewedRow;
use crate::{Row, RowView, SqlValue, Statement, StoreError};

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Blob(value) => ValueRef::Blob(value),
        }))
    }
}

/// Runs a statement and returns how many rows it changed.
pub(super) fn execute(connection: &Connection, statement: &Statement) -> rusqlite::Result<u64> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    bind_values(&mut prepared, &statement.values)?;
    Ok(prepared.raw_execute()? as u64)
}

/// Runs a statement that only reads, and returns its rows.
pub(super) fn query(connection: &Connection, statement: &Statement) -> rusqlite::Result<Vec<Row>> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    // The writer's connection runs queries too, and it could write.
    if !prepared.readonly() {
        return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_READONLY), None));
    }
    bind_values(&mut prepared, &statement.values)?;
    let columns = prepared.column_count();
    let mut found = Vec::new();
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next()? {
        let values = (0..columns).map(|column| Ok(convert_value(row.get_ref(column)?)));
        found.push(Row::new(values.collect::<rusqlite::Result<_>>()?));
    }
    Ok(found)
}

/// Runs a statement and visits its rows. The outer error is the database's, the inner one the
/// visitor's.
pub(super) fn visit_rows(
    connection: &Connection,
    statement: &Statement,
    see: &mut dyn FnMut(&RowView<'_>) -> Result<(), StoreError>,
) -> rusqlite::Result<Result<(), StoreError>> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    bind_values(&mut prepared, &statement.values)?;
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next()? {
        if let Err(error) = see(&RowView(ViewedRow::Sqlite(row))) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// Binds the values. SQLite treats `$1` as a name and numbers names by their first appearance, so
/// the number is taken from the name and not from the position.
fn bind_values(prepared: &mut Prepared<'_>, values: &[SqlValue]) -> rusqlite::Result<()> {
    let count = prepared.parameter_count();
    if count > values.len() {
        return Err(Error::InvalidParameterCount(values.len(), count));
    }
    for position in 1..=count {
        let number = prepared
            .parameter_name(position)
            .and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok())
            .unwrap_or(position);
        let value = values
            .get(number.wrapping_sub(1))
            .ok_or(Error::InvalidParameterCount(values.len(), number))?;
        prepared.raw_bind_parameter(position, value)?;
    }
    Ok(())
}

fn convert_value(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(value) => SqlValue::Integer(value),
        ValueRef::Real(value) => SqlValue::Real(value),
        // Only this crate writes, and only UTF-8; anything else is a damaged file and must not make
        // the rest of the session unreadable.
        ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(blob) => SqlValue::Blob(blob.to_vec()),
    }
}
