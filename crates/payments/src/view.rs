//! Shows payments, limits and balances to programs and models, in words that need no arithmetic.

use lango_protocol::Timestamp;
use serde::Serialize;

use crate::{Payment, PaymentError, PaymentList, PaymentState, Payments, WalletBalance};

/// A payment, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PaymentView {
    /// Its id.
    pub id: String,
    /// How far it is.
    pub state: PaymentState,
    /// The amount, with the currency.
    pub amount: String,
    /// The recipient.
    pub to: String,
    /// The network.
    pub network: String,
    /// What it is for.
    pub purpose: String,
    /// The hash of its transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// The fee that was taken, with the currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee: Option<String>,
    /// The reason for its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The time of its reservation.
    pub at: Timestamp,
}

impl From<&Payment> for PaymentView {
    fn from(payment: &Payment) -> Self {
        let order = &payment.order;
        Self {
            id: payment.id.to_string(),
            state: payment.state,
            amount: order.amount().to_string(),
            to: order.to().to_string(),
            network: order.network().to_owned(),
            purpose: order.purpose().to_owned(),
            transaction: payment.transaction().map(|hash| format!("{hash:#x}")),
            fee: payment.place.map(|place| place.fee.to_string()),
            detail: payment.detail.clone(),
            at: payment.created_at,
        }
    }
}

/// The latest payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryView {
    /// The payments, the newest first.
    pub payments: Vec<PaymentView>,
    /// What could not be read or settled, for the user.
    pub notes: Vec<String>,
}

/// The wallet and its network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WalletView {
    /// The account.
    pub address: String,
    /// The network.
    pub network: String,
    /// The id of the network.
    pub chain_id: u64,
    /// The contract of the token.
    pub token: String,
    /// Tells whether nothing can be paid from it here.
    pub watch_only: bool,
}

/// What a wallet holds, with the currencies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BalanceView {
    /// The account.
    pub address: String,
    /// The network.
    pub network: String,
    /// The money.
    pub balance: String,
    /// The ether for fees.
    pub for_fees: String,
}

/// The limits, and what is left of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LimitsView {
    /// The network that they count for.
    pub network: String,
    /// The most of one payment.
    pub per_payment: String,
    /// The most within 24 hours.
    pub per_day: String,
    /// The amount that counts within 24 hours.
    pub spent_in_24_hours: String,
    /// The amount that can still be paid within 24 hours.
    pub left_in_24_hours: String,
    /// The most to one recipient within 24 hours.
    pub per_recipient: String,
    /// The only recipients, if there are any.
    pub allowed_recipients: Vec<String>,
    /// Smaller payments are made without a question.
    pub auto_approve_below: String,
    /// The most that the network may take for one payment.
    pub max_fee: String,
}

/// The sums of what was paid, on the network that is set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpendingView {
    /// Within 24 hours.
    pub day: String,
    /// Within 7 days.
    pub week: String,
    /// Within 30 days.
    pub month: String,
}

impl Payments {
    /// Shows the wallet.
    pub fn view_wallet(&self) -> Result<WalletView, PaymentError> {
        let (wallet, network) = (self.wallet()?, &self.settings.network);
        Ok(WalletView {
            address: wallet.address().to_string(),
            network: network.name.clone(),
            chain_id: network.chain_id,
            token: network.token.to_string(),
            watch_only: wallet.is_watch_only(),
        })
    }

    /// Shows what the wallet holds.
    pub async fn view_balance(&self) -> Result<BalanceView, PaymentError> {
        let WalletBalance { usdc, native } = self.read_balance().await?;
        Ok(BalanceView {
            address: self.wallet()?.address().to_string(),
            network: self.settings.network.title(),
            balance: usdc.to_string(),
            for_fees: native.to_string(),
        })
    }

    /// Shows the limits, and what is left of them.
    pub async fn view_limits(&self) -> Result<LimitsView, PaymentError> {
        let (limits, spent) = (&self.settings.limits, self.read_spending(None).await?.day);
        Ok(LimitsView {
            network: self.settings.network.title(),
            per_payment: limits.per_payment.to_string(),
            per_day: limits.per_day.to_string(),
            spent_in_24_hours: spent.to_string(),
            left_in_24_hours: limits.per_day.saturating_sub(spent).to_string(),
            per_recipient: limits.per_recipient.to_string(),
            allowed_recipients: limits.allowed_recipients.iter().map(ToString::to_string).collect(),
            auto_approve_below: limits.auto_approve_below.to_string(),
            max_fee: self.settings.max_fee.to_string(),
        })
    }

    /// Shows the latest payments as the chain has them now, and what cannot be looked at.
    pub async fn view_history(
        &self,
        limit: u32,
        offline: bool,
    ) -> Result<HistoryView, PaymentError> {
        let mut notes = Vec::new();
        if !offline && self.list_latest(1).await? != PaymentList::default() {
            match self.reconcile().await {
                Ok(reconciled) => notes = reconciled.problems,
                Err(PaymentError::Chain(error)) => notes.push(error.to_string()),
                Err(error) => return Err(error),
            }
        }
        let PaymentList { payments, damaged } = self.list_latest(limit).await?;
        notes.extend(damaged.iter().map(ToString::to_string));
        notes.sort();
        notes.dedup();
        Ok(HistoryView { payments: payments.iter().map(PaymentView::from).collect(), notes })
    }

    /// Shows the sums of what was paid, or may have been.
    pub async fn view_spending(&self) -> Result<SpendingView, PaymentError> {
        const DAY: i64 = 24 * 60 * 60 * 1_000_000;
        let (now, chain_id) = (Timestamp::now().as_microseconds(), self.settings.network.chain_id);
        let sum_of = async |days: i64| {
            let sum = self.ledger.read_spending_since(chain_id, now - days * DAY).await?;
            Ok::<_, PaymentError>(sum.to_string())
        };
        Ok(SpendingView { day: sum_of(1).await?, week: sum_of(7).await?, month: sum_of(30).await? })
    }
}
