//! Defines who signs: a key of this machine, or an external signer.

mod external;
mod key;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use alloy_consensus::TxEip1559;
use alloy_primitives::Signature;

pub use crate::chain::token::TransferAuthorization;
use crate::{AccountAddress, PaymentError};
pub use external::ExternalSigner;
pub use key::{KeyFuture, KeySigner, StoredKeySigner, WalletKey, WalletKeyStore};

/// The future of a signature.
pub type SignFuture<'a> = Pin<Box<dyn Future<Output = Result<Signature, SignerError>> + Send + 'a>>;

/// Says why nothing was signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignerError {
    /// The key cannot be read, for example because the key store is locked.
    #[error("the key of the wallet cannot be used: {0}")]
    Key(String),
    /// The key is not of the wallet.
    #[error("the key is of {found}, not of the wallet {expected}")]
    OtherKey {
        /// The account that the key is of.
        found: AccountAddress,
        /// The wallet.
        expected: AccountAddress,
    },
    /// An external signer did not sign what it was asked to.
    #[error("the external signer did not sign: {0}")]
    External(String),
}

/// Signs payments of one account. It is given typed values, and nothing that a model wrote.
pub trait PaymentSigner: Send + Sync {
    /// Returns the account.
    fn address(&self) -> AccountAddress;

    /// Signs a transaction.
    fn sign_transfer<'a>(&'a self, transaction: &'a TxEip1559) -> SignFuture<'a>;

    /// Signs an authorization.
    fn sign_authorization<'a>(&'a self, authorization: &'a TransferAuthorization)
    -> SignFuture<'a>;
}

/// The account that payments are made from.
#[derive(Clone)]
pub struct Wallet {
    address: AccountAddress,
    signer: Option<Arc<dyn PaymentSigner>>,
}

impl Wallet {
    /// Makes a wallet that can pay.
    pub fn with_signer(signer: Arc<dyn PaymentSigner>) -> Self {
        Self { address: signer.address(), signer: Some(signer) }
    }

    /// Makes a wallet that is only looked at.
    pub fn watch_only(address: AccountAddress) -> Self {
        Self { address, signer: None }
    }

    /// Returns the account.
    pub fn address(&self) -> AccountAddress {
        self.address
    }

    /// Tells whether it has no signer.
    pub fn is_watch_only(&self) -> bool {
        self.signer.is_none()
    }

    pub(crate) fn signer(&self) -> Result<&dyn PaymentSigner, PaymentError> {
        self.signer.as_deref().ok_or(PaymentError::WatchOnly(self.address))
    }
}

impl std::fmt::Debug for Wallet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wallet").field("address", &self.address).finish_non_exhaustive()
    }
}
