//! Remembers the address of the wallet, which can be read while its key is locked.

use lango_protocol::Timestamp;
use lango_store::{Statement, StoreError};

use super::Ledger;
use super::read::corrupt_row_error;
use crate::{AccountAddress, PaymentError};

impl Ledger {
    /// Returns the wallet that was created here, if there is one.
    pub async fn find_wallet(&self) -> Result<Option<AccountAddress>, PaymentError> {
        let sql = "SELECT address FROM payment_wallets ORDER BY position DESC LIMIT 1";
        let rows = self.database.query(Statement::new(sql)).await?;
        let parse = |text: &str| text.parse().map_err(corrupt_row_error);
        Ok(rows.first().map(|row| parse(row.text(0)?)).transpose()?)
    }

    /// Records the wallet. Of two that are created at once, one is refused.
    pub async fn record_wallet(&self, address: AccountAddress) -> Result<(), PaymentError> {
        let insert = Statement::new(
            "INSERT INTO payment_wallets (address, position, created_at) VALUES ($1, 1, $2)",
        )
        .bind(address.to_sql())
        .bind(Timestamp::now().as_microseconds());
        match self.database.write(insert.into()).await {
            Ok(_) => Ok(()),
            Err(error @ StoreError::Conflict { .. }) => {
                let existing = self.find_wallet().await?;
                Err(existing.map_or(PaymentError::Store(error), PaymentError::WalletExists))
            }
            Err(error) => Err(error.into()),
        }
    }
}
