//! Settles payments by what the chain says. The chain decides; nothing is sent anew on a guess.

use std::time::Duration;

use lango_protocol::Timestamp;
use lango_store::StoreError;
use tokio_util::sync::CancellationToken;

use crate::chain::{BlockTag, ChainError};
use crate::ledger::{Change, age_of};
use crate::{ChainPlace, Payment, PaymentError, PaymentState, Payments, SignedPayment, Wei};

/// Says what the chain knows about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ChainFinding {
    /// It moved the money, deep enough to stay.
    Paid(ChainPlace),
    /// It happened and moved no money.
    Reverted(ChainPlace),
    /// It cannot happen any more.
    Impossible(String),
    /// It is on its way, or not deep enough.
    Pending,
    /// The chain does not have it, and can still take it.
    Missing,
}

/// Says what a look at the chain did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reconciliation {
    /// The payments that changed.
    pub changed: Vec<Payment>,
    /// What cannot be settled, for the user.
    pub problems: Vec<String>,
}

impl Payments {
    /// Waits within the limit until the chain says what became of a payment.
    pub(crate) async fn wait(
        &self,
        payment: Payment,
        cancel: &CancellationToken,
    ) -> Result<Payment, PaymentError> {
        let looked_at = self.settle_in_time(payment.clone());
        let limit = self.settings.receipt_timeout;
        let reason = tokio::select! {
            biased;
            settled = looked_at => match settled {
                Ok(settled) => return Ok(settled),
                Err(PaymentError::Chain(error)) => error.to_string(),
                Err(error) => return Err(error),
            },
            () = cancel.cancelled() => "the wait was stopped".to_owned(),
            () = tokio::time::sleep(limit) => {
                format!("no block has it after {} s", limit.as_secs())
            }
        };
        let Some(present) = self.ledger.find(payment.id).await? else { return Ok(payment) };
        match present.state {
            PaymentState::Submitted | PaymentState::Signed => {
                let change = Change::default().because(reason);
                self.advance(present, PaymentState::Unknown, change).await
            }
            _ => Ok(present),
        }
    }

    async fn settle_in_time(&self, mut payment: Payment) -> Result<Payment, PaymentError> {
        loop {
            match self.settle(payment.clone()).await {
                Ok(settled) if settled.state.is_settled() => return Ok(settled),
                Ok(unsettled) => payment = unsettled,
                // The node may be back within the limit.
                Err(PaymentError::Chain(_)) => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(self.settings.poll_interval).await;
        }
    }

    /// Brings every unsettled payment of the network, and the settled ones of its latest blocks, to
    /// what the chain says. One that cannot be settled does not keep the others from it; a node that
    /// cannot be asked does.
    pub async fn reconcile(&self) -> Result<Reconciliation, PaymentError> {
        self.check_chain().await?;
        let latest = self.chain.latest_block().await?.number();
        let recent = latest.saturating_sub(self.settings.finality_depth);
        let chain_id = self.settings.network.chain_id;
        let listed = self.ledger.list_unsettled(chain_id, recent).await?;
        let problems = listed.damaged.iter().map(ToString::to_string).collect();
        let mut reconciliation = Reconciliation { changed: Vec::new(), problems };
        for payment in listed.payments {
            let (id, revision) = (payment.id, payment.revision);
            match self.reconcile_payment(payment).await {
                Ok(present) if present.revision != revision => {
                    tracing::info!(payment = %id, state = %present.state, "a payment was reconciled");
                    reconciliation.changed.push(present);
                }
                Ok(_) => {}
                Err(error) if concerns_all(&error) => return Err(error),
                Err(error) => reconciliation.problems.push(format!("payment {id}: {error}")),
            }
        }
        Ok(reconciliation)
    }

    async fn reconcile_payment(&self, payment: Payment) -> Result<Payment, PaymentError> {
        match payment.state {
            PaymentState::Reserved => self.give_up_reservation(payment).await,
            PaymentState::Signed => {
                let submitted = self.submit_again(payment).await?;
                self.settle(submitted).await
            }
            PaymentState::Submitted => {
                let submitted = self.submit_dropped(payment).await?;
                self.settle(submitted).await
            }
            _ => self.settle(payment).await,
        }
    }

    /// Fails a reservation that no process goes on with: nothing of it was signed.
    async fn give_up_reservation(&self, payment: Payment) -> Result<Payment, PaymentError> {
        if age_of(&payment) < self.settings.reservation_timeout {
            return Ok(payment);
        }
        let reason = "it was interrupted before it was signed; nothing was sent";
        self.fail_unsent(payment, reason.to_owned()).await
    }

    /// Sends again what was signed, if the chain lacks it.
    async fn submit_again(&self, payment: Payment) -> Result<Payment, PaymentError> {
        match self.inspect(&payment).await? {
            ChainFinding::Missing => self.submit(payment).await,
            _ => Ok(payment),
        }
    }

    /// Sends a submitted payment again if no block has it: nodes drop what waits for long, or what the
    /// account could not pay the fee of.
    async fn submit_dropped(&self, payment: Payment) -> Result<Payment, PaymentError> {
        let Some(SignedPayment::Transfer { nonce, raw, .. }) = &payment.signed else {
            return Ok(payment);
        };
        if self.inspect(&payment).await? != ChainFinding::Missing {
            return Ok(payment);
        }
        match self.send_checked(&payment.order, *nonce, raw).await? {
            Ok(()) => Ok(payment),
            Err(error) if error.is_known_already() => Ok(payment),
            Err(error) => {
                let change = Change::default().because(error.to_string());
                self.advance(payment, PaymentState::Unknown, change).await
            }
        }
    }

    /// Brings one payment to what the chain says.
    pub(crate) async fn settle(&self, payment: Payment) -> Result<Payment, PaymentError> {
        let finding = self.inspect(&payment).await?;
        let reorganised = "the chain was reorganised, and does not have it any more";
        match (finding, payment.state) {
            (ChainFinding::Paid(place), state) => {
                if state == PaymentState::Confirmed && payment.place == Some(place) {
                    return Ok(payment);
                }
                self.advance(payment, PaymentState::Confirmed, Change::default().at(Some(place)))
                    .await
            }
            (ChainFinding::Reverted(place), state) => {
                if state == PaymentState::Failed && payment.place == Some(place) {
                    return Ok(payment);
                }
                if state == PaymentState::Failed {
                    // It failed in another block before; the amount stays free.
                    return Ok(payment);
                }
                let change = Change::default()
                    .at(Some(place))
                    .because(format!("the token refused it; the fee was {}", place.fee));
                self.advance(payment, PaymentState::Failed, change).await
            }
            (ChainFinding::Impossible(_), PaymentState::Failed) => Ok(payment),
            (ChainFinding::Impossible(reason), _) => {
                let change = Change::default().at(None).because(reason);
                self.advance(payment, PaymentState::Failed, change).await
            }
            (ChainFinding::Pending | ChainFinding::Missing, state) if state.is_settled() => {
                let change = Change::default().at(None).because(reorganised);
                self.advance(payment, PaymentState::Unknown, change).await
            }
            (ChainFinding::Missing, PaymentState::Unknown) => self.submit_unknown(payment).await,
            (ChainFinding::Pending | ChainFinding::Missing, _) => Ok(payment),
        }
    }

    /// Sends the bytes of a payment of unknown outcome again. A node that refuses them changes nothing.
    async fn submit_unknown(&self, payment: Payment) -> Result<Payment, PaymentError> {
        let Some(SignedPayment::Transfer { nonce, raw, .. }) = &payment.signed else {
            return Ok(payment);
        };
        match self.send_checked(&payment.order, *nonce, raw).await? {
            Ok(()) => self.advance(payment, PaymentState::Submitted, Change::default()).await,
            Err(_) => Ok(payment),
        }
    }

    async fn inspect(&self, payment: &Payment) -> Result<ChainFinding, PaymentError> {
        match &payment.signed {
            Some(SignedPayment::Transfer { nonce, hash, .. }) => {
                self.inspect_transfer(payment, *nonce, *hash).await
            }
            Some(SignedPayment::Authorization { nonce, valid_before, .. }) => {
                self.inspect_authorization(payment, *nonce, *valid_before).await
            }
            None => Ok(ChainFinding::Pending),
        }
    }

    async fn inspect_transfer(
        &self,
        payment: &Payment,
        nonce: u64,
        hash: alloy_primitives::B256,
    ) -> Result<ChainFinding, PaymentError> {
        let latest = self.chain.latest_block().await?.number();
        let from = payment.order.from();
        if let Some(finding) = self.inspect_receipt(payment, hash, latest).await? {
            return Ok(finding);
        }
        let count = self.chain.transaction_count(from, BlockTag::Latest).await?;
        if count <= nonce {
            return Ok(ChainFinding::Missing);
        }
        let deep = latest.saturating_sub(self.settings.replacement_depth);
        if self.chain.transaction_count(from, BlockTag::Number(deep)).await? <= nonce {
            return Ok(ChainFinding::Pending);
        }
        // It may have got into a block after the first look.
        if let Some(finding) = self.inspect_receipt(payment, hash, latest).await? {
            return Ok(finding);
        }
        Ok(ChainFinding::Impossible(format!(
            "another transaction of the wallet took its number {nonce}; nothing was paid. \
             Does another program use this wallet?"
        )))
    }

    async fn inspect_receipt(
        &self,
        payment: &Payment,
        hash: alloy_primitives::B256,
        latest: u64,
    ) -> Result<Option<ChainFinding>, PaymentError> {
        let Some(receipt) = self.chain.receipt(hash).await? else { return Ok(None) };
        let depth = (latest + 1).saturating_sub(receipt.block());
        if depth < self.settings.confirmations {
            return Ok(Some(ChainFinding::Pending));
        }
        let (block, fee) = (receipt.block(), receipt.fee());
        let place = ChainPlace { block, transaction: Some(hash), fee };
        let paid = receipt.pays(&payment.order);
        Ok(Some(if paid { ChainFinding::Paid(place) } else { ChainFinding::Reverted(place) }))
    }

    async fn inspect_authorization(
        &self,
        payment: &Payment,
        nonce: alloy_primitives::B256,
        valid_before: u64,
    ) -> Result<ChainFinding, PaymentError> {
        let latest = self.chain.latest_block().await?.number();
        let deep = latest.saturating_sub(self.settings.confirmations.saturating_sub(1));
        let from = payment.order.from();
        if self.chain.is_redeemed(from, nonce, BlockTag::Number(deep)).await? {
            let transaction = payment.place.and_then(|place| place.transaction);
            let block = payment.place.map_or(deep, |place| place.block);
            return Ok(ChainFinding::Paid(ChainPlace { block, transaction, fee: Wei::ZERO }));
        }
        // Only a block after its end, deep enough to stay, proves that it can never be redeemed.
        let deep = latest.saturating_sub(self.settings.replacement_depth);
        let is_over = self.chain.block(BlockTag::Number(deep)).await?.timestamp() > valid_before;
        if is_over && !self.chain.is_redeemed(from, nonce, BlockTag::Latest).await? {
            return Ok(ChainFinding::Impossible(
                "the recipient did not redeem it in time; nothing was paid".to_owned(),
            ));
        }
        Ok(ChainFinding::Pending)
    }
}

/// Tells whether an error is no matter of one payment.
fn concerns_all(error: &PaymentError) -> bool {
    match error {
        PaymentError::Chain(error) => {
            matches!(error, ChainError::Unreachable { .. } | ChainError::OtherChain { .. })
        }
        PaymentError::Store(error) => !matches!(error, StoreError::Corrupt { .. }),
        _ => false,
    }
}

/// Returns the present time in seconds since the epoch.
pub(crate) fn now_in_seconds() -> u64 {
    Duration::from_micros(u64::try_from(Timestamp::now().as_microseconds()).unwrap_or(0)).as_secs()
}
