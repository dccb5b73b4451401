//! Statements, and the batches that write several of them at once or not at all.

use std::borrow::Cow;

use crate::{SqlValue, StoreError};

/// One SQL statement with its values. The placeholders are `$1`, `$2`, … on both engines.
#[derive(Debug, Clone)]
pub struct Statement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<SqlValue>,
    pub(crate) expected_rows: Option<u64>,
    pub(crate) brief: bool,
}

impl Statement {
    /// A statement without values. Its text is kept prepared, so build it from constants.
    pub fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self { sql: sql.into(), values: Vec::new(), expected_rows: None, brief: false }
    }

    /// Binds the next placeholder.
    #[must_use]
    pub fn bind(mut self, value: impl Into<SqlValue>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Says that this query reads a few rows by their keys and nothing more, so that it may run
    /// where it is asked instead of on a thread of its own.
    #[must_use]
    pub fn brief(mut self) -> Self {
        self.brief = true;
        self
    }

    /// Refuses the whole batch unless this statement changes exactly `rows` rows.
    #[must_use]
    pub fn expect_rows(mut self, rows: u64) -> Self {
        self.expected_rows = Some(rows);
        self
    }

    /// Compares the rows that changed with the expectation. `position` counts from 0.
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

/// What a commit must survive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of this process. The system writes to the disk when it likes.
    #[default]
    ProcessCrash,
    /// A power cut: the commit waits for the disk. PostgreSQL always does, as configured there.
    PowerLoss,
}

/// Statements that are written in one transaction.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    pub(crate) statements: Vec<Statement>,
    pub(crate) durability: Durability,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty batch with room for `count` statements.
    pub fn with_capacity(count: usize) -> Self {
        Self { statements: Vec::with_capacity(count), durability: Durability::default() }
    }

    /// Adds a statement.
    pub fn push(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    /// Adds a statement, for chains.
    #[must_use]
    pub fn with(mut self, statement: Statement) -> Self {
        self.push(statement);
        self
    }

    /// Asks for more than the default durability.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}

impl From<Statement> for Batch {
    fn from(statement: Statement) -> Self {
        Self { statements: vec![statement], durability: Durability::default() }
    }
}
