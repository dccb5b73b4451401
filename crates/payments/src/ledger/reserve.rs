//! Reserves payments: the check of the limits and the row that counts for them are one transaction.

use std::time::Duration;

use lango_protocol::Timestamp;
use lango_store::{Batch, Durability, Statement, StoreError};

use super::change::journal_change;
use super::{Ledger, pass_turnstile};
use crate::limits::Spending;
use crate::{
    AccountAddress, IdempotencyKey, Payment, PaymentError, PaymentId, PaymentLimits, PaymentOrder,
    PaymentState, UsdcAmount,
};

/// The time over which limits count.
const LIMIT_WINDOW: Duration = Duration::from_hours(24);

/// Limits the attempts to reserve while other payments come and go in between.
const MAX_ATTEMPT_COUNT: usize = 3;

// An amount that failed does not count. One that can still be paid does, however old it is, and one
// that was paid counts from its last change on. Rows of the future, from before a clock was set back,
// count as well.
const SUM_SINCE: &str = "SELECT COALESCE(SUM(amount), 0) FROM payments WHERE chain_id = $1 \
     AND state <> 'failed' AND (state <> 'confirmed' OR created_at > $2 OR updated_at > $2)";

impl Ledger {
    /// Reserves a payment, or returns the one that has this key.
    pub async fn reserve(
        &self,
        order: &PaymentOrder,
        key: &IdempotencyKey,
        limits: &PaymentLimits,
    ) -> Result<Payment, PaymentError> {
        for _ in 0..MAX_ATTEMPT_COUNT {
            if let Some(payment) = self.find_by_key(key).await? {
                return same_payment(payment, order);
            }
            limits.check_alone(order.to(), order.amount())?;
            match self.insert(order, key, limits).await {
                Ok(payment) => return Ok(payment),
                Err(PaymentError::Store(StoreError::Conflict { .. })) => {}
                Err(error) => return Err(error),
            }
            // Either the key is taken now, or a limit was in the way.
            let spending = self.read_spending(order.chain_id(), Some(order.to())).await?;
            if self.find_by_key(key).await?.is_none() {
                limits.check_sums(order.to(), order.amount(), spending)?;
            }
        }
        let spending = self.read_spending(order.chain_id(), Some(order.to())).await?;
        let (amount, spent, limit) = (order.amount(), spending.day, limits.per_day);
        Err(crate::LimitRefusal::Day { amount, spent, limit }.into())
    }

    async fn insert(
        &self,
        order: &PaymentOrder,
        key: &IdempotencyKey,
        limits: &PaymentLimits,
    ) -> Result<Payment, PaymentError> {
        let now = Timestamp::now();
        let payment = Payment {
            id: PaymentId::generate(),
            key: key.clone(),
            order: order.clone(),
            state: PaymentState::Reserved,
            signed: None,
            place: None,
            detail: None,
            created_at: now,
            updated_at: now,
            revision: 1,
        };
        let sql = format!(
            "INSERT INTO payments (chain_id, created_at, updated_at, id, idempotency_key, revision, \
             state, order_text, order_digest, sender, recipient, amount) \
             SELECT CAST($1 AS BIGINT), CAST($3 AS BIGINT), CAST($3 AS BIGINT), $4, $5, 1, \
             'reserved', $6, $7, $8, $9, CAST($10 AS BIGINT) \
             WHERE ({SUM_SINCE}) + CAST($10 AS BIGINT) <= CAST($11 AS BIGINT) \
             AND ({SUM_SINCE} AND recipient = $9) + CAST($10 AS BIGINT) <= CAST($12 AS BIGINT)"
        );
        let statement = Statement::new(sql)
            .bind(chain_to_sql(order.chain_id()))
            .bind(window_start(now))
            .bind(now.as_microseconds())
            .bind(payment.id.to_string())
            .bind(key.as_str())
            .bind(order.to_canonical()?)
            .bind(order.digest()?)
            .bind(order.from().to_sql())
            .bind(order.to().to_sql())
            .bind(order.amount().to_sql())
            .bind(limits.per_day.to_sql())
            .bind(limits.per_recipient.to_sql())
            .expect_rows(1);
        let batch = Batch::new()
            .with(pass_turnstile("reservations"))
            .with(statement)
            .with(journal_change(&payment))
            .durability(Durability::PowerLoss);
        self.database.write(batch).await?;
        Ok(payment)
    }

    /// Returns what counts for the limits of a network now.
    pub async fn read_spending(
        &self,
        chain_id: u64,
        recipient: Option<AccountAddress>,
    ) -> Result<Spending, PaymentError> {
        let since = window_start(Timestamp::now());
        let day = self.read_spending_since(chain_id, since).await?;
        let mut spending = Spending { day, to_recipient: UsdcAmount::ZERO };
        if let Some(recipient) = recipient {
            let sql = format!("SELECT CAST(({SUM_SINCE} AND recipient = $3) AS BIGINT)");
            let of_recipient = Statement::new(sql)
                .bind(chain_to_sql(chain_id))
                .bind(since)
                .bind(recipient.to_sql());
            spending.to_recipient = self.read_sum(of_recipient).await?;
        }
        Ok(spending)
    }

    /// Returns the sum of what was paid on a network since a time, in microseconds since the epoch, or
    /// may have been, counted as the limits count it.
    pub(crate) async fn read_spending_since(
        &self,
        chain_id: u64,
        since: i64,
    ) -> Result<UsdcAmount, PaymentError> {
        let sum = Statement::new(format!("SELECT CAST(({SUM_SINCE}) AS BIGINT)"))
            .bind(chain_to_sql(chain_id))
            .bind(since);
        self.read_sum(sum).await
    }

    async fn read_sum(&self, statement: Statement) -> Result<UsdcAmount, PaymentError> {
        let rows = self.database.query(statement).await?;
        let units = rows.first().map(|row| row.unsigned(0)).transpose()?.unwrap_or(0);
        Ok(UsdcAmount::from_units(units).unwrap_or_else(|| UsdcAmount::from_whole(u32::MAX)))
    }
}

/// Returns the payment of a key, if the key was presented with the same order.
fn same_payment(payment: Payment, order: &PaymentOrder) -> Result<Payment, PaymentError> {
    if payment.order == *order {
        return Ok(payment);
    }
    let Payment { key, order, state, .. } = payment;
    let existing = format!("{} to {}, {state}", order.amount(), order.to());
    Err(PaymentError::KeyInUse { key: key.as_str().to_owned(), existing })
}

fn window_start(now: Timestamp) -> i64 {
    let window = i64::try_from(LIMIT_WINDOW.as_micros()).unwrap_or(i64::MAX);
    now.as_microseconds().saturating_sub(window)
}

pub(super) fn chain_to_sql(chain_id: u64) -> i64 {
    i64::try_from(chain_id).unwrap_or(i64::MAX)
}
