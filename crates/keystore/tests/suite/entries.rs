//! Values: stored, used, damaged.

use std::os::unix::fs::MetadataExt as _;

use lango_keystore::{EntryKind, KeyStoreError};
use lango_store::testing::open;
use lango_store::{Database, DatabaseLocation, Statement};

use crate::fixture::{Vault, actor, get, name, put, secret};

const KIND: EntryKind = EntryKind::Secret;

pub(crate) async fn a_value_is_stored_used_replaced_listed_and_deleted(location: DatabaseLocation) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    assert!(matches!(get(&store, "github").await, Err(KeyStoreError::NotFound { .. })));
    put(&store, "github", "first value").await;
    put(&store, "smtp/newsletter", "another one").await;
    assert_eq!(get(&store, "github").await.unwrap(), "first value");
    put(&store, "github", "second value").await;
    let other = vault.process().await;
    assert_eq!(get(&other, "github").await.unwrap(), "second value");
    let listed = other.list(KIND).await.unwrap();
    let names: Vec<&str> = listed.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["github", "smtp/newsletter"]);
    assert_eq!((listed[0].version, listed[0].uses), (2, 2));
    assert!(listed[0].used_at.is_some() && listed[1].used_at.is_none());
    assert!(store.delete(KIND, &name("github"), &actor()).await.unwrap());
    assert!(!store.delete(KIND, &name("github"), &actor()).await.unwrap());
    assert!(matches!(get(&other, "github").await, Err(KeyStoreError::NotFound { .. })));
}

pub(crate) async fn a_first_value_creates_a_key_file_that_others_cannot_read(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    assert!(!store.key_file().exists());
    put(&store, "github", "some value").await;
    assert_eq!(std::fs::metadata(store.key_file()).unwrap().mode() & 0o777, 0o600);
    let key = std::fs::read(store.key_file()).unwrap();
    std::fs::set_permissions(store.key_file(), std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .unwrap();
    let error = get(&vault.process().await, "github").await.unwrap_err();
    assert!(error.to_string().contains("chmod 600"), "{error}");
    std::fs::remove_file(store.key_file()).unwrap();
    std::fs::write(store.key_file(), &key[..40]).unwrap();
    std::fs::set_permissions(store.key_file(), std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .unwrap();
    let error = get(&vault.process().await, "github").await.unwrap_err();
    assert!(error.to_string().contains("cut short"), "{error}");
}

async fn change(database: &Database, sql: &'static str) {
    let changed = database.write(Statement::new(sql).into()).await.unwrap();
    assert!(changed[0] > 0, "{sql}");
}

pub(crate) async fn a_changed_a_cut_and_a_swapped_row_are_found(location: DatabaseLocation) {
    let vault = Vault::new(location.clone());
    let store = vault.process().await;
    let database = open(&location).await;
    for sql in [
        "UPDATE vault_entries SET value = (SELECT value FROM vault_entries WHERE name = 'b') \
         WHERE name = 'a'",
        "UPDATE vault_entries SET data_key = (SELECT data_key FROM vault_entries WHERE name = 'b'), \
         value = (SELECT value FROM vault_entries WHERE name = 'b') WHERE name = 'a'",
        "UPDATE vault_entries SET version = version + 1 WHERE name = 'a'",
        "UPDATE vault_entries SET attributes = '{\"origin\":\"https://evil.example\"}' \
         WHERE name = 'a'",
        "UPDATE vault_entries SET value = substr(value, 1, 30) WHERE name = 'a'",
        "UPDATE vault_entries SET value = substr(value, 1, 0) WHERE name = 'a'",
    ] {
        put(&store, "a", "value of a").await;
        put(&store, "b", "value of b").await;
        assert_eq!(get(&store, "a").await.unwrap(), "value of a");
        change(&database, sql).await;
        let error = get(&store, "a").await.unwrap_err();
        assert!(matches!(error, KeyStoreError::Damaged { .. }), "{sql}: {error}");
        assert_eq!(get(&store, "b").await.unwrap(), "value of b");
        store.delete(KIND, &name("a"), &actor()).await.unwrap();
    }
}

pub(crate) async fn no_value_is_readable_in_the_database(location: DatabaseLocation) {
    let vault = Vault::new(location.clone());
    let store = vault.process().await;
    put(&store, "github", "canary-5f3a9c-value").await;
    get(&store, "github").await.unwrap();
    let rows = open(&location)
        .await
        .query(Statement::new("SELECT attributes, data_key, value FROM vault_entries"))
        .await
        .unwrap();
    assert_eq!(rows.len(), 1);
    assert!(!format!("{rows:?}").contains("canary"));
    assert!(!rows[0].blob(2).unwrap().windows(6).any(|bytes| bytes == b"canary"));
    if let DatabaseLocation::Sqlite(path) = location {
        for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            assert!(!bytes.windows(6).any(|window| window == b"canary"));
        }
    }
}

pub(crate) async fn an_export_is_imported_into_another_vault(location: DatabaseLocation) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "canary-5f3a9c-value").await;
    put(&store, "other", "another value").await;
    let passphrase = secret("a passphrase for the file");
    let sealed = store.export(&passphrase, &actor()).await.unwrap();
    assert!(sealed.starts_with(b"age-encryption.org/v1"));
    assert!(!sealed.windows(6).any(|bytes| bytes == b"canary"));
    let directory = tempfile::tempdir().unwrap();
    let new = Vault::new(DatabaseLocation::Sqlite(directory.path().join("new.db")));
    let new = new.process().await;
    put(&new, "other", "kept as it is").await;
    let wrong = new.import(sealed.clone(), &secret("another one here"), false, &actor()).await;
    assert!(matches!(wrong, Err(KeyStoreError::WrongExport)), "{wrong:?}");
    let cut = sealed[..sealed.len() - 5].to_vec();
    let cut = new.import(cut, &passphrase, false, &actor()).await;
    assert!(matches!(cut, Err(KeyStoreError::Export)), "{cut:?}");
    let report = new.import(sealed, &passphrase, false, &actor()).await.unwrap();
    assert_eq!((report.stored, report.kept), (1, 1));
    assert_eq!(get(&new, "github").await.unwrap(), "canary-5f3a9c-value");
    assert_eq!(get(&new, "other").await.unwrap(), "kept as it is");
}
