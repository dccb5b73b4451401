//! Defines payments as the ledger holds them.

use std::fmt;
use std::str::FromStr;

use alloy_primitives::B256;
use lango_protocol::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{PaymentError, PaymentOrder, Wei};

/// Limits the text of an idempotency key.
const MAX_KEY_CHARACTERS: usize = 200;

/// Identifies a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct PaymentId(Uuid);

impl PaymentId {
    pub(crate) fn generate() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for PaymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for PaymentId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }
}

/// Identifies the intention to pay: however often it is presented, it is paid once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdempotencyKey {
    type Err = PaymentError;

    fn from_str(text: &str) -> Result<Self, PaymentError> {
        let length = text.chars().count();
        if length == 0 || length > MAX_KEY_CHARACTERS || text.contains('\0') {
            return Err(PaymentError::Key(length));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Says how far a payment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaymentState {
    /// Its amount counts for the limits. Nothing was signed.
    Reserved,
    /// What was signed is stored. It may or may not have been sent.
    Signed,
    /// It was sent.
    Submitted,
    /// The chain has it.
    Confirmed,
    /// No money moved, and none will.
    Failed,
    /// It was sent or may have been, and the chain does not say yet. It counts for the limits.
    Unknown,
}

impl PaymentState {
    /// All states.
    pub const ALL: [Self; 6] = [
        Self::Reserved,
        Self::Signed,
        Self::Submitted,
        Self::Confirmed,
        Self::Failed,
        Self::Unknown,
    ];

    /// Returns its name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Signed => "signed",
            Self::Submitted => "submitted",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    /// Tells whether nothing more is to be done.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Confirmed | Self::Failed)
    }

    /// Tells whether a payment may go from this state to another.
    ///
    /// A settled one is reopened only by a reorganisation of the chain.
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Reserved, Self::Signed | Self::Failed)
                | (Self::Signed | Self::Unknown, Self::Submitted)
                | (
                    Self::Signed | Self::Submitted | Self::Unknown | Self::Confirmed,
                    Self::Confirmed | Self::Failed | Self::Unknown
                )
                | (Self::Failed, Self::Confirmed | Self::Unknown)
        )
    }
}

impl fmt::Display for PaymentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PaymentState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let state = Self::ALL.into_iter().find(|state| state.as_str() == text);
        state.ok_or_else(|| format!("{text:?} is no state of a payment"))
    }
}

/// Holds what was signed. It is stored before it is sent, and nothing else is ever sent for the payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedPayment {
    /// A transaction.
    Transfer {
        /// Its number among those of the account; only one transaction of a number can happen.
        nonce: u64,
        /// Its hash, by which the chain knows it.
        hash: B256,
        /// Its bytes.
        raw: Vec<u8>,
    },
    /// An authorization that the recipient redeems.
    Authorization {
        /// Its number; the token redeems each one once.
        nonce: B256,
        /// The time from which it holds, in seconds since the epoch.
        valid_after: u64,
        /// The time until which it can be redeemed, in seconds since the epoch.
        valid_before: u64,
        /// The signature.
        signature: Vec<u8>,
    },
}

/// Says where on the chain a payment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainPlace {
    /// The number of the block.
    pub block: u64,
    /// The transaction, if it is known.
    pub transaction: Option<B256>,
    /// The fee that was taken from the wallet.
    pub fee: Wei,
}

/// A payment of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// The intention that it fulfils.
    pub key: IdempotencyKey,
    /// What is paid.
    pub order: PaymentOrder,
    /// How far it is.
    pub state: PaymentState,
    /// What was signed.
    pub signed: Option<SignedPayment>,
    /// Where on the chain it is.
    pub place: Option<ChainPlace>,
    /// The reason for its state, if there is one to tell.
    pub detail: Option<String>,
    /// The time of its reservation.
    pub created_at: Timestamp,
    /// The time of its last change.
    pub updated_at: Timestamp,
    /// Counts its changes; each one is made to the revision that it was decided on.
    pub(crate) revision: i64,
}

impl Payment {
    /// Returns the hash of its transaction, if it is known.
    pub fn transaction(&self) -> Option<B256> {
        match (&self.signed, self.place) {
            (Some(SignedPayment::Transfer { hash, .. }), _) => Some(*hash),
            (_, place) => place.and_then(|place| place.transaction),
        }
    }
}

/// One change of a payment, as it was journalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentChange {
    /// The payment.
    pub payment: PaymentId,
    /// The state that it got.
    pub state: PaymentState,
    /// The reason, if there was one to tell.
    pub detail: Option<String>,
    /// The time.
    pub at: Timestamp,
}
