//! Keeps every payment: reserved within the limits, and changed one journalled step at a time.
//!
//! What is written here decides. Each step is durable before the act that it announces, and each one
//! is a comparison with what was read before, so that of two processes one goes on.

mod change;
mod genesis;
mod read;
mod reserve;
pub(crate) mod schema;
mod wallets;

use lango_store::{Database, Statement};

use crate::PaymentError;

pub use change::Change;
pub(crate) use read::age_of;
pub use read::{DamagedPayment, PaymentList};

/// The payments of one database. Clones share it.
#[derive(Clone)]
pub struct Ledger {
    database: Database,
}

impl Ledger {
    /// Opens the ledger, and creates its tables where they are missing.
    pub async fn open(database: Database) -> Result<Self, PaymentError> {
        database.migrate(&schema::COMPONENT).await?;
        Ok(Self { database })
    }
}

/// Waits for the transactions that decide on the same, and makes later ones wait for this one. The
/// statements after it see all that those wrote.
fn pass_turnstile(name: &'static str) -> Statement {
    Statement::new("UPDATE payment_turnstile SET passed = passed + 1 WHERE name = $1")
        .bind(name)
        .expect_rows(1)
}
