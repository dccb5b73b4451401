//! Keeps the key of the wallet in the key store.

use lango_keystore::{
    Actor, EntryAttributes, EntryKind, EntryName, KeyStore, KeyStoreError, SecretBytes,
};
use lango_payments::{AccountAddress, KeyFuture, SignerError, WalletKey, WalletKeyStore};

/// Names the part of the program that uses the key, in the record of uses.
const ACTOR: &str = "payments";

/// Reads the key of the wallet for each signature, which is recorded.
pub(crate) struct VaultKeys {
    store: KeyStore,
}

impl VaultKeys {
    pub(crate) fn new(store: KeyStore) -> Self {
        Self { store }
    }

    async fn read(&self, address: AccountAddress) -> Result<WalletKey, SignerError> {
        let (name, actor) = (entry_name(address)?, actor("sign a payment"));
        let value = self.store.open_value(EntryKind::Secp256k1, &name, &actor).await;
        let value = value.map_err(convert_error)?;
        let bytes: &[u8; 32] = value
            .reveal()
            .try_into()
            .map_err(|_| SignerError::Key("it is no key of a wallet".to_owned()))?;
        WalletKey::from_bytes(bytes)
    }

    async fn write(&self, key: &WalletKey) -> Result<(), SignerError> {
        let (name, actor) = (entry_name(key.address())?, actor("create a wallet"));
        let public = Some(key.address().to_string());
        let attributes = EntryAttributes { public, ..EntryAttributes::default() };
        let value = SecretBytes::new(key.to_bytes().to_vec());
        let created =
            self.store.create(EntryKind::Secp256k1, &name, &value, attributes, &actor).await;
        created.map(drop).map_err(convert_error)
    }
}

impl WalletKeyStore for VaultKeys {
    fn load(&self, address: AccountAddress) -> KeyFuture<'_, WalletKey> {
        Box::pin(self.read(address))
    }

    fn store<'a>(&'a self, key: &'a WalletKey) -> KeyFuture<'a, ()> {
        Box::pin(self.write(key))
    }
}

fn entry_name(address: AccountAddress) -> Result<EntryName, SignerError> {
    format!("wallet {address}").parse().map_err(|_| SignerError::Key("it has no name".to_owned()))
}

fn actor(purpose: &str) -> Actor {
    Actor { purpose: purpose.to_owned(), ..Actor::command(ACTOR) }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn convert_error(error: KeyStoreError) -> SignerError {
    SignerError::Key(error.to_string())
}
