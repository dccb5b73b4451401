//! Defines why a payment cannot be made, by who can act on it.

use lango_store::StoreError;

use crate::chain::ChainError;
use crate::fetch::OfferError;
use crate::signer::SignerError;
use crate::{AccountAddress, AddressError, AmountError, LimitRefusal};

/// Describes a failure. Unless it says otherwise, no money moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PaymentError {
    /// The caller: the amount cannot be read.
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// The caller: the address cannot be paid to.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The caller: the purpose is missing or too long.
    #[error(
        "the purpose has {length} characters; say what the payment is for in 1 to {max_characters}"
    )]
    Purpose {
        /// The number of characters that it has.
        length: usize,
        /// The most.
        max_characters: usize,
    },
    /// The caller: the recipient is the wallet itself.
    #[error("the recipient is this wallet itself")]
    PaysSelf,
    /// The caller: the recipient is the token's contract, which gives nothing back.
    #[error("the recipient is the contract of the token, from which no money comes back")]
    PaysToken,
    /// The caller: the idempotency key cannot be used.
    #[error("the idempotency key has {0} characters; use 1 to 200")]
    Key(usize),
    /// The caller: the key belongs to another payment.
    #[error(
        "the idempotency key {key:?} was used for another payment: {existing}. \
         Use another key for a new payment"
    )]
    KeyInUse {
        /// The key.
        key: String,
        /// The payment that it belongs to.
        existing: String,
    },
    /// The user: a limit is in the way.
    #[error("{0}")]
    Limit(#[from] LimitRefusal),
    /// The user: there is no wallet.
    #[error("there is no wallet. To create one: lango wallet create")]
    NoWallet,
    /// The user: there is a wallet already.
    #[error("there is a wallet already: {0}. To see it: lango wallet show")]
    WalletExists(AccountAddress),
    /// The user: the wallet has no key here.
    #[error("the wallet {0} is watched only: it has no key here, so nothing can be paid from it")]
    WatchOnly(AccountAddress),
    /// The user: the order is of another wallet or network than those that are set up now.
    #[error("the payment is {what}, but {expected} is set up now. See: lango wallet show")]
    OtherSetup {
        /// The difference.
        what: String,
        /// What is set up.
        expected: String,
    },
    /// The user: the settings do not fit together.
    #[error("{key} {reason}. To see the settings: lango config show")]
    Settings {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The signer did not sign.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// The node did not do what was asked.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A site's request for money is not acceptable.
    #[error(transparent)]
    Offer(#[from] OfferError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bug in this program.
    #[error("{0}. This is a bug in lango; please report it")]
    Defect(String),
}
