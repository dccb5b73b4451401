//! Pays in USDC: exact amounts, limits, a ledger that pays once, the chain, and x402.
//!
//! Use this to move money. An order is shown and approved by the callers; here it is reserved within
//! the limits, signed, sent and followed until the chain settles it. Who approves an order and where
//! keys are stored is decided by others: see [`PaymentSigner`] and [`WalletKeyStore`].

mod address;
mod amount;
mod chain;
mod desk;
mod error;
mod fetch;
mod ledger;
mod limits;
mod network;
mod order;
mod payment;
mod payments;
mod send;
mod settle;
mod signer;
#[cfg(feature = "testing")]
pub mod testing;
mod view;

pub use address::{AccountAddress, AddressError};
pub use alloy_primitives::{B256, hex};
pub use amount::{AmountError, UsdcAmount, Wei};
pub use chain::ChainError;
pub use desk::{PaymentDesk, WalletSource};
pub use error::PaymentError;
pub use fetch::{FetchOutcome, Offer, OfferError, PaidPage};
pub use ledger::{Change, DamagedPayment, Ledger, PaymentList};
pub use limits::{LimitRefusal, PaymentLimits, Spending};
pub use network::Network;
pub use order::{OrderParts, PaymentMethod, PaymentOrder};
pub use payment::{
    ChainPlace, IdempotencyKey, Payment, PaymentChange, PaymentId, PaymentState, SignedPayment,
};
pub use payments::{PaymentSettings, Payments, WalletBalance};
pub use settle::Reconciliation;
pub use signer::{
    ExternalSigner, KeyFuture, KeySigner, PaymentSigner, SignFuture, SignerError, StoredKeySigner,
    TransferAuthorization, Wallet, WalletKey, WalletKeyStore,
};
pub use view::{BalanceView, HistoryView, LimitsView, PaymentView, SpendingView, WalletView};

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] = &[ledger::schema::COMPONENT];
