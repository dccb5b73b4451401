//! Defines the limits of payments, and why one is refused by them.

use crate::{AccountAddress, UsdcAmount};

/// Limits payments. What is reserved, paid or of unknown outcome counts; what failed does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentLimits {
    /// The most of one payment.
    pub per_payment: UsdcAmount,
    /// The most within 24 hours.
    pub per_day: UsdcAmount,
    /// The most to one recipient within 24 hours.
    pub per_recipient: UsdcAmount,
    /// The only recipients, if there are any.
    pub allowed_recipients: Vec<AccountAddress>,
    /// Smaller payments are made without a question. Zero: none is.
    pub auto_approve_below: UsdcAmount,
}

impl Default for PaymentLimits {
    fn default() -> Self {
        Self {
            per_payment: UsdcAmount::from_whole(10),
            per_day: UsdcAmount::from_whole(50),
            per_recipient: UsdcAmount::from_whole(25),
            allowed_recipients: Vec::new(),
            auto_approve_below: UsdcAmount::ZERO,
        }
    }
}

/// Says which limit refuses a payment. Nothing was reserved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitRefusal {
    /// The payment itself is too large.
    #[error(
        "{amount} is more than one payment may be ({limit}). \
         To change that: lango config set payment.limits.perPayment AMOUNT"
    )]
    Payment {
        /// The amount.
        amount: UsdcAmount,
        /// The limit.
        limit: UsdcAmount,
    },
    /// Too much within 24 hours.
    #[error(
        "{amount} would pass the limit of a day: {spent} of {limit} are spent or reserved within \
         24 hours. To change that: lango config set payment.limits.perDay AMOUNT"
    )]
    Day {
        /// The amount.
        amount: UsdcAmount,
        /// The amount that counts already.
        spent: UsdcAmount,
        /// The limit.
        limit: UsdcAmount,
    },
    /// Too much to one recipient within 24 hours.
    #[error(
        "{amount} would pass the limit for {recipient}: {spent} of {limit} are spent or reserved \
         within 24 hours. To change that: lango config set payment.limits.perRecipient AMOUNT"
    )]
    Recipient {
        /// The amount.
        amount: UsdcAmount,
        /// The recipient.
        recipient: AccountAddress,
        /// The amount that counts already.
        spent: UsdcAmount,
        /// The limit.
        limit: UsdcAmount,
    },
    /// The recipient is not on the list.
    #[error(
        "{recipient} is not an allowed recipient. \
         To allow it: lango config set payment.limits.allowedRecipients"
    )]
    NotAllowed {
        /// The recipient.
        recipient: AccountAddress,
    },
}

impl PaymentLimits {
    /// Checks what does not depend on other payments.
    pub fn check_alone(
        &self,
        recipient: AccountAddress,
        amount: UsdcAmount,
    ) -> Result<(), LimitRefusal> {
        if amount > self.per_payment {
            return Err(LimitRefusal::Payment { amount, limit: self.per_payment });
        }
        let allowed = &self.allowed_recipients;
        if !allowed.is_empty() && !allowed.contains(&recipient) {
            return Err(LimitRefusal::NotAllowed { recipient });
        }
        Ok(())
    }

    /// Checks an amount together with what counts already.
    pub(crate) fn check_sums(
        &self,
        recipient: AccountAddress,
        amount: UsdcAmount,
        spending: Spending,
    ) -> Result<(), LimitRefusal> {
        let Spending { day, to_recipient } = spending;
        if day.saturating_add(amount) > self.per_day {
            return Err(LimitRefusal::Day { amount, spent: day, limit: self.per_day });
        }
        if to_recipient.saturating_add(amount) > self.per_recipient {
            let (spent, limit) = (to_recipient, self.per_recipient);
            return Err(LimitRefusal::Recipient { amount, recipient, spent, limit });
        }
        Ok(())
    }

    /// Tells whether a payment is made without a question.
    pub fn approves_alone(&self, amount: UsdcAmount) -> bool {
        amount < self.auto_approve_below
    }
}

/// The amounts within 24 hours that count for limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// To all recipients.
    pub day: UsdcAmount,
    /// To the recipient in question.
    pub to_recipient: UsdcAmount,
}
