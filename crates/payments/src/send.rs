//! Sends payments: reserves, signs, submits and waits, each step recorded before the next act.

use tokio_util::sync::CancellationToken;

use crate::chain::transfer::{build_transfer, check_transfer, seal_transfer};
use crate::chain::{BlockTag, ChainError, FeeFinding, FeeQuote};
use crate::ledger::Change;
use crate::{
    IdempotencyKey, Payment, PaymentError, PaymentOrder, PaymentState, Payments, SignedPayment,
};

/// Limits the attempts to get a number of the account that no other process took meanwhile.
const MAX_NONCE_ATTEMPT_COUNT: usize = 50;

/// Says how a preparation ended.
enum Preparation {
    Ready(FeeQuote),
    Refused(String),
}

impl Payments {
    /// Pays an order once, however often it is called with this key, and returns the payment as far as
    /// it got within the time limit. `cancel` ends the wait, not the payment.
    ///
    /// An error means that nothing was sent for this call; look at the state of the payment otherwise.
    pub async fn send(
        &self,
        order: &PaymentOrder,
        key: &IdempotencyKey,
        cancel: &CancellationToken,
    ) -> Result<Payment, PaymentError> {
        self.check_setup(order)?;
        let payment = self.ledger.reserve(order, key, &self.settings.limits).await?;
        let payment = match payment.state {
            PaymentState::Reserved => self.sign(payment).await?,
            _ => payment,
        };
        let payment = match payment.state {
            PaymentState::Signed => self.submit(payment).await?,
            _ => payment,
        };
        match payment.state {
            PaymentState::Submitted | PaymentState::Unknown => self.wait(payment, cancel).await,
            _ => Ok(payment),
        }
    }

    /// Checks that an order is of the wallet and the network that are set up.
    pub(crate) fn check_setup(&self, order: &PaymentOrder) -> Result<(), PaymentError> {
        let wallet = self.wallet()?;
        wallet.signer()?;
        let network = &self.settings.network;
        if (order.chain_id(), order.token()) != (network.chain_id, network.token) {
            let what = format!("on {} with the token {}", order.network(), order.token());
            let expected = format!("{} with the token {}", network.title(), network.token);
            return Err(PaymentError::OtherSetup { what, expected });
        }
        if order.from() != wallet.address() {
            let what = format!("from {}", order.from());
            return Err(PaymentError::OtherSetup { what, expected: wallet.address().to_string() });
        }
        Ok(())
    }

    /// Signs a reserved transfer. One that cannot be made fails here, before anything is signed.
    async fn sign(&self, payment: Payment) -> Result<Payment, PaymentError> {
        let _turn = self.signing.lock().await;
        let fee = match self.prepare(&payment.order).await {
            Ok(Preparation::Ready(fee)) => fee,
            Ok(Preparation::Refused(reason)) => return self.fail_unsent(payment, reason).await,
            Err(error @ PaymentError::Chain(_)) => {
                return self.fail_unsent(payment, error.to_string()).await;
            }
            Err(error) => return Err(error),
        };
        for _ in 0..MAX_NONCE_ATTEMPT_COUNT {
            let signed = match self.sign_with_free_nonce(&payment, &fee).await {
                Ok(signed) => signed,
                Err(error @ (PaymentError::Signer(_) | PaymentError::Chain(_))) => {
                    return self.fail_unsent(payment, error.to_string()).await;
                }
                Err(error) => return Err(error),
            };
            if let Some(signed) = self.ledger.record_signed(&payment, signed).await? {
                return Ok(signed);
            }
            let present = self.reload(&payment).await?;
            if present.revision != payment.revision {
                // Another process went on with it.
                return Ok(present);
            }
        }
        let reason = "other payments of this wallet took every number; nothing was sent";
        self.fail_unsent(payment, reason.to_owned()).await
    }

    /// Looks at everything that can be known before the payment is signed.
    async fn prepare(&self, order: &PaymentOrder) -> Result<Preparation, PaymentError> {
        self.check_chain().await?;
        self.check_token().await?;
        let refused = |reason: String| Ok(Preparation::Refused(reason));
        let balance = self.chain.token_balance(order.from()).await?;
        if balance < order.amount() {
            return refused(format!("the wallet has {balance}, and {} are needed", order.amount()));
        }
        let fee = match self.chain.quote_fee(order).await {
            Ok(FeeFinding::Affordable(fee)) => fee,
            Ok(FeeFinding::TooHigh(fee)) => {
                let (total, limit) = (fee.total(), order.max_fee());
                return refused(format!(
                    "the network takes up to {total} now, and at most {limit} were approved. \
                     Try again later, or: lango config set payment.maxFee ETH"
                ));
            }
            // The node runs it to count the steps, and the token refuses it.
            Err(error @ ChainError::Refused { .. }) => return refused(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        let native = self.chain.native_balance(order.from()).await?;
        if native < fee.total() {
            let needed = fee.total();
            return refused(format!(
                "the wallet has {native} for fees, and up to {needed} are needed. \
                 Send ether to {}",
                order.from()
            ));
        }
        Ok(Preparation::Ready(fee))
    }

    async fn sign_with_free_nonce(
        &self,
        payment: &Payment,
        fee: &FeeQuote,
    ) -> Result<SignedPayment, PaymentError> {
        let order = &payment.order;
        let pending = self.chain.transaction_count(order.from(), BlockTag::Pending).await?;
        let nonce = self.ledger.find_free_nonce(payment, pending).await?;
        let transaction = build_transfer(order, nonce, fee);
        let signature = self.wallet()?.signer()?.sign_transfer(&transaction).await?;
        seal_transfer(order, transaction, signature)
    }

    /// Sends what was signed. Only these bytes are ever sent for the payment.
    pub(crate) async fn submit(&self, payment: Payment) -> Result<Payment, PaymentError> {
        let Some(SignedPayment::Transfer { nonce, raw, .. }) = &payment.signed else {
            return Ok(payment);
        };
        let (state, change) = match self.send_checked(&payment.order, *nonce, raw).await? {
            Ok(()) => (PaymentState::Submitted, Change::default()),
            Err(error) if error.is_known_already() => (PaymentState::Submitted, Change::default()),
            Err(error) => (PaymentState::Unknown, Change::default().because(error.to_string())),
        };
        self.advance(payment, state, change).await
    }

    /// Sends the bytes of a transaction, if they are of the order. Everything that is sent goes through
    /// here.
    pub(crate) async fn send_checked(
        &self,
        order: &PaymentOrder,
        nonce: u64,
        raw: &[u8],
    ) -> Result<Result<(), ChainError>, PaymentError> {
        check_transfer(order, nonce, raw)?;
        Ok(self.chain.send_raw(raw).await)
    }

    /// Fails a payment of which nothing was sent, and frees its amount.
    pub(crate) async fn fail_unsent(
        &self,
        payment: Payment,
        reason: String,
    ) -> Result<Payment, PaymentError> {
        self.advance(payment, PaymentState::Failed, Change::default().because(reason)).await
    }

    /// Moves a payment on; returns it as it is now if another process was faster.
    pub(crate) async fn advance(
        &self,
        payment: Payment,
        state: PaymentState,
        change: Change,
    ) -> Result<Payment, PaymentError> {
        match self.ledger.advance(&payment, state, change).await? {
            Some(changed) => Ok(changed),
            None => self.reload(&payment).await,
        }
    }

    async fn reload(&self, payment: &Payment) -> Result<Payment, PaymentError> {
        let present = self.ledger.find(payment.id).await?;
        present.ok_or_else(|| PaymentError::Defect(format!("payment {} is gone", payment.id)))
    }
}
