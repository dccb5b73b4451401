//! Exports, backups and changes of what protects the vault, on the command line.

use std::os::unix::fs::MetadataExt as _;

use super::{CANARY, files_with, lock_with_passphrase, store};
use crate::fixture::{Lango, text_of};
use crate::invocation::CommandOutput;

async fn run(lango: &Lango, arguments: &[&str]) -> CommandOutput {
    lango.bare(arguments).run().await
}

/// Answers these questions with the passphrase.
async fn type_passphrases(lango: &Lango, line: &str, questions: &[&str]) -> CommandOutput {
    let mut session = lango.at_terminal(line).start_typing();
    for question in questions {
        session.wait_for(question).await;
        session.paste("correct horse").await;
    }
    session.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_private_and_imported_into_another_home() {
    let lango = Lango::silent().await;
    store(&lango, "github-token", CANARY).await;
    assert_eq!(run(&lango, &["keys", "create", "release-2026"]).await.code, 0);
    let file = lango.path("vault.age");
    let export = format!("vault export {}", file.display());
    let questions = ["Passphrase for the file: ", "The same again: "];
    let exported = type_passphrases(&lango, &export, &questions).await;
    assert!(exported.code == 0 && exported.stdout.contains("Wrote"), "{exported:?}");
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1"));
    assert!(!bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes()));
    // A file that is there is never written over.
    let again = type_passphrases(&lango, &export, &questions).await;
    assert_ne!(again.code, 0, "{again:?}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);

    let other = Lango::silent().await;
    store(&other, "own", "a value of its own").await;
    let import = format!("vault import {}", file.display());
    let imported = type_passphrases(&other, &import, &["Passphrase of the file: "]).await;
    assert!(imported.stdout.contains("Stored 2 entries"), "{imported:?}");
    let again = type_passphrases(&other, &import, &["Passphrase of the file: "]).await;
    assert!(again.stdout.contains("2 were there already"), "{again:?}");
    let status = run(&other, &["vault", "status"]).await;
    assert!(status.stdout.contains("2 secrets and 1 key"), "{status:?}");
    assert_eq!(run(&other, &["vault", "rotate"]).await.code, 0, "every value opens");
    assert_eq!(files_with(&other.home(), CANARY), Vec::<String>::new());
    // The key is the same one.
    let listed = run(&lango, &["keys", "list", "--json"]).await;
    let imported = run(&other, &["keys", "list", "--json"]).await;
    let public = |output: &CommandOutput| {
        let keys: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        keys[0]["attributes"].clone()
    };
    assert_eq!(public(&listed), public(&imported));
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_listed_with_their_kind_and_without_their_values() {
    let lango = Lango::silent().await;
    let none = run(&lango, &["keys", "list"]).await;
    assert!(none.stdout.contains("lango keys create NAME"), "{none:?}");
    for (name, kind) in [("release", "ed25519"), ("backup", "xchacha20"), ("friends", "age")] {
        let created = run(&lango, &["keys", "create", name, "--kind", kind]).await;
        assert_eq!(created.code, 0, "{created:?}");
    }
    store(&lango, "github-token", CANARY).await;
    let listed = run(&lango, &["keys", "list"]).await;
    for (name, kind) in [("release", "ed25519"), ("backup", "xchacha20"), ("friends", "age")] {
        let line = listed.stdout.lines().find(|line| line.contains(name));
        assert!(line.is_some_and(|line| line.contains(kind)), "{name}: {listed:?}");
    }
    assert!(listed.stdout.contains("age1"), "others need the public part: {listed:?}");
    assert!(!listed.stdout.contains("github-token") && !listed.stdout.contains("AGE-SECRET"));
    let listed = run(&lango, &["keys", "list", "--json"]).await;
    let keys: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(keys.as_array().map(Vec::len), Some(3), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passphrase_is_removed_by_who_knows_it() {
    let lango = Lango::silent().await;
    store(&lango, "github-token", CANARY).await;
    let none = run(&lango, &["vault", "passphrase", "--remove"]).await;
    assert!(none.code == 2 && none.stderr.contains("has no passphrase"), "{none:?}");
    lock_with_passphrase(&lango).await;
    let mut session = lango.at_terminal("vault passphrase --remove").start_typing();
    session.wait_for("Present passphrase: ").await;
    session.paste("a wrong horse").await;
    let wrong = session.finish().await;
    assert!(wrong.code == 2 && wrong.stdout.contains("passphrase is wrong"), "{wrong:?}");
    let question = ["Present passphrase: "];
    let removed = type_passphrases(&lango, "vault passphrase --remove", &question).await;
    assert!(removed.code == 0 && removed.stdout.contains("vault.key"), "{removed:?}");
    let key_file = lango.home().join("vault.key");
    assert_eq!(std::fs::metadata(&key_file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(run(&lango, &["vault", "rotate"]).await.code, 0, "no passphrase is asked for");
    let locked = run(&lango, &["vault", "lock"]).await;
    assert!(locked.code == 2 && locked.stderr.contains("has no passphrase"), "{locked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_of_a_backup_opens_with_the_key_file_of_that_time() {
    let lango = Lango::silent().await;
    store(&lango, "github-token", CANARY).await;
    let backup = lango.path("lango.backup");
    let kept = run(&lango, &["backup", "create", &text_of(&backup)]).await;
    assert_eq!(kept.code, 0, "{kept:?}");
    let bytes = std::fs::read(&backup).unwrap();
    assert!(!bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes()));
    assert_eq!(run(&lango, &["secrets", "delete", "github-token", "--yes"]).await.code, 0);
    store(&lango, "later", "a value of after the backup").await;
    let restored = run(&lango, &["backup", "restore", &text_of(&backup), "--force"]).await;
    assert_eq!(restored.code, 0, "{restored:?}");
    let listed = run(&lango, &["secrets", "list"]).await;
    assert!(listed.stdout.contains("github-token"), "{listed:?}");
    assert!(!listed.stdout.contains("later"), "{listed:?}");
    // A rotation opens every value.
    assert_eq!(run(&lango, &["vault", "rotate"]).await.code, 0);
    let verified = run(&lango, &["audit", "--verify"]).await;
    assert_eq!(verified.code, 0, "{verified:?}");
}
