//! Whole turns with the vault.

use lango_protocol::CallStatus;

use super::{CANARY, TO_VAULT, files_with, store};
use crate::fixture::{Lango, TO_OPERATOR, calling};

/// Fails if the value is anywhere but in the vault.
fn assert_not_leaked(lango: &Lango, output: &str) {
    assert!(!output.contains(CANARY), "{output}");
    for request in lango.received() {
        assert!(!format!("{request:?}").contains(CANARY), "{request:?}");
    }
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_for_the_value_and_no_model_sees_it() {
    let set = calling("vault", &[("secrets_set", "{ name = \"github-token\" }")]);
    let lango = Lango::playing(&[TO_VAULT, &set]).await;
    let mut session = lango.at_terminal("run 'store my GitHub token'").start_typing();
    session.wait_for("Store a secret named github-token").await;
    session.wait_for("Allow this once?").await;
    session.answer("y\n").await;
    session.wait_for("Value of the secret github-token (not shown").await;
    session.paste(CANARY).await;
    let finished = session.finish().await;
    assert_eq!(finished.code, 0, "{finished:?}");
    assert_not_leaked(&lango, &finished.stdout);
    assert_eq!(lango.requests_of("vault").len(), 2);
    let listed = lango.bare(&["secrets", "list"]).run().await;
    assert!(listed.stdout.contains("github-token"), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_person_can_be_asked_the_command_is_named() {
    let set = calling("vault", &[("secrets_set", "{ name = \"github-token\" }")]);
    let lango = Lango::playing(&[TO_VAULT, &set]).await;
    let turn = lango.ask("store my GitHub token").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.results_with(CallStatus::Error), 1);
    assert!(turn.answer().contains("lango secrets set github-token"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_gets_a_secret_in_its_environment_and_the_model_its_name() {
    let handle = "{ name = \"github-token\", purpose = \"push\" }";
    let lango = Lango::silent().await;
    store(&lango, "github-token", CANARY).await;
    let get = calling("vault", &[("secrets_get", handle)]);
    let lango = lango.now_playing(&[TO_VAULT, &get]).await;
    let session = ["--session", "work", "--approve", "all"];
    let turn = lango.ask("get the token").with(&session).turn().await;
    assert_eq!(turn.results_with(CallStatus::Ok), 1, "{}", turn.answer());
    assert!(turn.answer().contains("secret-handle-"), "{}", turn.answer());
    assert_not_leaked(&lango, &format!("{:?}", turn.events));
    // A handle leads nowhere in another process, however a model came by it.
    let forged = r#"{ command = "env", secrets = { TOKEN = "secret-handle-00000000000000000000000000000000" } }"#;
    let lango =
        lango.now_playing(&[TO_OPERATOR, &calling("operator", &[("exec_shell", forged)])]).await;
    let turn = lango.ask("use it").with(&session).turn().await;
    assert_eq!(turn.results_with(CallStatus::Error), 1, "{}", turn.answer());
    assert!(turn.answer().contains("did not give it out"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_a_command_prints_reaches_neither_model_nor_journal() {
    let mut lango = Lango::silent().await;
    store(&lango, "github-token", CANARY).await;
    std::fs::write(lango.workspace().join("leak.txt"), format!("token={CANARY}\n")).unwrap();
    let commands =
        ["cat leak.txt", "base64 leak.txt", "od -An -tx1 leak.txt | tr -d ' \\n'", "rev leak.txt"];
    for command in commands {
        let arguments = format!("{{ command = {command:?} }}");
        let calls = calling("operator", &[("exec_shell", &arguments)]);
        lango = lango.now_playing(&[TO_OPERATOR, &calls]).await;
        let turn = lango.ask("show it").with(&["--approve", "all"]).turn().await;
        assert_eq!(turn.results_with(CallStatus::Ok), 1, "{command}: {}", turn.answer());
        assert!(turn.answer().contains("[secret:github-token]"), "{command}: {}", turn.answer());
        assert_not_leaked(&lango, &format!("{:?}", turn.events));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_encrypted_after_a_question_and_no_model_sees_its_text() {
    let encrypt = calling("vault", &[("crypto_encrypt", "{ path = \"notes.txt\" }")]);
    let lango = Lango::playing(&[TO_VAULT, &encrypt]).await;
    let notes = lango.workspace().join("notes.txt");
    std::fs::write(&notes, "meet behind the library\n").unwrap();
    let mut session = lango.at_terminal("run 'encrypt notes.txt for me'").start_typing();
    session.wait_for("notes.txt").await;
    session.wait_for("Allow this once?").await;
    session.answer("y\n").await;
    let finished = session.finish().await;
    assert_eq!(finished.code, 0, "{finished:?}");
    let sealed = std::fs::read(lango.workspace().join("notes.txt.enc")).unwrap();
    assert!(!sealed.windows(7).any(|part| part == b"library"));
    for request in lango.received() {
        assert!(!request.body.contains("library"), "{}", request.body);
    }
    assert_eq!(lango.requests_of("vault").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_encrypted_and_decrypted_by_the_embedded_model() {
    let lango = Lango::silent().await;
    std::fs::write(lango.workspace().join("notes.txt"), "meet behind the library\n").unwrap();
    let ask = |text: &str| {
        lango.bare(&["run", "--output-format", "stream-json", "--approve", "all", text])
    };
    let turn = ask("encrypt notes.txt for me").turn().await;
    assert_eq!(turn.results_with(CallStatus::Ok), 1, "{}", turn.answer());
    assert!(turn.answer().contains("notes.txt.enc"), "{}", turn.answer());
    let sealed = std::fs::read(lango.workspace().join("notes.txt.enc")).unwrap();
    assert!(!sealed.windows(7).any(|part| part == b"library"));
    std::fs::remove_file(lango.workspace().join("notes.txt")).unwrap();
    let turn = ask("decrypt notes.txt.enc").turn().await;
    assert_eq!(turn.results_with(CallStatus::Ok), 1, "{}", turn.answer());
    let plain = std::fs::read_to_string(lango.workspace().join("notes.txt")).unwrap();
    assert_eq!(plain, "meet behind the library\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_model_stores_a_secret_with_a_person_at_the_terminal() {
    let lango = Lango::silent().await;
    for request in ["store a secret called github_token", "store my GitHub token"] {
        let mut session = lango.at_bare_terminal(&format!("run '{request}'")).start_typing();
        session.wait_for("Store a secret named").await;
        session.wait_for("Allow this once?").await;
        session.answer("y\n").await;
        session.wait_for("Value of the secret").await;
        session.paste(CANARY).await;
        let finished = session.finish().await;
        assert_eq!(finished.code, 0, "{finished:?}");
        assert!(finished.stdout.contains("Stored the secret"), "{request}: {finished:?}");
        assert_not_leaked(&lango, &finished.stdout);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_a_provider_is_a_secret_of_the_vault() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    store(&lango, "provider-key", CANARY).await;
    let url = lango.base_url(lango_model::Wire::OpenAi);
    let configured = format!(
        "[model]\nprovider = \"own\"\nname = \"m\"\n[providers.own]\nbaseUrl = \"{url}\"\n\
         apiKey = \"secret:provider-key\"\n"
    );
    std::fs::write(lango.config_file(), configured).unwrap();
    let turn = lango.bare(&["run", "--output-format", "stream-json", "hello"]).turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "Hello."));
    let authorized = format!("Bearer {CANARY}");
    assert!(
        lango
            .received()
            .iter()
            .all(|request| request.header("authorization") == Some(&*authorized))
    );
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
    // A key in the file is refused, with what to do.
    std::fs::write(lango.config_file(), "[providers.own]\napiKey = \"sk-1\"\n").unwrap();
    let refused = lango.bare(&["run", "hello"]).run().await;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("lango secrets set own-key"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn personal_data_is_kept_from_a_model_and_put_back_into_its_answer() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"You said: {user}\"\n"]).await;
    std::fs::write(lango.config_file(), "[privacy]\nredact = [\"email\", \"iban\"]\n").unwrap();
    let text = "mail ada@example.org about CH93 0076 2011 6238 5295 7";
    let turn = lango.ask(text).turn().await;
    let requests = format!("{:?}", lango.received());
    assert!(requests.contains("[email:") && requests.contains("[iban:"), "{requests}");
    assert!(!requests.contains("ada@example.org") && !requests.contains("6238"), "{requests}");
    assert!(turn.answer().contains(text), "{}", turn.answer());
}
