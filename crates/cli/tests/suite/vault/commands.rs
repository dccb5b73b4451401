//! `lango secrets`, `lango keys`, `lango vault` and `lango audit`.

use std::os::unix::fs::MetadataExt as _;

use super::{CANARY, files_with, store};
use crate::fixture::Lango;
use crate::invocation::CommandOutput;

async fn run(lango: &Lango, arguments: &[&str]) -> CommandOutput {
    lango.bare(arguments).run().await
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

#[tokio::test(flavor = "multi_thread")]
async fn keys_in_the_configuration_are_moved_into_the_vault() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    let url = lango.base_url(lango_model::Wire::OpenAi);
    let before = format!(
        "# my models\n[model]\nprovider = \"own\"\nname = \"m\" # the small one\n[providers.own]\n\
         baseUrl = \"{url}\"\napiKey = \"{CANARY}\" # until May\n"
    );
    let file = lango.config_file();
    let read = || std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &before).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let refused = run(&lango, &["run", "hello"]).await;
    assert!(refused.stderr.contains("lango secrets import-config"), "{refused:?}");
    let doctor = run(&lango, &["doctor"]).await;
    assert!(doctor.stdout.contains("plain text in the configuration"), "{doctor:?}");
    assert!(doctor.stdout.contains("providers.own.apiKey"), "{doctor:?}");
    assert!(doctor.stdout.contains("lango secrets import-config"), "{doctor:?}");
    let listed = run(&lango, &["secrets", "import-config", "--dry-run"]).await;
    assert!(
        listed.stdout.contains("providers.own.apiKey would become secret:own-key"),
        "{listed:?}"
    );
    assert_eq!(read(), before);
    // Another secret has the name, and an earlier try was interrupted after it had stored the value.
    store(&lango, "own-key", "the key of something else").await;
    store(&lango, "own-key-2", CANARY).await;
    let moved = run(&lango, &["secrets", "import-config"]).await;
    assert!(moved.stdout.contains("providers.own.apiKey is now secret:own-key-2"), "{moved:?}");
    assert_eq!(read(), before.replace(CANARY, "secret:own-key-2"));
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let listed = run(&lango, &["secrets", "list"]).await;
    assert_eq!(listed.stdout.matches("own-key").count(), 2, "{listed:?}");
    for shown in [&refused, &doctor, &listed, &moved] {
        assert!(!format!("{shown:?}").contains("canary"), "{shown:?}");
    }
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
    let before = lango.received();
    let authorized = format!("Bearer {CANARY}");
    assert!(before.iter().all(|one| one.header("authorization") != Some(&*authorized)));
    let turn = lango.bare(&["run", "--output-format", "stream-json", "hello"]).turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "Hello."));
    let received = lango.received().split_off(before.len());
    assert!(!received.is_empty());
    assert!(received.iter().all(|one| one.header("authorization") == Some(&*authorized)));
    let again = run(&lango, &["secrets", "import-config"]).await;
    assert!(again.stdout.contains("no keys or tokens"), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_vault_leaves_the_keys_in_the_configuration() {
    let lango = Lango::silent().await;
    let mut session = lango.at_terminal("vault passphrase").start_typing();
    for prompt in ["New passphrase: ", "The same again: "] {
        session.wait_for(prompt).await;
        session.paste("correct horse").await;
    }
    assert_eq!(session.finish().await.code, 0);
    assert_eq!(run(&lango, &["vault", "lock"]).await.code, 0);
    let before = format!("[providers.own]\napiKey = \"{CANARY}\"\n");
    std::fs::write(lango.config_file(), &before).unwrap();
    let locked = run(&lango, &["secrets", "import-config"]).await;
    assert!(locked.code == 2 && locked.stderr.contains("lango vault unlock"), "{locked:?}");
    assert_eq!(std::fs::read_to_string(lango.config_file()).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_stored_without_the_secrets_in_it() {
    let lango = Lango::silent().await;
    store(&lango, "canary", CANARY).await;
    let text = format!("# Notes about {CANARY}\n\nThe token is {CANARY}, and the pump is green.\n");
    lango.file("leak.md", &text);
    let path = lango.path("leak.md");
    let ingested = run(&lango, &["ingest", path.to_str().unwrap()]).await;
    assert_eq!(ingested.code, 0, "{ingested:?}");
    let found = run(&lango, &["documents", "search", "which colour has the pump?"]).await;
    assert!(found.stdout.contains("[secret:canary], and the pump is green"), "{found:?}");
    assert!(!format!("{found:?}").contains(CANARY), "{found:?}");
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
}
