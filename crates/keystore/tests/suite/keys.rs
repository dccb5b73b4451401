//! The master key: locked, unlocked, replaced.

use std::time::Duration;

use lango_keystore::{KeyStore, KeyStoreError, KeyStoreSettings, Protection};
use lango_store::testing::open;
use lango_store::{Database, DatabaseLocation, Statement};

use crate::fixture::{Vault, actor, get, put, secret};

const PASSPHRASE: &str = "correct horse battery";

async fn lock_with_passphrase(store: &KeyStore) {
    store.set_passphrase(None, &secret(PASSPHRASE), &actor()).await.unwrap();
    store.lock(&actor()).await.unwrap();
}

pub(crate) async fn a_passphrase_locks_and_unlocks_the_vault_for_other_processes_too(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    assert_eq!(store.status().await.unwrap().protection, Protection::KeyFile);
    assert!(matches!(store.lock(&actor()).await, Err(KeyStoreError::NoPassphrase)));
    lock_with_passphrase(&store).await;
    assert!(!store.key_file().exists(), "it would open the vault without the passphrase");
    let other = vault.process().await;
    for process in [&store, &other] {
        assert!(matches!(get(process, "github").await, Err(KeyStoreError::Locked)));
        let status = process.status().await.unwrap();
        assert_eq!((status.protection, status.unlocked), (Protection::Passphrase, false));
        assert_eq!(status.secrets, 1);
    }
    store.unlock(&secret(PASSPHRASE), None, &actor()).await.unwrap();
    assert_eq!(get(&store, "github").await.unwrap(), "value");
    assert_eq!(get(&other, "github").await.unwrap(), "value");
    // Locking in one process locks the others.
    vault.process().await.lock(&actor()).await.unwrap();
    for process in [&store, &other] {
        assert!(matches!(get(process, "github").await, Err(KeyStoreError::Locked)));
    }
    // A time that has passed locks it as well.
    store.unlock(&secret(PASSPHRASE), Some(Duration::ZERO), &actor()).await.unwrap();
    assert!(matches!(get(&store, "github").await, Err(KeyStoreError::Locked)));
    assert!(matches!(get(&vault.process().await, "github").await, Err(KeyStoreError::Locked)));
}

pub(crate) async fn wrong_passphrases_make_the_next_guess_wait_in_every_process(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    lock_with_passphrase(&store).await;
    let mut wrong = 0;
    let waits = loop {
        let process = vault.process().await;
        match process.unlock(&secret("a wrong guess"), None, &actor()).await.unwrap_err() {
            KeyStoreError::WrongPassphrase => wrong += 1,
            KeyStoreError::Backoff { seconds } => break seconds,
            other => panic!("{other}"),
        }
        assert!(wrong < 10, "guesses are never slowed down");
    };
    assert!((3..=5).contains(&wrong) && waits >= 1, "{wrong} {waits}");
    let right = vault.process().await.unlock(&secret(PASSPHRASE), None, &actor()).await;
    assert!(matches!(right, Err(KeyStoreError::Backoff { .. })), "the right one waits too");
}

pub(crate) async fn a_passphrase_is_changed_while_another_process_works(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location);
    let (store, worker) = (vault.process().await, vault.process().await);
    put(&store, "github", "value").await;
    lock_with_passphrase(&store).await;
    worker.unlock(&secret(PASSPHRASE), None, &actor()).await.unwrap();
    let new = secret("another long passphrase");
    let denied = store.set_passphrase(None, &new, &actor()).await;
    assert!(matches!(denied, Err(KeyStoreError::PassphraseNeeded)));
    let short = store.set_passphrase(Some(&secret(PASSPHRASE)), &secret("short"), &actor()).await;
    assert!(matches!(short, Err(KeyStoreError::ShortPassphrase)));
    store.set_passphrase(Some(&secret(PASSPHRASE)), &new, &actor()).await.unwrap();
    assert_eq!(get(&worker, "github").await.unwrap(), "value", "it goes on");
    store.lock(&actor()).await.unwrap();
    let old = store.unlock(&secret(PASSPHRASE), None, &actor()).await;
    assert!(matches!(old, Err(KeyStoreError::WrongPassphrase)));
    store.unlock(&new, None, &actor()).await.unwrap();
    store.use_key_file(Some(&new), &actor()).await.unwrap();
    assert_eq!(get(&vault.process().await, "github").await.unwrap(), "value");
}

pub(crate) async fn the_master_key_is_replaced_while_another_process_works(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location);
    let (store, worker) = (vault.process().await, vault.process().await);
    put(&store, "github", "value").await;
    assert_eq!(get(&worker, "github").await.unwrap(), "value");
    assert_eq!(store.rotate(None, false, &actor()).await.unwrap(), 2);
    assert_eq!(get(&worker, "github").await.unwrap(), "value");
    put(&worker, "github", "newer").await;
    assert_eq!(get(&store, "github").await.unwrap(), "newer");
    // With a passphrase, an unlocked process follows to the new key, unless it must not.
    lock_with_passphrase(&store).await;
    worker.unlock(&secret(PASSPHRASE), None, &actor()).await.unwrap();
    store.rotate(Some(&secret(PASSPHRASE)), false, &actor()).await.unwrap();
    store.rotate(Some(&secret(PASSPHRASE)), false, &actor()).await.unwrap();
    assert_eq!(get(&worker, "github").await.unwrap(), "newer");
    store.rotate(Some(&secret(PASSPHRASE)), true, &actor()).await.unwrap();
    assert!(matches!(get(&worker, "github").await, Err(KeyStoreError::Locked)));
    worker.unlock(&secret(PASSPHRASE), None, &actor()).await.unwrap();
    assert_eq!(get(&worker, "github").await.unwrap(), "newer");
}

pub(crate) async fn of_two_processes_that_replace_the_key_at_once_none_loses_a_value(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    for number in 0..20 {
        put(&store, &format!("s{number}"), &format!("value {number}")).await;
    }
    for round in 0..5 {
        let (one, other) = (vault.process().await, vault.process().await);
        let writer = vault.process().await;
        let write = async { put(&writer, "s0", &format!("round {round}")).await };
        let actor = actor();
        let (first, second, ()) =
            tokio::join!(one.rotate(None, false, &actor), other.rotate(None, false, &actor), write);
        let done = [&first, &second].into_iter().filter(|result| result.is_ok()).count();
        for result in [first, second] {
            assert!(matches!(result, Ok(_) | Err(KeyStoreError::Changed)), "{result:?}");
        }
        for process in [&one, &other, &writer, &vault.process().await] {
            assert_eq!(get(process, "s0").await.unwrap(), format!("round {round}"), "{done}");
            for number in 1..20 {
                let value = get(process, &format!("s{number}")).await.unwrap();
                assert_eq!(value, format!("value {number}"));
            }
        }
    }
}

pub(crate) async fn a_lost_and_a_foreign_key_file_are_named(location: DatabaseLocation) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    let file = store.key_file().to_owned();
    let kept = vault.directory.path().join("kept");
    std::fs::rename(&file, &kept).unwrap();
    let error = get(&vault.process().await, "github").await.unwrap_err();
    assert!(matches!(error, KeyStoreError::MissingKeyFile(_)), "{error}");
    assert!(error.to_string().contains("lango vault import"), "{error}");
    assert!(!file.exists(), "no new key takes the place of a lost one");
    let text = std::fs::read_to_string(&kept).unwrap();
    let (header, _) = text.split_once(':').unwrap();
    std::fs::copy(&kept, &file).unwrap();
    std::fs::write(&file, format!("{header}:{}\n", "ab".repeat(32))).unwrap();
    let error = get(&vault.process().await, "github").await.unwrap_err();
    assert!(matches!(error, KeyStoreError::OtherKeyFile(_)), "{error}");
    std::fs::rename(&kept, &file).unwrap();
    assert_eq!(get(&vault.process().await, "github").await.unwrap(), "value");
}

pub(crate) async fn a_vault_whose_key_is_lost_starts_anew_from_an_export(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    let passphrase = secret("a passphrase for the file");
    let sealed = store.export(&passphrase, &actor()).await.unwrap();
    put(&store, "later", "in no export").await;
    let opens = store.start_anew(sealed.clone(), &passphrase, &actor()).await;
    assert!(matches!(opens, Err(KeyStoreError::NotLost)), "{opens:?}");
    let kept = vault.directory.path().join("kept");
    std::fs::rename(store.key_file(), &kept).unwrap();
    let anew = vault.process().await;
    let import = anew.import(sealed.clone(), &passphrase, false, &actor()).await.unwrap();
    assert_eq!((import.stored, import.kept), (0, 1), "what is there is not replaced");
    let wrong = anew.start_anew(sealed.clone(), &secret("another one here"), &actor()).await;
    assert!(matches!(wrong, Err(KeyStoreError::WrongExport)), "{wrong:?}");
    // Nothing was lost so far.
    std::fs::rename(&kept, store.key_file()).unwrap();
    assert_eq!(get(&vault.process().await, "later").await.unwrap(), "in no export");
    std::fs::remove_file(store.key_file()).unwrap();
    let report = vault.process().await.start_anew(sealed, &passphrase, &actor()).await.unwrap();
    assert_eq!(report.stored, 1);
    let process = vault.process().await;
    assert_eq!(get(&process, "github").await.unwrap(), "value");
    assert!(matches!(get(&process, "later").await, Err(KeyStoreError::NotFound { .. })));
    process.rotate(None, false, &actor()).await.unwrap();
    assert_eq!(process.verify_audit().await.unwrap().problem, None);
}

pub(crate) async fn guesses_that_are_made_at_once_wait_for_each_other(location: DatabaseLocation) {
    const GUESS_COUNT: usize = 24;
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    lock_with_passphrase(&store).await;
    let mut processes = Vec::new();
    for _ in 0..4 {
        processes.push(vault.process().await);
    }
    let began = std::time::Instant::now();
    let mut guesses = Vec::new();
    for number in 0..GUESS_COUNT {
        let process = processes[number % processes.len()].clone();
        let guess = secret(&format!("a wrong guess {number}"));
        guesses.push(tokio::spawn(async move { process.unlock(&guess, None, &actor()).await }));
    }
    let mut wrong = 0;
    for guess in guesses {
        match guess.await.unwrap().unwrap_err() {
            KeyStoreError::WrongPassphrase => wrong += 1,
            KeyStoreError::Backoff { .. } | KeyStoreError::Changed => {}
            other => panic!("{other}"),
        }
    }
    // Four are free of a wait. The next one is two seconds later, the one after that four more.
    let waited = began.elapsed().as_secs();
    let allowed =
        4 + usize::from(waited >= 2) + usize::from(waited >= 6) + usize::from(waited >= 14);
    assert!((1..=allowed).contains(&wrong), "{wrong} guesses in {waited} s");
}

/// Opens the vault as a process that was started with a passphrase.
async fn process_with(vault: &Vault, passphrase: &str) -> KeyStore {
    let settings = KeyStoreSettings { passphrase: Some(secret(passphrase)), ..vault.settings() };
    KeyStore::open(open(&vault.location).await, settings).await.unwrap()
}

pub(crate) async fn a_passphrase_of_the_environment_is_tried_once(location: DatabaseLocation) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    lock_with_passphrase(&store).await;
    let server = process_with(&vault, PASSPHRASE).await;
    assert_eq!(get(&server, "github").await.unwrap(), "value");
    let stale = process_with(&vault, "the passphrase of last year").await;
    for _ in 0..8 {
        let error = get(&stale, "github").await.unwrap_err();
        assert!(matches!(error, KeyStoreError::OtherVariable), "{error}");
    }
    let status = stale.status().await.unwrap();
    assert_eq!((status.unlocked, status.protection), (false, Protection::Passphrase));
    let records = store.list_audit(100).await.unwrap();
    let failed = records.iter().filter(|record| record.action == "unlock_failed").count();
    assert_eq!(failed, 1, "{records:?}");
    // The user does not have to wait for it, and helps the process by unlocking.
    store.unlock(&secret(PASSPHRASE), None, &actor()).await.unwrap();
    assert_eq!(get(&stale, "github").await.unwrap(), "value");
    // A passphrase that is set later may be the one.
    store.lock(&actor()).await.unwrap();
    let new = secret("the passphrase of this year");
    let early = process_with(&vault, "the passphrase of this year").await;
    let error = get(&early, "github").await.unwrap_err();
    assert!(matches!(error, KeyStoreError::OtherVariable), "{error}");
    store.set_passphrase(Some(&secret(PASSPHRASE)), &new, &actor()).await.unwrap();
    assert_eq!(get(&early, "github").await.unwrap(), "value");
}

pub(crate) async fn a_locked_vault_stays_locked_for_a_process_with_the_passphrase(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    lock_with_passphrase(&store).await;
    let server = process_with(&vault, PASSPHRASE).await;
    assert_eq!(get(&server, "github").await.unwrap(), "value");
    store.lock(&actor()).await.unwrap();
    assert!(matches!(get(&server, "github").await, Err(KeyStoreError::Locked)));
    store.unlock(&secret(PASSPHRASE), None, &actor()).await.unwrap();
    assert_eq!(get(&server, "github").await.unwrap(), "value", "a person unlocks it again");
    store.lock(&actor()).await.unwrap();
    assert!(matches!(get(&server, "github").await, Err(KeyStoreError::Locked)));
    let restarted = process_with(&vault, PASSPHRASE).await;
    assert_eq!(get(&restarted, "github").await.unwrap(), "value", "so does a new start");
}

pub(crate) async fn a_key_file_that_is_used_again_is_not_removed_by_another_process(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    let passphrase = secret(PASSPHRASE);
    for round in 0..12 {
        let (one, other) = (vault.process().await, vault.process().await);
        let actor = actor();
        let set = one.set_passphrase(None, &passphrase, &actor);
        // As soon as the passphrase is there, another process goes back to the key file.
        let back = async {
            while other.protection().await.unwrap() != Protection::Passphrase {
                tokio::task::yield_now().await;
            }
            other.use_key_file(Some(&passphrase), &actor).await
        };
        let (set, back) = tokio::join!(set, back);
        set.unwrap();
        back.unwrap();
        let value = get(&vault.process().await, "github").await;
        assert_eq!(value.unwrap(), "value", "round {round}: the key is lost");
    }
}

pub(crate) async fn only_a_lost_key_lets_a_vault_start_anew(location: DatabaseLocation) {
    use std::os::unix::fs::PermissionsExt as _;
    let vault = Vault::new(location.clone());
    let store = vault.process().await;
    let database = open(&location).await;
    put(&store, "github", "value").await;
    let passphrase = secret("a passphrase for the file");
    let sealed = store.export(&passphrase, &actor()).await.unwrap();
    put(&store, "later", "in no export").await;
    let open_to = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(store.key_file(), mode).unwrap();
    };
    open_to(0o644);
    let refused = vault.process().await.start_anew(sealed.clone(), &passphrase, &actor()).await;
    assert!(matches!(refused, Err(KeyStoreError::KeyFile { .. })), "{refused:?}");
    open_to(0o600);
    assert_eq!(get(&vault.process().await, "later").await.unwrap(), "in no export");
    // A process with the right passphrase that has to wait for a guess of another has lost nothing.
    lock_with_passphrase(&store).await;
    let guessed = store.unlock(&secret("a wrong guess"), None, &actor()).await;
    assert!(matches!(guessed, Err(KeyStoreError::WrongPassphrase)), "{guessed:?}");
    // As after many of them, so that the wait does not end while the test runs.
    change(&database, "UPDATE vault_state SET failures = 12").await;
    let waiting = process_with(&vault, PASSPHRASE).await;
    let refused = waiting.start_anew(sealed, &passphrase, &actor()).await;
    assert!(matches!(refused, Err(KeyStoreError::Backoff { .. })), "{refused:?}");
    let kept = store.list(lango_keystore::EntryKind::Secret).await.unwrap();
    assert_eq!(kept.len(), 2, "{kept:?}");
}

async fn change(database: &Database, sql: &'static str) {
    let changed = database.write(Statement::new(sql).into()).await.unwrap();
    assert!(changed[0] > 0, "{sql}");
}

pub(crate) async fn a_changed_a_cut_and_a_swapped_wrap_are_found(location: DatabaseLocation) {
    let vault = Vault::new(location.clone());
    let store = vault.process().await;
    put(&store, "github", "value").await;
    let directory = tempfile::tempdir().unwrap();
    let foreign = Vault::new(DatabaseLocation::Sqlite(directory.path().join("other.db")));
    put(&foreign.process().await, "github", "of another vault").await;
    let database = open(&location).await;
    let wraps = async |database: &Database| {
        let sql = "SELECT wrapped FROM vault_wraps WHERE kind = 'key_file'";
        database.query(Statement::new(sql)).await.unwrap()[0].blob(0).unwrap().to_vec()
    };
    let original = wraps(&database).await;
    let mut flipped = original.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let swapped = wraps(&open(&foreign.location).await).await;
    let restore = async |wrapped: &[u8]| {
        let put_back = "UPDATE vault_wraps SET wrapped = $1 WHERE kind = 'key_file'";
        let put_back = Statement::new(put_back).bind(wrapped.to_vec()).expect_rows(1);
        database.write(put_back.into()).await.unwrap();
    };
    for tampered in [&flipped[..], &original[..20], &[][..], &swapped[..]] {
        restore(tampered).await;
        let error = get(&vault.process().await, "github").await.unwrap_err();
        assert!(matches!(error, KeyStoreError::OtherKeyFile(_)), "{error}");
        let error = put_new(&vault.process().await).await.unwrap_err();
        assert!(matches!(error, KeyStoreError::OtherKeyFile(_)), "nothing is stored: {error}");
        restore(&original).await;
        assert_eq!(get(&vault.process().await, "github").await.unwrap(), "value");
    }
    // The number of the key, and the vault that it is of, belong to what is encrypted.
    for (sql, undo) in [
        (
            "UPDATE vault_wraps SET generation = generation + 1",
            "UPDATE vault_wraps SET generation = generation - 1",
        ),
        (
            "UPDATE vault_state SET vault = vault || 'x'",
            "UPDATE vault_state SET vault = substr(vault, 1, length(vault) - 1)",
        ),
    ] {
        change(&database, sql).await;
        let error = get(&vault.process().await, "github").await.unwrap_err();
        assert!(matches!(error, KeyStoreError::OtherKeyFile(_)), "{sql}: {error}");
        change(&database, undo).await;
        assert_eq!(get(&vault.process().await, "github").await.unwrap(), "value");
    }
}

async fn put_new(store: &KeyStore) -> Result<(), KeyStoreError> {
    let (kind, name) = (lango_keystore::EntryKind::Secret, crate::fixture::name("new"));
    let attributes = lango_keystore::EntryAttributes::default();
    store.put(kind, &name, &secret("new value"), attributes, &actor()).await.map(drop)
}
