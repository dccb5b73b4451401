//! Notifications of the real binary: to an address, by e-mail, through a command and on the desktop.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::a2a::peer::{Kind, Peer};
use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::invocation::{CommandOutput, Invocation};

const ANSWER: &str = "[[reply]]\nsay = \"It is sunny.\"\n";
const FAULT: &str = "[[reply]]\nerror = \"auth\"\n";
/// Limits how long a notification may take in a test.
const SOON: Duration = Duration::from_secs(30);

async fn playing(script: &str, config: &str) -> Lango {
    let lango = Lango::playing(&[script]).await;
    std::fs::create_dir_all(lango.home()).unwrap();
    let before = std::fs::read_to_string(lango.config_file()).unwrap_or_default();
    std::fs::write(lango.config_file(), format!("{before}\n{config}")).unwrap();
    lango
}

fn command<'a>(lango: &'a Lango, arguments: &[&str]) -> Invocation<'a> {
    lango.command(arguments).small_team().set("LANGO_AUTOMATOR_ENABLED", "true")
}

async fn run(lango: &Lango, arguments: &[&str]) -> CommandOutput {
    command(lango, arguments).run().await
}

/// Waits for a file of lines with JSON.
async fn wait_for_lines(path: &std::path::Path, count: usize) -> Vec<Value> {
    let begin = std::time::Instant::now();
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if text.lines().count() >= count && text.ends_with('\n') {
            return text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        }
        assert!(begin.elapsed() < SOON, "{text}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_gets_the_end_of_a_job_and_private_addresses_are_refused() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = format!(
        "[automator.channels.hook]\nkind = \"webhook\"\nurl = \"http://{address}/\"\ntoken = \"$HOOK_TOKEN\"\n\
         [automator.notify]\nsuccess = [\"hook\"]\n"
    );
    let lango = playing(ANSWER, &config).await;
    let token = "token-of-the-webhook";
    let refused = command(&lango, &["notify", "test", "hook"]).set("HOOK_TOKEN", token).run().await;
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("egress.allow"), "{refused:?}");
    assert!(!refused.stderr.contains(token), "{refused:?}");
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"}") {
            stream.read_buf(&mut bytes).await.unwrap();
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        String::from_utf8(bytes).unwrap()
    });
    let allow = format!("[\"{address}\"]");
    assert_eq!(run(&lango, &["config", "set", "egress.allow", &allow]).await.code, 0);
    assert_eq!(run(&lango, &["cron", "add", "every day at 7:00", "get the weather"]).await.code, 0);
    let ran = command(&lango, &["cron", "run", "weather"]).set("HOOK_TOKEN", token).run().await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let request = served.await.unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert!(head.contains("idempotency-key: ") && head.contains("bearer token-of"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["event"], "success", "{body}");
    assert_eq!(
        (&body["title"], &body["text"]),
        (&"Done: get the weather".into(), &"It is sunny.".into())
    );
    let listed = run(&lango, &["notify", "list", "--json"]).await;
    let list: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!((list.as_array().unwrap().len(), &list[0]["state"]), (1, &"sent".into()), "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn e_mail_is_sent_over_a_protected_connection_after_a_sign_in() {
    let lango = Lango::playing(&[FAULT]).await;
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = lango.path("certificate.pem");
    let (key, log) = (lango.path("key.pem"), lango.path("mail.log"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (certificate, key, log) =
        (certificate.display().to_string(), key.display().to_string(), log);
    let log_file = log.display().to_string();
    let sign_in = ["--user", "lango", "--password", "open sesame", "--log", &log_file];
    let protected = ["--certificate", &certificate, "--key", &key];
    for (security, implicit) in [("starttls", None), ("tls", Some("--implicit"))] {
        let options: Vec<&str> =
            sign_in.iter().chain(&protected).copied().chain(implicit).collect();
        let server = Peer::start(Kind::Smtp, &options).await;
        let config = format!(
            "[automator.channels.mail]\nkind = \"email\"\nhost = \"localhost\"\nport = {}\n\
             security = \"{security}\"\nfrom = \"Lango <lango@example.org>\"\nto = [\"me@example.org\"]\n\
             username = \"lango\"\npassword = \"$MAIL_PASSWORD\"\n\
             [automator.notify]\nfailure = [\"mail\"]\n",
            server.port()
        );
        std::fs::write(lango.config_file(), config).unwrap();
        let test = |password: &'static str| {
            command(&lango, &["notify", "test", "mail"])
                .set("MAIL_PASSWORD", password)
                .set("SSL_CERT_FILE", &certificate)
        };
        let sent = test("open sesame").run().await;
        assert_eq!(sent.code, 0, "{security}: {sent:?}");
        let wrong = test("open poppy").run().await;
        assert_eq!(wrong.code, 1, "{security}: {wrong:?}");
        assert!(wrong.stderr.contains("sign-in") && !wrong.stderr.contains("poppy"), "{wrong:?}");
        // A server that the system does not trust gets nothing.
        let untrusted = command(&lango, &["notify", "test", "mail"])
            .set("MAIL_PASSWORD", "open sesame")
            .run()
            .await;
        assert_eq!(untrusted.code, 1, "{security}: {untrusted:?}");
    }
    let mails = wait_for_lines(&log, 2).await;
    assert_eq!(mails.len(), 2, "{mails:?}");
    assert_eq!(mails[0]["to"], serde_json::json!(["me@example.org"]));
    assert_eq!(mails[0]["subject"], "Lango: a test", "{mails:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn e_mail_tells_a_failure_without_headers_of_others() {
    let lango = Lango::playing(&[FAULT]).await;
    let log = lango.path("mail.log");
    let server = Peer::start(Kind::Smtp, &["--log", &log.display().to_string()]).await;
    let config = format!(
        "[automator.channels.mail]\nkind = \"email\"\nhost = \"127.0.0.1\"\nport = {}\nsecurity = \"none\"\n\
         from = \"lango@example.org\"\nto = [\"me@example.org\"]\n\
         [automator.notify]\nfailure = [\"mail\"]\n",
        server.port()
    );
    std::fs::write(lango.config_file(), config).unwrap();
    let name = "look\r\nBcc: you@example.org";
    let added = run(&lango, &["cron", "add", "every day at 7:00", "look", "--name", name]).await;
    assert_eq!(added.code, 0, "{added:?}");
    let ran = run(&lango, &["cron", "run", "look"]).await;
    assert_eq!(ran.code, 1, "{ran:?}");
    let mails = wait_for_lines(&log, 1).await;
    assert!(mails[0]["subject"].as_str().unwrap().starts_with("Failed: look"), "{mails:?}");
    assert!(!mails[0]["headers"].as_array().unwrap().contains(&"bcc".into()), "{mails:?}");
    assert_eq!(mails[0]["to"], serde_json::json!(["me@example.org"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_reads_the_notification_and_writes_to_its_own_directory_only() {
    let config = "[automator.channels.note]\nkind = \"command\"\n\
         command = [\"/bin/sh\", \"-c\", \"cat > got.json; echo x > /var/tmp/lango-notification-escape\"]\n\
         [automator.channels.broken]\nkind = \"command\"\ncommand = [\"/bin/sh\", \"-c\", \"echo why >&2; exit 3\"]\n";
    let lango = playing(ANSWER, config).await;
    let wrote = run(&lango, &["notify", "test", "note"]).await;
    // The second command of the line is refused by the sandbox.
    assert_eq!(wrote.code, 1, "{wrote:?}");
    let got = lango.home().join("notifications/note/got.json");
    let got: Value = serde_json::from_str(&std::fs::read_to_string(got).unwrap()).unwrap();
    assert_eq!(got["title"], "Lango: a test", "{got}");
    assert!(!std::path::Path::new("/var/tmp/lango-notification-escape").exists());
    let broken = run(&lango, &["notify", "test", "broken"]).await;
    assert!(broken.code == 1 && broken.stderr.contains("code 3: why"), "{broken:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_desktop_the_failure_is_clear_and_in_the_doctor() {
    let config = "[automator.channels.screen]\nkind = \"desktop\"\n\
                  [automator.notify]\nsuccess = [\"screen\"]\n";
    let lango = playing(ANSWER, config).await;
    assert_eq!(run(&lango, &["cron", "add", "every day at 7:00", "get the weather"]).await.code, 0);
    let ran = run(&lango, &["cron", "run", "weather"]).await;
    // The job itself is done.
    assert_eq!(ran.code, 0, "{ran:?}");
    let listed = run(&lango, &["notify", "list", "--failed", "--json"]).await;
    let list: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert!(list[0]["reason"].as_str().unwrap().contains("no D-Bus session bus"), "{list}");
    let doctor = run(&lango, &["doctor"]).await;
    assert!(doctor.stdout.contains("failed through screen"), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_that_are_not_there_and_values_in_plain_text_are_refused() {
    let config = "[automator.channels.hook]\nkind = \"webhook\"\nurl = \"https://example.org/\"\ntoken = \"abc\"\n";
    let lango = playing(ANSWER, config).await;
    let plain = run(&lango, &["notify", "test", "hook"]).await;
    assert!(plain.code == 1 && plain.stderr.contains("secret:NAME"), "{plain:?}");
    let add = ["cron", "add", "every day at 7:00", "look", "--notify", "failure=pager"];
    let unknown = run(&lango, &add).await;
    assert!(unknown.code == 2 && unknown.stderr.contains("pager"), "{unknown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_task_is_told_once_and_its_end_afterwards() {
    let config = "[automator.channels.note]\nkind = \"command\"\n\
         command = [\"/bin/sh\", \"-c\", \"cat >> got.json; echo >> got.json\"]\n\
         [automator.notify]\napproval = [\"note\"]\nsuccess = [\"note\"]\n";
    let write = calling("operator", &[("fs_write", r#"{ path = "a.txt", content = "x" }"#)]);
    let lango = playing(&format!("{TO_OPERATOR}{write}"), config).await;
    assert_eq!(run(&lango, &["bg", "add", "write it"]).await.code, 0);
    let worker = command(&lango, &["worker"]).start_until("Lango runs the jobs").await.0;
    let other = command(&lango, &["worker"]).start_until("Lango runs the jobs").await.0;
    let notes = lango.home().join("notifications/note/got.json");
    let asked = wait_for_lines(&notes, 1).await;
    assert_eq!(asked[0]["event"], "approval", "{asked:?}");
    assert_eq!(asked[0]["title"], "Waiting for you: write it", "{asked:?}");
    let text = asked[0]["text"].as_str().unwrap();
    assert!(text.contains("fs_write") && text.contains("lango approvals list"), "{asked:?}");
    let pending = run(&lango, &["approvals", "list", "--json"]).await;
    let pending: Value = serde_json::from_str(&pending.stdout).unwrap();
    let call = pending["waiting"][0]["id"].as_str().unwrap();
    assert_eq!(run(&lango, &["approvals", "approve", call]).await.code, 0);
    let told = wait_for_lines(&notes, 2).await;
    assert_eq!((told.len(), &told[1]["event"]), (2, &"success".into()), "{told:?}");
    worker.kill().await;
    other.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_gets_a_token_from_the_vault() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = format!(
        "[automator.channels.hook]\nkind = \"webhook\"\nurl = \"http://{address}/\"\ntoken = \"secret:chat\"\n\
         [egress]\nallow = [\"{address}\"]\n"
    );
    let lango = playing(ANSWER, &config).await;
    let with_vault =
        |arguments: &[&str]| command(&lango, arguments).set("LANGO_VAULT_ENABLED", "true");
    let missing = with_vault(&["notify", "test", "hook"]).run().await;
    assert!(missing.code == 1 && missing.stderr.contains("chat"), "{missing:?}");
    let value = "token-from-the-vault-7Jx2";
    let stored = with_vault(&["secrets", "set", "chat"]).input(format!("{value}\n")).run().await;
    assert_eq!(stored.code, 0, "{stored:?}");
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"}") {
            stream.read_buf(&mut bytes).await.unwrap();
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        String::from_utf8(bytes).unwrap()
    });
    let sent = with_vault(&["notify", "test", "hook"]).run().await;
    assert_eq!(sent.code, 0, "{sent:?}");
    let request = served.await.unwrap();
    assert!(request.contains(&format!("Bearer {value}")), "{request}");
    // It is nowhere but in the vault.
    assert!(crate::vault::files_with(&lango.home(), value).is_empty());
}
