//! `lango secrets`, `lango keys`, `lango vault` and `lango audit`.

use std::os::unix::fs::MetadataExt as _;

use super::{CANARY, files_with};
use crate::fixture::Lango;
use crate::invocation::CommandOutput;

async fn run(lango: &Lango, arguments: &[&str]) -> CommandOutput {
    lango.bare(arguments).run().await
}

async fn store(lango: &Lango, name: &str, value: &str) {
    let stored = lango.bare(&["secrets", "set", name]).input(format!("{value}\n")).run().await;
    assert_eq!(stored.code, 0, "{stored:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_stored_listed_and_deleted_without_any_configuration() {
    let lango = Lango::silent().await;
    let empty = run(&lango, &["secrets", "list"]).await;
    assert!(empty.stdout.contains("lango secrets set NAME"), "{empty:?}");
    store(&lango, "github-token", CANARY).await;
    let key_file = lango.home().join("vault.key");
    assert_eq!(std::fs::metadata(&key_file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(lango.database_file()).unwrap().mode() & 0o777, 0o600);
    let listed = run(&lango, &["secrets", "list"]).await;
    assert!(
        listed.stdout.contains("github-token") && !listed.stdout.contains("canary"),
        "{listed:?}"
    );
    let status = run(&lango, &["vault", "status"]).await;
    assert!(status.stdout.contains("vault.key unlocks the vault"), "{status:?}");
    assert!(status.stdout.contains("lango vault passphrase"), "{status:?}");
    assert!(status.stdout.contains("1 secret and 0 keys"), "{status:?}");
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
    let deleted = run(&lango, &["secrets", "delete", "github-token"]).await;
    assert_eq!(deleted.code, 2, "without a terminal it wants --yes: {deleted:?}");
    let deleted = run(&lango, &["secrets", "delete", "github-token", "--yes"]).await;
    assert_eq!(deleted.code, 0, "{deleted:?}");
    let again = run(&lango, &["secrets", "delete", "github-token", "--yes"]).await;
    assert!(again.stderr.contains("there is no secret named github-token"), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_is_never_an_argument_and_never_shown_while_it_is_typed() {
    let lango = Lango::silent().await;
    let argument = run(&lango, &["secrets", "set", "github-token", CANARY]).await;
    assert_eq!(argument.code, 2, "{argument:?}");
    let mut session = lango.at_terminal("secrets set github-token").start_typing();
    session.wait_for("(not shown): ").await;
    session.paste(CANARY).await;
    session.wait_for("Stored github-token.").await;
    let finished = session.finish().await;
    assert_eq!(finished.code, 0, "{finished:?}");
    assert!(!finished.stdout.contains("canary"), "{finished:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passphrase_locks_the_vault_until_it_is_typed() {
    let lango = Lango::silent().await;
    store(&lango, "github-token", CANARY).await;
    let mut session = lango.at_terminal("vault passphrase").start_typing();
    for prompt in ["New passphrase: ", "The same again: "] {
        session.wait_for(prompt).await;
        session.paste("correct horse").await;
    }
    let finished = session.finish().await;
    assert_eq!(finished.code, 0, "{finished:?}");
    assert!(!finished.stdout.contains("correct"), "{finished:?}");
    assert!(!lango.home().join("vault.key").exists());
    let locked = lango.bare(&["secrets", "set", "other"]).input("some value here\n").run().await;
    assert_eq!(locked.code, 2, "{locked:?}");
    assert!(locked.stderr.contains("lango vault unlock"), "{locked:?}");
    // Names can be listed all the same.
    let listed = run(&lango, &["secrets", "list"]).await;
    assert!(listed.stdout.contains("github-token"), "{listed:?}");
    let mut session = lango.at_terminal("vault unlock --for 5").start_typing();
    session.wait_for("Passphrase of the vault: ").await;
    session.paste("correct horse").await;
    assert_eq!(session.finish().await.code, 0);
    store(&lango, "other", "some value here").await;
    assert_eq!(run(&lango, &["vault", "lock"]).await.code, 0);
    let status = run(&lango, &["vault", "status", "--json"]).await;
    assert!(status.stdout.contains("\"unlocked\": false"), "{status:?}");
    // A server is started with it.
    let headless = lango
        .bare(&["secrets", "set", "third"])
        .set("LANGO_VAULT_PASSPHRASE", "correct horse")
        .input("some value here\n");
    assert_eq!(headless.run().await.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_created_and_what_was_done_is_recorded() {
    let lango = Lango::silent().await;
    let created = run(&lango, &["keys", "create", "release-2026"]).await;
    assert!(created.stdout.contains("ed25519:"), "{created:?}");
    let again = run(&lango, &["keys", "create", "release-2026"]).await;
    assert_eq!(again.code, 2, "{again:?}");
    store(&lango, "github-token", CANARY).await;
    assert_eq!(run(&lango, &["vault", "rotate"]).await.code, 0);
    let audit = run(&lango, &["audit"]).await;
    for word in ["created", "stored", "rotated", "release-2026", "github-token"] {
        assert!(audit.stdout.contains(word), "{word}: {audit:?}");
    }
    let verified = run(&lango, &["audit", "--verify"]).await;
    assert!(verified.code == 0 && verified.stdout.contains("4 records fit"), "{verified:?}");
}
