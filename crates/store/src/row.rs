//! Defines the rows of a query.

use crate::{SqlValue, StoreError};

/// One row of a result. A getter fails if the column has another type, which is a bug in the
/// statement and not a property of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    values: Vec<SqlValue>,
}

impl Row {
    pub(crate) fn new(values: Vec<SqlValue>) -> Self {
        Self { values }
    }

    /// Returns the value of a column, counted from 0.
    pub fn value(&self, column: usize) -> Result<&SqlValue, StoreError> {
        self.values.get(column).ok_or_else(|| {
            StoreError::query(&format!("a row of {} columns has no column {column}", self.len()))
        })
    }

    /// Returns the number of columns.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Tells whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Tells whether a column is null.
    pub fn is_null(&self, column: usize) -> Result<bool, StoreError> {
        Ok(matches!(self.value(column)?, SqlValue::Null))
    }

    /// Returns an integer.
    pub fn integer(&self, column: usize) -> Result<i64, StoreError> {
        match self.value(column)? {
            SqlValue::Integer(value) => Ok(*value),
            other => Err(type_mismatch_error(column, "an integer", other)),
        }
    }

    /// Returns an integer that is never negative.
    pub fn unsigned(&self, column: usize) -> Result<u64, StoreError> {
        let value = self.integer(column)?;
        u64::try_from(value)
            .map_err(|_| StoreError::query(&format!("column {column} is negative: {value}")))
    }

    /// Returns an integer as a boolean.
    pub fn boolean(&self, column: usize) -> Result<bool, StoreError> {
        Ok(self.integer(column)? != 0)
    }

    /// Returns a real number.
    pub fn real(&self, column: usize) -> Result<f64, StoreError> {
        match self.value(column)? {
            SqlValue::Real(value) => Ok(*value),
            other => Err(type_mismatch_error(column, "a real number", other)),
        }
    }

    /// Returns a text.
    pub fn text(&self, column: usize) -> Result<&str, StoreError> {
        match self.value(column)? {
            SqlValue::Text(value) => Ok(value),
            other => Err(type_mismatch_error(column, "text", other)),
        }
    }

    /// Returns bytes.
    pub fn blob(&self, column: usize) -> Result<&[u8], StoreError> {
        match self.value(column)? {
            SqlValue::Blob(value) => Ok(value),
            other => Err(type_mismatch_error(column, "a blob", other)),
        }
    }

    /// Returns an integer, or none for null.
    pub fn optional_integer(&self, column: usize) -> Result<Option<i64>, StoreError> {
        if self.is_null(column)? { Ok(None) } else { self.integer(column).map(Some) }
    }

    /// Returns a text, or none for null.
    pub fn optional_text(&self, column: usize) -> Result<Option<&str>, StoreError> {
        if self.is_null(column)? { Ok(None) } else { self.text(column).map(Some) }
    }

    /// Returns bytes, or none for null.
    pub fn optional_blob(&self, column: usize) -> Result<Option<&[u8]>, StoreError> {
        if self.is_null(column)? { Ok(None) } else { self.blob(column).map(Some) }
    }
}

/// A row while it is read, for callers that visit many and keep few. Nothing is copied.
pub struct RowView<'a>(pub(crate) ViewedRow<'a>);

pub(crate) enum ViewedRow<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl RowView<'_> {
    /// Returns an integer.
    pub fn integer(&self, column: usize) -> Result<i64, StoreError> {
        match self.0 {
            ViewedRow::Sqlite(row) => row.get(column).map_err(|error| StoreError::query(&error)),
            ViewedRow::Postgres(row) => {
                row.try_get(column).map_err(|error| StoreError::query(&error))
            }
        }
    }

    /// Returns a text.
    pub fn text(&self, column: usize) -> Result<&str, StoreError> {
        match self.0 {
            ViewedRow::Sqlite(row) => {
                let value = row.get_ref(column).map_err(|error| StoreError::query(&error))?;
                value.as_str().map_err(|error| StoreError::query(&error))
            }
            ViewedRow::Postgres(row) => {
                row.try_get(column).map_err(|error| StoreError::query(&error))
            }
        }
    }

    /// Returns an integer; none if it is null.
    pub fn optional_integer(&self, column: usize) -> Result<Option<i64>, StoreError> {
        match self.0 {
            ViewedRow::Sqlite(row) => row.get(column).map_err(|error| StoreError::query(&error)),
            ViewedRow::Postgres(row) => {
                row.try_get(column).map_err(|error| StoreError::query(&error))
            }
        }
    }

    /// Returns a text; none if it is null.
    pub fn optional_text(&self, column: usize) -> Result<Option<&str>, StoreError> {
        match self.0 {
            ViewedRow::Sqlite(row) => {
                let value = row.get_ref(column).map_err(|error| StoreError::query(&error))?;
                value.as_str_or_null().map_err(|error| StoreError::query(&error))
            }
            ViewedRow::Postgres(row) => {
                row.try_get(column).map_err(|error| StoreError::query(&error))
            }
        }
    }

    /// Returns bytes.
    pub fn blob(&self, column: usize) -> Result<&[u8], StoreError> {
        match self.0 {
            ViewedRow::Sqlite(row) => {
                let value = row.get_ref(column).map_err(|error| StoreError::query(&error))?;
                value.as_blob().map_err(|error| StoreError::query(&error))
            }
            ViewedRow::Postgres(row) => {
                row.try_get(column).map_err(|error| StoreError::query(&error))
            }
        }
    }
}

fn type_mismatch_error(column: usize, wanted: &str, found: &SqlValue) -> StoreError {
    StoreError::query(&format!("column {column} is {} instead of {wanted}", found.kind()))
}
