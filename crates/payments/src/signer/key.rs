//! Signs with a key of this machine.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use alloy_consensus::{SignableTransaction as _, TxEip1559};
use alloy_primitives::{Address, B256, Signature};
use k256::ecdsa::SigningKey;
use ring::rand::{SecureRandom as _, SystemRandom};
use zeroize::Zeroizing;

use super::{PaymentSigner, SignFuture, SignerError, TransferAuthorization};
use crate::AccountAddress;

/// The secret of a wallet. It is overwritten when it is dropped, and never shown.
pub struct WalletKey(SigningKey);

impl WalletKey {
    /// Generates a key.
    pub fn generate() -> Result<Self, SignerError> {
        let mut bytes = Zeroizing::new([0; 32]);
        let filled = SystemRandom::new().fill(bytes.as_mut());
        filled.map_err(|_| SignerError::Key("the system has no random numbers".to_owned()))?;
        Self::from_bytes(&bytes)
    }

    /// Reads a key from its 32 bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, SignerError> {
        let key = SigningKey::from_slice(bytes);
        key.map(Self).map_err(|_| SignerError::Key("it is no key of secp256k1".to_owned()))
    }

    /// Returns its bytes, for the key store alone.
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes().into())
    }

    /// Returns the account that it is of.
    pub fn address(&self) -> AccountAddress {
        AccountAddress::new(Address::from_private_key(&self.0))
    }

    fn sign(&self, hash: B256) -> Result<Signature, SignerError> {
        let signed = self.0.sign_prehash_recoverable(hash.as_slice());
        signed.map(Signature::from).map_err(|error| SignerError::Key(error.to_string()))
    }
}

impl std::fmt::Debug for WalletKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("WalletKey").field(&self.address()).finish()
    }
}

/// Signs with a key that it holds.
#[derive(Debug)]
pub struct KeySigner(WalletKey);

impl KeySigner {
    /// Makes a signer of a key.
    pub fn new(key: WalletKey) -> Self {
        Self(key)
    }
}

impl PaymentSigner for KeySigner {
    fn address(&self) -> AccountAddress {
        self.0.address()
    }

    fn sign_transfer<'a>(&'a self, transaction: &'a TxEip1559) -> SignFuture<'a> {
        Box::pin(async { self.0.sign(transaction.signature_hash()) })
    }

    fn sign_authorization<'a>(
        &'a self,
        authorization: &'a TransferAuthorization,
    ) -> SignFuture<'a> {
        Box::pin(async { self.0.sign(authorization.signing_hash()) })
    }
}

/// The future of a key that is read or written.
pub type KeyFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, SignerError>> + Send + 'a>>;

/// Keeps the keys of wallets, encrypted.
pub trait WalletKeyStore: Send + Sync {
    /// Reads the key of an account, for one signature.
    fn load(&self, address: AccountAddress) -> KeyFuture<'_, WalletKey>;

    /// Stores a key, so that it survives a loss of power.
    fn store<'a>(&'a self, key: &'a WalletKey) -> KeyFuture<'a, ()>;
}

/// Signs with a key that is read from the key store for each signature.
pub struct StoredKeySigner {
    address: AccountAddress,
    keys: Arc<dyn WalletKeyStore>,
}

impl StoredKeySigner {
    /// Makes a signer for an account whose key is in the key store.
    pub fn new(address: AccountAddress, keys: Arc<dyn WalletKeyStore>) -> Self {
        Self { address, keys }
    }

    async fn sign(&self, hash: B256) -> Result<Signature, SignerError> {
        let key = self.keys.load(self.address).await?;
        let (found, expected) = (key.address(), self.address);
        if found != expected {
            return Err(SignerError::OtherKey { found, expected });
        }
        key.sign(hash)
    }
}

impl PaymentSigner for StoredKeySigner {
    fn address(&self) -> AccountAddress {
        self.address
    }

    fn sign_transfer<'a>(&'a self, transaction: &'a TxEip1559) -> SignFuture<'a> {
        Box::pin(self.sign(transaction.signature_hash()))
    }

    fn sign_authorization<'a>(
        &'a self,
        authorization: &'a TransferAuthorization,
    ) -> SignFuture<'a> {
        Box::pin(self.sign(authorization.signing_hash()))
    }
}
