//! Reads questions.

use lango_protocol::Timestamp;
use lango_store::{Statement, StoreError};

use super::{COLUMNS, Inquiries, Inquiry};
use crate::LibrarianError;

impl Inquiries {
    /// Returns the open questions, the most urgent and oldest first.
    pub async fn pending(&self, limit: u32) -> Result<Vec<Inquiry>, LibrarianError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM inquiries WHERE state = 'pending' AND client = $2 \
             ORDER BY priority DESC, created_at, id LIMIT $1"
        );
        let statement = Statement::new(sql).bind(limit).bind(self.client());
        let found = self.read(statement.clone()).await?;
        // Most of the time none has expired.
        let now = Timestamp::now();
        if found.iter().all(|inquiry| inquiry.expires_at > now) {
            return Ok(found);
        }
        self.expire().await?;
        self.read(statement).await
    }

    /// Returns a question by its id.
    pub async fn find(&self, id: &str) -> Result<Inquiry, LibrarianError> {
        let sql = format!("SELECT {COLUMNS} FROM inquiries WHERE id = $1 AND client = $2");
        let found = self.read(Statement::new(sql).bind(id.trim()).bind(self.client())).await?;
        found.into_iter().next().ok_or_else(|| LibrarianError::NoInquiry { id: id.to_owned() })
    }

    /// Returns all questions, the newest first.
    pub(super) async fn all(&self, limit: u32) -> Result<Vec<Inquiry>, LibrarianError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM inquiries WHERE client = $2 \
             ORDER BY created_at DESC, id LIMIT $1"
        );
        self.read(Statement::new(sql).bind(limit).bind(self.client())).await
    }

    async fn read(&self, statement: Statement) -> Result<Vec<Inquiry>, LibrarianError> {
        let rows = self.database().query(statement).await?;
        let found: Result<Vec<Inquiry>, StoreError> = rows.iter().map(Inquiry::read).collect();
        Ok(found?)
    }

    /// Closes the questions that were not answered in time.
    pub(super) async fn expire(&self) -> Result<(), LibrarianError> {
        let now = Timestamp::now().as_microseconds();
        let stale = Statement::new(
            "SELECT 1 FROM inquiries \
             WHERE client = $2 AND state = 'pending' AND expires_at <= $1 LIMIT 1",
        );
        // Most of the time there is nothing to write.
        let stale = stale.bind(now).bind(self.client());
        if self.database().query(stale).await?.is_empty() {
            return Ok(());
        }
        let expire = Statement::new(
            "UPDATE inquiries SET state = 'expired', resolved_at = $1 \
             WHERE client = $2 AND state = 'pending' AND expires_at <= $1",
        );
        self.database().write(expire.bind(now).bind(self.client()).into()).await?;
        Ok(())
    }
}
