//! A vault in a database of its own.

use lango_keystore::{
    Actor, DerivationCost, EntryAttributes, EntryKind, EntryName, KeyStore, KeyStoreError,
    KeyStoreSettings, SecretBytes,
};
use lango_store::DatabaseLocation;
use lango_store::testing::open;
use tempfile::TempDir;

pub(crate) struct Vault {
    pub(crate) location: DatabaseLocation,
    pub(crate) directory: TempDir,
}

impl Vault {
    pub(crate) fn new(location: DatabaseLocation) -> Self {
        Self { location, directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn settings(&self) -> KeyStoreSettings {
        let directory = self.directory.path();
        KeyStoreSettings {
            derivation_cost: DerivationCost { memory_kib: 64, passes: 1 },
            ..KeyStoreSettings::new(directory.join("vault.key"), directory.join("run"))
        }
    }

    /// Opens the vault as another process would.
    pub(crate) async fn process(&self) -> KeyStore {
        KeyStore::open(open(&self.location).await, self.settings()).await.unwrap()
    }
}

pub(crate) fn name(text: &str) -> EntryName {
    text.parse().unwrap()
}

pub(crate) fn secret(text: &str) -> SecretBytes {
    SecretBytes::from(text.to_owned())
}

pub(crate) fn actor() -> Actor {
    Actor::command("test")
}

pub(crate) async fn put(store: &KeyStore, given: &str, value: &str) {
    let attributes = EntryAttributes::default();
    let kind = EntryKind::Secret;
    store.put(kind, &name(given), &secret(value), attributes, &actor()).await.unwrap();
}

pub(crate) async fn get(store: &KeyStore, given: &str) -> Result<String, KeyStoreError> {
    let value = store.open_value(EntryKind::Secret, &name(given), &actor()).await?;
    Ok(value.reveal_text().unwrap().to_owned())
}
