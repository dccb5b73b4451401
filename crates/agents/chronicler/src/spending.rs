//! Limits what observing and reflecting cost in a day.

use lango_protocol::Timestamp;
use lango_store::{Batch, Statement, StoreError};

use crate::ChroniclerError;
use crate::memory::MemoryStores;
use crate::rows::position_to_sql;

impl MemoryStores {
    /// Reserves tokens of today. Returns false, and reserves nothing, if the day's limit would be
    /// exceeded.
    pub(crate) async fn reserve_tokens(
        &self,
        tokens: u64,
        limit: u64,
    ) -> Result<bool, ChroniclerError> {
        let today = Timestamp::now().day();
        let batch = Batch::new()
            .with(
                Statement::new(
                    "INSERT INTO memory_spending (day, tokens) VALUES ($1, 0) ON CONFLICT DO NOTHING",
                )
                .bind(today.as_str()),
            )
            .with(
                Statement::new(
                    "UPDATE memory_spending SET tokens = tokens + $2 \
                     WHERE day = $1 AND tokens + $2 <= $3",
                )
                .bind(today.as_str())
                .bind(position_to_sql(tokens))
                .bind(position_to_sql(limit))
                .expect_rows(1),
            );
        match self.database.write(batch).await {
            Ok(_) => Ok(true),
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces the reserved tokens by those that were used.
    pub(crate) async fn settle_tokens(
        &self,
        reserved: u64,
        used: u64,
    ) -> Result<(), ChroniclerError> {
        let statement = Statement::new(
            "UPDATE memory_spending SET tokens = tokens + $2 WHERE day = $1 AND tokens + $2 >= 0",
        )
        .bind(Timestamp::now().day())
        .bind(position_to_sql(used) - position_to_sql(reserved));
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// Returns the tokens that were used today.
    pub(crate) async fn count_tokens_today(&self) -> Result<u64, ChroniclerError> {
        let statement = Statement::new("SELECT tokens FROM memory_spending WHERE day = $1");
        let rows = self.database.query(statement.bind(Timestamp::now().day())).await?;
        Ok(rows.first().map_or(Ok(0), |row| row.unsigned(0))?)
    }
}
