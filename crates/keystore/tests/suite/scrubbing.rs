//! What the scrubber of a running process knows of the vault.

use lango_keystore::KeyStore;
use lango_store::DatabaseLocation;
use lango_store::testing::open;

use crate::fixture::{Vault, actor, put, secret};

const PASSPHRASE: &str = "correct horse battery";

pub(crate) async fn a_running_process_learns_what_others_store_and_unlock(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location);
    let settings = vault.settings();
    let scrubber = settings.scrubber.clone();
    let running = KeyStore::open(open(&vault.location).await, settings).await.unwrap();
    running.teach_scrubber().await.unwrap();
    let passes = async |value: &str| {
        running.refresh_scrubber().await.unwrap();
        scrubber.scrub(value) == value
    };
    // The vault itself is created by another process.
    let other = vault.process().await;
    put(&other, "first", "canary-5f3a9c-first").await;
    assert!(!passes("canary-5f3a9c-first").await);
    put(&other, "first", "canary-5f3a9c-replaced").await;
    assert!(!passes("canary-5f3a9c-replaced").await);
    other.set_passphrase(None, &secret(PASSPHRASE), &actor()).await.unwrap();
    put(&other, "second", "canary-5f3a9c-second").await;
    other.lock(&actor()).await.unwrap();
    assert!(passes("canary-5f3a9c-second").await, "a locked vault has no values to look for");
    other.unlock(&secret(PASSPHRASE), None, &actor()).await.unwrap();
    assert!(!passes("canary-5f3a9c-second").await);
    other.rotate(Some(&secret(PASSPHRASE)), false, &actor()).await.unwrap();
    put(&other, "third", "canary-5f3a9c-third").await;
    assert!(!passes("canary-5f3a9c-third").await);
}
