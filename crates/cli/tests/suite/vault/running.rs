//! What happens beside a process that runs: secrets that others store, keys that others replace, other
//! programs that look at command lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lango_protocol::CallStatus;
use rustix::process::Signal;

use super::{CANARY, files_with, lock_with_passphrase, store};
use crate::fixture::{Lango, TO_OPERATOR, calling};

fn assert_in_no_request(lango: &Lango) {
    for request in lango.received() {
        assert!(!format!("{request:?}").contains(CANARY), "{request:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_stored_while_a_turn_waits_is_not_passed_on() {
    let command = "{ command = \"cat leak.txt | tee copy.txt\" }";
    let calls = calling("operator", &[("exec_shell", command)]);
    let lango = Lango::playing(&[TO_OPERATOR, &calls]).await;
    std::fs::write(lango.workspace().join("leak.txt"), format!("token={CANARY}\n")).unwrap();
    let mut session = lango.at_terminal("run 'show it'").start_typing();
    session.wait_for("Allow this once?").await;
    // Another terminal creates the vault meanwhile.
    store(&lango, "late-token", CANARY).await;
    session.answer("y\n").await;
    let finished = session.finish().await;
    assert_eq!(finished.code, 0, "{finished:?}");
    let copied = std::fs::read_to_string(lango.workspace().join("copy.txt")).unwrap();
    assert!(copied.contains(CANARY), "the command did not run");
    assert!(finished.stdout.contains("[secret:late-token]"), "{finished:?}");
    assert!(!finished.stdout.contains(CANARY), "{finished:?}");
    assert_in_no_request(&lango);
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_the_user_types_reaches_neither_model_nor_journal() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"You said: {user}\"\n"]).await;
    store(&lango, "github-token", CANARY).await;
    let hex = lango_text::hex(CANARY);
    let turn = lango.ask(&format!("my token is {CANARY}, or {hex}")).turn().await;
    let said = "my token is [secret:github-token], or [secret:github-token]";
    assert!(turn.answer().ends_with(said), "{}", turn.answer());
    assert!(!format!("{:?}", turn.events).contains(CANARY), "{:?}", turn.events);
    assert_in_no_request(&lango);
    assert!(!format!("{:?}", lango.received()).contains(&hex));
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn personal_data_is_put_back_into_the_arguments_of_a_call() {
    let write = "{ path = \"to.txt\", content = \"Dear [email:1], hello [email:2].\" }";
    let calls = calling("operator", &[("fs_write", write)]);
    let lango = Lango::playing(&[TO_OPERATOR, &calls]).await;
    std::fs::write(lango.config_file(), "[privacy]\nredact = [\"email\"]\n").unwrap();
    let asked =
        lango.ask("write to ada@example.org and bob@example.net").with(&["--approve", "all"]);
    let turn = asked.turn().await;
    assert_eq!(turn.results_with(CallStatus::Ok), 1, "{:?}", turn.results());
    let written = std::fs::read_to_string(lango.workspace().join("to.txt")).unwrap();
    assert_eq!(written, "Dear ada@example.org, hello bob@example.net.");
    let requests = format!("{:?}", lango.received());
    assert!(requests.contains("[email:1]") && !requests.contains("example."), "{requests}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_rotate_at_once_lose_nothing() {
    let lango = Lango::silent().await;
    for number in 0..30 {
        store(&lango, &format!("secret-{number}"), &format!("{CANARY}-{number}")).await;
    }
    let mut rotated = 0;
    for _ in 0..3 {
        let rotate = || lango.bare(&["vault", "rotate"]).run();
        let (one, other) = tokio::join!(rotate(), rotate());
        for ended in [one, other] {
            rotated += usize::from(ended.code == 0);
            let is_told = ended.stderr.contains("another process changed the vault");
            assert!(ended.code == 0 || is_told, "{ended:?}");
        }
    }
    assert!(rotated >= 3, "of two at once, one is done: {rotated}");
    // A rotation opens every value.
    assert_eq!(lango.bare(&["vault", "rotate"]).run().await.code, 0);
    let verified = lango.bare(&["audit", "--verify"]).run().await;
    assert_eq!(verified.code, 0, "{verified:?}");
    let audit = lango.bare(&["audit", "--limit", "1000"]).run().await;
    assert_eq!(audit.stdout.matches(" rotated ").count(), rotated + 1, "{audit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_person_says_what_is_locked_and_how_to_unlock_it() {
    let lango = Lango::silent().await;
    store(&lango, "github-token", CANARY).await;
    lock_with_passphrase(&lango).await;
    let serve = || lango.command(&["serve", "--port", "0"]);
    for (passphrase, notice) in [
        (None, "the vault is locked; unlock it: lango vault unlock"),
        (Some("correct horse"), ""),
        (Some("another horse"), "LANGO_VAULT_PASSPHRASE is not the passphrase of the vault"),
    ] {
        let serving = match passphrase {
            Some(passphrase) => serve().set("LANGO_VAULT_PASSPHRASE", passphrase),
            None => serve(),
        };
        let (running, _) = serving.start_until("Ctrl-C ends it").await;
        running.signal(Signal::TERM);
        let ended = running.finish().await;
        assert!(ended.stderr.contains(notice), "{passphrase:?}: {ended:?}");
        assert_eq!(ended.stderr.contains("vault unlock"), !notice.is_empty(), "{ended:?}");
    }
}

/// Reads the command lines of all processes until it is told to stop. Returns whether one had the
/// first text, and whether one had the second.
fn watch_command_lines(
    stop: Arc<AtomicBool>,
    texts: [&'static str; 2],
) -> std::thread::JoinHandle<[bool; 2]> {
    std::thread::spawn(move || {
        let mut seen = [false; 2];
        while !stop.load(Ordering::Relaxed) {
            for process in std::fs::read_dir("/proc").unwrap().flatten() {
                // It may have ended since.
                let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                for (seen, text) in seen.iter_mut().zip(texts) {
                    *seen |= line.contains(text);
                }
            }
        }
        seen
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn no_command_line_has_the_value_while_a_command_uses_it() {
    const MARK: &str = "argv-mark-5c1f";
    let lango = Lango::silent().await;
    store(&lango, "github-token", CANARY).await;
    let command = format!(
        "for i in 1 2 3 4 5 6 7 8; do printf %s \"$T\" | sh -c 'cat >/dev/null; sleep 0.1; : {MARK}'; done; \
         printf %s \"$T\" | wc -c"
    );
    let arguments = serde_json::json!({
        "command": command, "secrets": { "T": "{word:secret-handle-}" },
    });
    let raw = toml::Value::String(arguments.to_string());
    let script = format!(
        "[[reply]]\nagent = \"lango-orchestrator\"\nresults = 0\ncall = [{{ name = \
         \"transfer_to_agent\", arguments = {{ agent_name = \"vault\", task = \"Get it.\", return = true }} }}]\n\
         [[reply]]\nagent = \"vault\"\nresults = 0\ncall = [{{ name = \"secrets_get\", arguments = \
         {{ name = \"github-token\", purpose = \"a test\" }} }}]\n\
         [[reply]]\nagent = \"vault\"\nsay = \"{{result}}\"\n\
         [[reply]]\nagent = \"lango-orchestrator\"\nresults = 1\ncall = [{{ name = \
         \"transfer_to_agent\", arguments = {{ agent_name = \"operator\", task = \"Use {{word:secret-handle-}}\" }} }}]\n\
         [[reply]]\nagent = \"operator\"\nresults = 0\ncall = [{{ name = \"exec_shell\", raw = {raw} }}]\n\
         [[reply]]\nsay = \"{{result}}\"\n"
    );
    let lango = lango.now_playing(&[&script]).await;
    let stop = Arc::<AtomicBool>::default();
    let watching = watch_command_lines(Arc::clone(&stop), [MARK, CANARY]);
    let turn = lango.ask("use it").with(&["--approve", "all"]).turn().await;
    stop.store(true, Ordering::Relaxed);
    let length = CANARY.len().to_string();
    assert!(turn.answer().contains(&length), "the command got no value: {}", turn.answer());
    assert_eq!(watching.join().unwrap(), [true, false], "it was seen, or nothing was");
}
