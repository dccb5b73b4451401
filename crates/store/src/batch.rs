//! Defines statements, and batches that write several of them in one transaction.

use std::borrow::Cow;

use tokio_util::sync::CancellationToken;

use crate::{SqlValue, StoreError};

/// One SQL statement with its values. The placeholders are `$1`, `$2`, … on both engines.
#[derive(Debug, Clone)]
pub struct Statement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<SqlValue>,
    pub(crate) expected_rows: Option<u64>,
    pub(crate) long: bool,
}

impl Statement {
    /// Creates a statement without values. Its text stays prepared, so build it from constants.
    pub fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self { sql: sql.into(), values: Vec::new(), expected_rows: None, long: false }
    }

    /// Binds the next placeholder.
    #[must_use]
    pub fn bind(mut self, value: impl Into<SqlValue>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Marks a query whose cost does not show in the rows that it visits, such as a full-text search:
    /// it never runs on the calling thread.
    #[must_use]
    pub fn mark_long(mut self) -> Self {
        self.long = true;
        self
    }

    /// Fails the whole batch unless this statement changes exactly `rows` rows.
    #[must_use]
    pub fn expect_rows(mut self, rows: u64) -> Self {
        self.expected_rows = Some(rows);
        self
    }

    /// Compares the number of changed rows with the expectation. `position` counts from 0.
    pub(crate) fn check(&self, position: usize, rows: u64) -> Result<u64, StoreError> {
        match self.expected_rows {
            Some(expected) if expected != rows => Err(StoreError::Conflict {
                reason: format!(
                    "statement {} changed {rows} rows instead of {expected}",
                    position + 1
                ),
            }),
            _ => Ok(rows),
        }
    }
}

/// The failures that a commit must survive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// A crash of this process. The system writes to the disk at its own pace: for steps on the way
    /// to something that is acknowledged later.
    ProcessCrash,
    /// A power failure, unless the configuration says otherwise: for what a user or a client hears of
    /// once it is written, such as an answer or an accepted task.
    #[default]
    Acknowledged,
    /// A power failure, in any case: for what precedes an effect on the world. PostgreSQL always
    /// waits for the disk, as configured there.
    PowerLoss,
}

/// Statements that are written in one transaction.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    pub(crate) statements: Vec<Statement>,
    pub(crate) durability: Durability,
    pub(crate) cancel: Option<CancellationToken>,
}

impl Batch {
    /// Creates an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty batch with capacity for `count` statements.
    pub fn with_capacity(count: usize) -> Self {
        Self { statements: Vec::with_capacity(count), ..Self::default() }
    }

    /// Adds a statement.
    pub fn push(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    /// Adds a statement and returns the batch, for chains.
    #[must_use]
    pub fn with(mut self, statement: Statement) -> Self {
        self.push(statement);
        self
    }

    /// Sets the durability.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Lets a token cancel the batch: until the commit, it ends with [`StoreError::Cancelled`] and
    /// writes nothing.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: &CancellationToken) -> Self {
        self.cancel = Some(cancel.clone());
        self
    }

    /// Returns an error if the batch was cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<(), StoreError> {
        let is_cancelled = self.cancel.as_ref().is_some_and(CancellationToken::is_cancelled);
        if is_cancelled { Err(StoreError::Cancelled) } else { Ok(()) }
    }
}

impl From<Statement> for Batch {
    fn from(statement: Statement) -> Self {
        Self { statements: vec![statement], ..Self::default() }
    }
}
