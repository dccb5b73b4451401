//! The table of notes. Its statements are the same on SQLite and PostgreSQL.

use lango_protocol::Timestamp;
use lango_store::{Database, Migration, SchemaComponent, Statement, StoreError};

const COMPONENT: SchemaComponent = SchemaComponent {
    name: "sample",
    migrations: &[Migration { version: 1, sqlite: TABLES, postgres: TABLES }],
};

const TABLES: &str = "
CREATE TABLE sample_notes (
    content TEXT NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL
);
";

/// Stores notes in a database. Clones share it.
#[derive(Clone)]
pub(crate) struct Notes {
    database: Database,
}

impl Notes {
    /// Brings the table up to date.
    pub(crate) async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        Ok(Self { database })
    }

    /// Adds a note, unless it is there already.
    pub(crate) async fn add(&self, content: &str) -> Result<(), StoreError> {
        let statement = Statement::new(
            "INSERT INTO sample_notes (content, created_at) VALUES ($1, $2) \
             ON CONFLICT (content) DO NOTHING",
        )
        .bind(content)
        .bind(Timestamp::now().as_microseconds());
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// Counts the notes.
    pub(crate) async fn count(&self) -> Result<u64, StoreError> {
        let statement = Statement::new("SELECT COUNT(*) FROM sample_notes");
        let rows = self.database.query(statement).await?;
        rows.first().map_or(Ok(0), |row| row.unsigned(0))
    }
}
