//! Changes payments, each time from exactly the revision that the decision was made on.

use lango_protocol::Timestamp;
use lango_store::{Batch, Durability, Statement, StoreError};

use super::reserve::chain_to_sql;
use super::{Ledger, pass_turnstile};
use crate::{ChainPlace, Payment, PaymentError, PaymentState, SignedPayment};

/// Says what a step means for the place of a payment on the chain.
#[derive(Debug, Clone, Copy, Default)]
enum PlaceChange {
    #[default]
    Stays,
    Moves(Option<ChainPlace>),
}

/// A step of a payment.
#[derive(Debug, Clone, Default)]
pub struct Change {
    signed: Option<SignedPayment>,
    place: PlaceChange,
    detail: Option<String>,
}

impl Change {
    /// Adds the reason.
    #[must_use]
    pub fn because(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Says where on the chain the payment is now; none if it is nowhere any more.
    #[must_use]
    pub fn at(mut self, place: Option<ChainPlace>) -> Self {
        self.place = PlaceChange::Moves(place);
        self
    }
}

impl Ledger {
    /// Moves a payment to another state. Returns none if it was changed meanwhile: then nothing was
    /// written, and the caller reads it again before it does anything.
    pub async fn advance(
        &self,
        payment: &Payment,
        state: PaymentState,
        change: Change,
    ) -> Result<Option<Payment>, PaymentError> {
        self.write_change(payment, state, change, Batch::new()).await
    }

    /// Stores what was signed. Returns none if the payment was changed meanwhile, or another payment
    /// of the account has the number of the transaction: then what was signed must be thrown away.
    pub async fn record_signed(
        &self,
        payment: &Payment,
        signed: SignedPayment,
    ) -> Result<Option<Payment>, PaymentError> {
        let batch = Batch::new().with(pass_turnstile("nonces"));
        let change = Change { signed: Some(signed), ..Change::default() };
        self.write_change(payment, PaymentState::Signed, change, batch).await
    }

    async fn write_change(
        &self,
        payment: &Payment,
        state: PaymentState,
        change: Change,
        batch: Batch,
    ) -> Result<Option<Payment>, PaymentError> {
        if !payment.state.may_become(state) {
            let (id, from) = (payment.id, payment.state);
            return Err(PaymentError::Defect(format!("payment {id} is {from}, not {state}")));
        }
        let mut changed = payment.clone();
        changed.state = state;
        changed.revision += 1;
        changed.updated_at = Timestamp::now();
        changed.detail = change.detail;
        changed.signed = change.signed.or(changed.signed);
        if let PlaceChange::Moves(place) = change.place {
            changed.place = place;
        }
        let batch = batch
            .with(update(&changed).expect_rows(1))
            .with(journal_change(&changed))
            .durability(Durability::PowerLoss);
        match self.database.write(batch).await {
            Ok(_) => Ok(Some(changed)),
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the smallest number from `first` on that no payment of the account holds.
    pub(crate) async fn find_free_nonce(
        &self,
        payment: &Payment,
        first: u64,
    ) -> Result<u64, PaymentError> {
        let statement = Statement::new(
            "SELECT nonce FROM payments WHERE chain_id = $1 AND sender = $2 AND nonce >= $3 \
             AND state <> 'failed' ORDER BY nonce",
        )
        .bind(chain_to_sql(payment.order.chain_id()))
        .bind(payment.order.from().to_sql())
        .bind(chain_to_sql(first));
        let mut free = first;
        for row in self.database.query(statement).await? {
            if row.unsigned(0)? != free {
                break;
            }
            free += 1;
        }
        Ok(free)
    }
}

fn update(payment: &Payment) -> Statement {
    let columns = SignedColumns::of(payment.signed.as_ref());
    let place = payment.place;
    let known_hash = place.and_then(|place| place.transaction).map(|hash| format!("{hash:#x}"));
    Statement::new(
        "UPDATE payments SET revision = $2 + 1, state = $3, nonce = $4, transaction_hash = $5, \
         authorization_nonce = $6, valid_after = $7, valid_before = $8, signed_bytes = $9, \
         block = $10, fee = $11, detail = $12, updated_at = $13 WHERE id = $1 AND revision = $2",
    )
    .bind(payment.id.to_string())
    .bind(payment.revision - 1)
    .bind(payment.state.as_str())
    .bind(columns.nonce)
    .bind(columns.hash.or(known_hash))
    .bind(columns.authorization_nonce)
    .bind(columns.valid_after)
    .bind(columns.valid_before)
    .bind(columns.bytes)
    .bind(place.map(|place| chain_to_sql(place.block)))
    .bind(place.map(|place| place.fee.0.to_string()))
    .bind(payment.detail.clone())
    .bind(payment.updated_at.as_microseconds())
}

/// Returns the statement that journals the present state of a payment.
pub(super) fn journal_change(payment: &Payment) -> Statement {
    Statement::new(
        "INSERT INTO payment_changes (payment, revision, state, detail, at) \
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(payment.id.to_string())
    .bind(payment.revision)
    .bind(payment.state.as_str())
    .bind(payment.detail.clone())
    .bind(payment.updated_at.as_microseconds())
}

#[derive(Default)]
struct SignedColumns {
    nonce: Option<i64>,
    hash: Option<String>,
    authorization_nonce: Option<String>,
    valid_after: Option<i64>,
    valid_before: Option<i64>,
    bytes: Option<Vec<u8>>,
}

impl SignedColumns {
    fn of(signed: Option<&SignedPayment>) -> Self {
        match signed {
            None => Self::default(),
            Some(SignedPayment::Transfer { nonce, hash, raw }) => Self {
                nonce: Some(chain_to_sql(*nonce)),
                hash: Some(format!("{hash:#x}")),
                bytes: Some(raw.clone()),
                ..Self::default()
            },
            Some(SignedPayment::Authorization { nonce, valid_after, valid_before, signature }) => {
                Self {
                    authorization_nonce: Some(format!("{nonce:#x}")),
                    valid_after: Some(chain_to_sql(*valid_after)),
                    valid_before: Some(chain_to_sql(*valid_before)),
                    bytes: Some(signature.clone()),
                    ..Self::default()
                }
            }
        }
    }
}
