//! Remembers the first block of each network, so that a node of another chain is noticed.

use alloy_primitives::B256;
use lango_store::Statement;

use super::Ledger;
use super::reserve::chain_to_sql;
use crate::PaymentError;

impl Ledger {
    /// Returns the first block that a network had when it was first used; `found` if that is now.
    pub(crate) async fn remember_genesis(
        &self,
        chain_id: u64,
        found: B256,
    ) -> Result<String, PaymentError> {
        let found = format!("{found:#x}");
        let read = || {
            let sql = "SELECT genesis FROM payment_chains WHERE chain_id = $1";
            Statement::new(sql).bind(chain_to_sql(chain_id))
        };
        if let Some(row) = self.database.query(read()).await?.first() {
            return Ok(row.text(0)?.to_owned());
        }
        let insert = Statement::new(
            "INSERT INTO payment_chains (chain_id, genesis) VALUES ($1, $2) \
             ON CONFLICT (chain_id) DO NOTHING",
        )
        .bind(chain_to_sql(chain_id))
        .bind(found.as_str());
        self.database.write(insert.into()).await?;
        let rows = self.database.query(read()).await?;
        Ok(rows.first().map(|row| row.text(0)).transpose()?.unwrap_or(&found).to_owned())
    }
}
