//! Opens payments with the wallet that is set up, which may be created while the program runs.

use std::sync::{Arc, OnceLock};

use lango_store::Database;

use crate::signer::{ExternalSigner, StoredKeySigner, Wallet, WalletKey, WalletKeyStore};
use crate::{AccountAddress, PaymentError, PaymentSettings, Payments};

/// Says which wallet payments are made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WalletSource {
    /// The one that was created here, with its key in the key store.
    #[default]
    KeyStore,
    /// An account that is only looked at.
    WatchOnly(AccountAddress),
    /// An account whose key an external signer has.
    External {
        /// The account.
        address: AccountAddress,
        /// The address of the signer.
        url: String,
    },
}

/// Gives out payments with the wallet of the moment. Clones share everything.
#[derive(Clone)]
pub struct PaymentDesk {
    payments: Payments,
    keys: Arc<dyn WalletKeyStore>,
    /// Set once: a wallet is created once and stays.
    created: Arc<OnceLock<AccountAddress>>,
    is_fixed: bool,
}

impl PaymentDesk {
    /// Opens the ledger, and looks for the wallet. Neither the chain nor a key is asked for yet.
    pub async fn open(
        database: Database,
        settings: PaymentSettings,
        source: WalletSource,
        keys: Arc<dyn WalletKeyStore>,
    ) -> Result<Self, PaymentError> {
        let wallet = match source {
            WalletSource::KeyStore => None,
            WalletSource::WatchOnly(address) => Some(Wallet::watch_only(address)),
            WalletSource::External { address, url } => {
                Some(Wallet::with_signer(Arc::new(ExternalSigner::new(address, &url)?)))
            }
        };
        let is_fixed = wallet.is_some();
        let payments = Payments::open(database, settings, wallet).await?;
        let desk = Self { payments, keys, created: Arc::default(), is_fixed };
        desk.find_wallet().await?;
        Ok(desk)
    }

    /// Returns payments with the wallet that is known so far. Nothing is read.
    pub fn payments(&self) -> Payments {
        match self.created.get() {
            Some(address) if !self.is_fixed => {
                let signer = StoredKeySigner::new(*address, Arc::clone(&self.keys));
                self.payments.clone().with_wallet(Wallet::with_signer(Arc::new(signer)))
            }
            _ => self.payments.clone(),
        }
    }

    /// Returns payments with the wallet that there is now, also if another process created it.
    pub async fn find_wallet(&self) -> Result<Payments, PaymentError> {
        if !self.is_fixed
            && self.created.get().is_none()
            && let Some(address) = self.payments.ledger().find_wallet().await?
        {
            self.created.get_or_init(|| address);
        }
        Ok(self.payments())
    }

    /// Creates the wallet: stores a new key, then records its address.
    pub async fn create_wallet(&self) -> Result<AccountAddress, PaymentError> {
        if let Ok(wallet) = self.find_wallet().await?.wallet() {
            return Err(PaymentError::WalletExists(wallet.address()));
        }
        let key = WalletKey::generate()?;
        self.keys.store(&key).await?;
        let recorded = self.payments.ledger().record_wallet(key.address()).await;
        self.find_wallet().await?;
        recorded.map(|()| key.address())
    }
}
