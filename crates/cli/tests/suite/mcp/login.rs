//! Signing in: the honest way works, the others are refused.

use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

use super::peer::{Listening, hostile, lango_with};
use crate::fixture::Lango;

/// What a login printed, and its exit code.
struct LoginResult {
    code: i32,
    said: String,
}

/// Runs `lango mcp login` with a user who opens the address that it prints and follows redirects.
async fn login(lango: &Lango) -> LoginResult {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lango"))
        .args(["mcp", "login", "guarded"])
        .current_dir(lango.workspace())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", lango.path("user"))
        .env("LANGO_HOME", lango.home())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        said += &format!("{line}\n");
        if let Some(address) = line.strip_prefix("  http://") {
            let back = get(address).await;
            if let Some(back) = back.strip_prefix("http://") {
                get(back).await;
            }
        }
    }
    let output = child.wait_with_output().await.unwrap();
    said += &String::from_utf8_lossy(&output.stderr);
    LoginResult { code: output.status.code().unwrap(), said }
}

/// Asks for an address without `http://`; where the answer leads to.
async fn get(address: &str) -> String {
    let (place, path) = address.split_once('/').unwrap();
    let mut stream = tokio::net::TcpStream::connect(place).await.unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let location = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    });
    location.unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_signed_in_is_known_and_the_token_is_private() {
    let listening = Listening::hostile(&["oauth"]).await;
    let config = listening.entry("guarded", "");
    let lango = lango_with(&config, &[("mcp_guarded_greet", "{}")]).await;
    let refused = lango.command(&["mcp", "test", "guarded"]).run().await;
    assert!(refused.stderr.contains("lango mcp login guarded"), "{refused:?}");
    let ended = login(&lango).await;
    assert!(ended.code == 0 && ended.said.contains("Signed in"), "{}", ended.said);
    let listed = lango.command(&["mcp", "list", "--json"]).run().await;
    assert!(listed.stdout.contains("\"signed_in\": true"), "{listed:?}");
    let found = crate::vault::files_with(&lango.home(), "token-of-the-hostile-server");
    assert_eq!(found, Vec::<String>::new(), "the token is in a file");
    let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 0, "{:?}", turn.results());
    // At another address, the token is not sent.
    let log = lango.path("log");
    let other = Listening::hostile(&["oauth", "--log", &log.display().to_string()]).await;
    super::peer::configure(&lango, &other.entry("guarded", ""));
    let tested = lango.command(&["mcp", "test", "guarded"]).run().await;
    assert_eq!(tested.code, 1, "{tested:?}");
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(!logged.contains("token-of-the-hostile-server"), "{logged}");
    let out = lango.command(&["mcp", "logout", "guarded"]).run().await;
    assert!(out.code == 0 && out.stdout.contains("Its tokens are gone"), "{out:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn f7_what_does_not_belong_together_ends_the_login() {
    for mode in [
        "oauth-wrong-issuer",
        "oauth-resource-mismatch",
        "oauth-no-pkce",
        "oauth-wrong-iss",
        "oauth-wrong-state",
    ] {
        let listening = Listening::hostile(&[mode]).await;
        let lango = lango_with(&listening.entry("guarded", ""), &[]).await;
        let ended = login(&lango).await;
        assert!(ended.code != 0 && !ended.said.contains("Signed in"), "{mode}: {}", ended.said);
        assert!(ended.said.contains("signing in to the MCP server guarded"), "{}", ended.said);
        let listed = lango.command(&["mcp", "list", "--json"]).run().await;
        assert!(listed.stdout.contains("\"signed_in\": false"), "{mode}: {listed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f7_nothing_is_asked_at_private_addresses() {
    for mode in ["oauth-metadata-redirect", "oauth-foreign-server", "oauth-foreign-endpoint"] {
        let listening = Listening::hostile(&[mode, "--to", "http://169.254.169.254"]).await;
        let lango = lango_with(&listening.entry("guarded", ""), &[]).await;
        let ended = login(&lango).await;
        assert!(ended.code != 0 && !ended.said.contains("Signed in"), "{mode}: {}", ended.said);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_a_login_says_so_and_the_rest_works() {
    let listening = Listening::hostile(&["oauth"]).await;
    let config = listening.entry("guarded", "") + &hostile("good", &["plain"], "");
    let lango = lango_with(&config, &[("mcp_good_greet", "{}")]).await;
    let ran = lango.command(&["run", "greet", "--approve", "all"]).run().await;
    assert!(ran.code == 0 && ran.stderr.contains("lango mcp login guarded"), "{ran:?}");
    // With a token in the environment no sign-in is needed.
    let config = listening.entry("guarded", "bearer_token_env_var = \"HUB\"");
    let lango = lango_with(&config, &[("mcp_guarded_greet", "{}")]).await;
    let turn = lango
        .ask("greet")
        .with(&["--approve", "all"])
        .set("HUB", "token-of-the-hostile-server")
        .turn()
        .await;
    assert_eq!(turn.code, 0, "{:?} {}", turn.results(), turn.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_was_registered_by_hand_signs_in_with_a_secret_of_the_vault() {
    const SECRET: &str = "client-7Jx2Qm9Lw4Tz8Kd";
    let lango = lango_with("", &[]).await;
    let set = ["secrets", "set", "guarded-client"];
    let stored = lango.bare(&set).input(format!("{SECRET}\n")).run().await;
    assert_eq!(stored.code, 0, "{stored:?}");
    let log = lango.path("log");
    let options = ["oauth-client-secret", "--log", &log.display().to_string()];
    let listening = Listening::hostile(&options).await;
    let client = "oauth_client_id = \"by-hand\"\noauth_client_secret = \"secret:guarded-client\"";
    super::peer::configure(&lango, &listening.entry("guarded", client));
    let ended = login(&lango).await;
    assert!(ended.code == 0 && ended.said.contains("Signed in"), "{}", ended.said);
    assert!(!ended.said.contains(SECRET), "{}", ended.said);
    let logged = std::fs::read_to_string(&log).unwrap();
    let basic = STANDARD.encode(format!("by-hand:{SECRET}"));
    assert!(logged.contains(SECRET) || logged.contains(&basic), "{logged}");
    assert_eq!(crate::vault::files_with(&lango.home(), SECRET), Vec::<String>::new());
}
