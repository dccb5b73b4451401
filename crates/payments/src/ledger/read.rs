//! Reads payments. A row that does not fit its own order is refused.

use std::fmt;
use std::time::Duration;

use alloy_primitives::B256;
use lango_protocol::Timestamp;
use lango_store::{Row, Statement, StoreError};

use super::Ledger;
use super::reserve::chain_to_sql;
use crate::{
    ChainPlace, IdempotencyKey, Payment, PaymentChange, PaymentError, PaymentId, PaymentMethod,
    PaymentOrder, PaymentState, SignedPayment, Wei,
};

const COLUMNS: &str = "id, idempotency_key, revision, state, order_text, order_digest, nonce, \
     transaction_hash, authorization_nonce, valid_after, valid_before, signed_bytes, block, fee, \
     detail, created_at, updated_at, recipient, amount, chain_id, sender";

/// Payments of the ledger, and what of it cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaymentList {
    /// The payments.
    pub payments: Vec<Payment>,
    /// The rows that this program cannot have written.
    pub damaged: Vec<DamagedPayment>,
}

/// A row that is no payment. It counts for the limits as far as it can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedPayment {
    /// What stands there as its id.
    pub id: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for DamagedPayment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, reason } = self;
        write!(f, "payment {id} cannot be read: {reason}")
    }
}

impl Ledger {
    /// Returns the payment of a key.
    pub async fn find_by_key(&self, key: &IdempotencyKey) -> Result<Option<Payment>, PaymentError> {
        let sql = format!("SELECT {COLUMNS} FROM payments WHERE idempotency_key = $1");
        Ok(self.read(Statement::new(sql).bind(key.as_str())).await?.pop())
    }

    /// Returns a payment by its id.
    pub async fn find(&self, id: PaymentId) -> Result<Option<Payment>, PaymentError> {
        let sql = format!("SELECT {COLUMNS} FROM payments WHERE id = $1");
        Ok(self.read(Statement::new(sql).bind(id.to_string())).await?.pop())
    }

    /// Returns the latest payments, the newest first.
    pub async fn list_latest(&self, limit: u32) -> Result<PaymentList, PaymentError> {
        let sql =
            format!("SELECT {COLUMNS} FROM payments ORDER BY created_at DESC, id DESC LIMIT $1");
        self.read_list(Statement::new(sql).bind(i64::from(limit))).await
    }

    /// Returns the payments of a network that are not settled, and the settled ones of its latest
    /// blocks, from `recent_block` on: a reorganisation can still change those.
    pub(crate) async fn list_unsettled(
        &self,
        chain_id: u64,
        recent_block: u64,
    ) -> Result<PaymentList, PaymentError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM payments WHERE chain_id = $1 \
             AND (state NOT IN ('confirmed', 'failed') OR block >= $2) \
             ORDER BY created_at, id"
        );
        let statement =
            Statement::new(sql).bind(chain_to_sql(chain_id)).bind(chain_to_sql(recent_block));
        self.read_list(statement).await
    }

    /// Returns every change of a payment in order.
    pub async fn list_changes(&self, id: PaymentId) -> Result<Vec<PaymentChange>, PaymentError> {
        let statement = Statement::new(
            "SELECT state, detail, at FROM payment_changes WHERE payment = $1 ORDER BY revision",
        )
        .bind(id.to_string());
        let rows = self.database.query(statement).await?;
        let read = |row: &Row| -> Result<PaymentChange, StoreError> {
            Ok(PaymentChange {
                payment: id,
                state: row.text(0)?.parse().map_err(corrupt_row_error)?,
                detail: row.optional_text(1)?.map(str::to_owned),
                at: Timestamp::from_microseconds(row.integer(2)?),
            })
        };
        Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
    }

    async fn read_list(&self, statement: Statement) -> Result<PaymentList, PaymentError> {
        let mut list = PaymentList::default();
        for row in &self.database.query(statement).await? {
            match read_payment(row) {
                Ok(payment) => list.payments.push(payment),
                Err(error) => {
                    let (id, reason) = (row.text(0)?.to_owned(), error.to_string());
                    list.damaged.push(DamagedPayment { id, reason });
                }
            }
        }
        Ok(list)
    }

    async fn read(&self, statement: Statement) -> Result<Vec<Payment>, PaymentError> {
        let rows = self.database.query(statement).await?;
        rows.iter().map(read_payment).collect()
    }
}

fn read_payment(row: &Row) -> Result<Payment, PaymentError> {
    let order = read_order(row)?;
    let state: PaymentState = row.text(3)?.parse().map_err(corrupt_row_error)?;
    Ok(Payment {
        id: row.text(0)?.parse().map_err(corrupt_row_error)?,
        key: row.text(1)?.parse()?,
        state,
        signed: read_signed(row, order.method())?,
        order,
        place: read_place(row)?,
        detail: row.optional_text(14)?.map(str::to_owned),
        created_at: Timestamp::from_microseconds(row.integer(15)?),
        updated_at: Timestamp::from_microseconds(row.integer(16)?),
        revision: row.integer(2)?,
    })
}

/// Reads the order, and compares it with its digest and with the columns that limits are counted by.
fn read_order(row: &Row) -> Result<PaymentOrder, PaymentError> {
    let order = PaymentOrder::from_canonical(row.text(4)?).map_err(corrupt_row_error)?;
    let fits = order.digest()? == row.text(5)?
        && order.to().to_sql() == row.text(17)?
        && order.amount().to_sql() == row.integer(18)?
        && chain_to_sql(order.chain_id()) == row.integer(19)?
        && order.from().to_sql() == row.text(20)?;
    if fits { Ok(order) } else { Err(corrupt_row_error("a payment does not fit its order").into()) }
}

fn read_signed(row: &Row, method: PaymentMethod) -> Result<Option<SignedPayment>, PaymentError> {
    if row.is_null(11)? {
        return Ok(None);
    }
    let bytes = row.blob(11)?.to_vec();
    Ok(Some(match method {
        PaymentMethod::Transfer => SignedPayment::Transfer {
            nonce: row.unsigned(6)?,
            hash: parse_hash(row.text(7)?)?,
            raw: bytes,
        },
        PaymentMethod::Authorization => SignedPayment::Authorization {
            nonce: parse_hash(row.text(8)?)?,
            valid_after: row.unsigned(9)?,
            valid_before: row.unsigned(10)?,
            signature: bytes,
        },
    }))
}

fn read_place(row: &Row) -> Result<Option<ChainPlace>, PaymentError> {
    if row.is_null(12)? {
        return Ok(None);
    }
    Ok(Some(ChainPlace {
        block: row.unsigned(12)?,
        transaction: row.optional_text(7)?.map(parse_hash).transpose()?,
        fee: Wei(row.text(13)?.parse().map_err(corrupt_row_error)?),
    }))
}

fn parse_hash(text: &str) -> Result<B256, StoreError> {
    text.parse().map_err(corrupt_row_error)
}

/// Returns how long ago a payment was changed.
pub(crate) fn age_of(payment: &Payment) -> Duration {
    Timestamp::now().since(payment.updated_at)
}

/// Returns the error for a value that this program cannot have written.
pub(super) fn corrupt_row_error(reason: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt {
        location: "the tables of payments".to_owned(),
        reason: reason.to_string(),
    }
}
