//! Who is let in: tokens, hosts, pages, guesses.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use super::{ECHO, Server};
use crate::fixture::Lango;

/// A path of each endpoint, and one of its requests.
const ENDPOINTS: [(&str, &str); 4] = [
    ("POST", "/v1/chat/completions"),
    ("POST", "/mcp"),
    ("POST", "/a2a"),
    ("GET", "/a2a/v1/tasks"),
];

#[tokio::test(flavor = "multi_thread")]
async fn d1_an_address_that_others_reach_needs_authentication() {
    let lango = Lango::silent().await;
    for host in ["0.0.0.0", "192.0.2.1", "::"] {
        let refused = lango.command(&["serve", "--no-auth", "--host", host]).run().await;
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains("--no-auth"), "{refused:?}");
    }
    let refused = lango.command(&["serve", "--host", "example.org"]).run().await;
    assert_eq!(refused.code, 2, "{refused:?}");
    // Nothing was made on the way.
    assert!(!lango.database_file().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_printed_once_and_kept_nowhere_in_clear() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let first = server.token.clone();
    assert!(first.len() > 40, "{}", server.printed);
    assert_eq!(server.say("hello").await.status, 200);
    let ended = server.stop().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.stderr.contains(&first) && !ended.stdout.contains(&first));
    assert_nowhere(&lango.home(), first.as_bytes());

    let again = Server::start(&lango, &[]).await;
    assert_eq!(again.token, "", "{}", again.printed);
    let with = |token: &str| again.of(token, "GET", "/v1/models").send();
    assert_eq!(with(&first).await.status, 200);
    again.stop().await;

    let renewed = Server::start(&lango, &["--new-token"]).await;
    assert_ne!(renewed.token, first);
    assert_eq!(renewed.of(&first, "GET", "/v1/models").send().await.status, 401);
    assert_eq!(renewed.owner("GET", "/v1/models").send().await.status, 200);
}

/// Looks through every file.
fn assert_nowhere(directory: &Path, needle: &[u8]) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_nowhere(&path, needle);
        } else if let Ok(bytes) = std::fs::read(&path) {
            let found = bytes.windows(needle.len()).any(|window| window == needle);
            assert!(!found, "{}", path.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_a_token_that_is_there_and_wrong_is_no_token_at_any_endpoint() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    // Each is a guess, so not too many of them.
    for (method, path) in ENDPOINTS {
        let answer = server.request(method, path).json(&json!({})).send().await;
        assert_eq!(answer.status, 401, "{path} {answer:?}");
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"), "{answer:?}");
        assert!(answer.json()["error"].is_object(), "{answer:?}");
    }
    let openai = server.request("GET", "/v1/models").send().await.json();
    assert_eq!(openai["error"]["code"], "invalid_api_key", "{openai}");
    assert_eq!(openai["error"]["type"], "invalid_request_error", "{openai}");
    let rpc = server.request("POST", "/mcp").json(&json!({})).send().await.json();
    assert_eq!(rpc["jsonrpc"], "2.0", "{rpc}");
    let rest = server.request("GET", "/a2a/v1/tasks").send().await.json();
    assert_eq!(rest["error"]["status"], "UNAUTHENTICATED", "{rest}");
    let right = server.token.clone();
    let headers = [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer garbage".to_owned(),
        format!("Basic {right}"),
        right.clone(),
        format!("Bearer {right} x"),
    ];
    for header in headers {
        let request = server.request("GET", "/v1/models").header("authorization", &header);
        assert_eq!(request.send().await.status, 401, "{header:?}");
    }
    let two = server.owner("GET", "/v1/models").header("authorization", "Bearer garbage");
    assert_eq!(two.send().await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn d3_a_token_in_the_address_is_not_looked_at() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    for name in ["token", "access_token", "key", "api_key", "authorization"] {
        let path = format!("/v1/models?{name}={}", server.token);
        let answer = server.request("GET", &path).send().await;
        assert_eq!(answer.status, 401, "{name}");
        assert!(!answer.body.contains(&server.token) && !answer.head.contains(&server.token));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_other_hosts_and_pages_of_others_are_turned_away_with_every_method() {
    let lango = Lango::playing(&[ECHO]).await;
    let configured = "[server]\nallowedOrigins = [\"https://app.example\"]\n\
                      allowedHosts = [\"lango.example\"]\n";
    std::fs::write(lango.config_file(), configured).unwrap();
    let server = Server::start(&lango, &[]).await;
    let port = server.address.port();
    for path in ["/v1/models", "/mcp", "/a2a", "/health", "/.well-known/agent-card.json", "/"] {
        for method in ["GET", "POST", "DELETE", "OPTIONS"] {
            for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example"] {
                let answer = server.owner(method, path).header("host", host).send().await;
                assert_eq!(answer.status, 403, "{method} {path} {host} {answer:?}");
            }
            for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
                let answer = server.owner(method, path).header("origin", origin).send().await;
                assert_eq!(answer.status, 403, "{method} {path} {origin} {answer:?}");
            }
        }
    }
    for host in [format!("localhost:{port}"), "[::1]".to_owned(), "lango.example".to_owned()] {
        let answer = server.owner("GET", "/v1/models").header("host", &host).send().await;
        assert_eq!(answer.status, 200, "{host}");
    }
    let own = format!("http://127.0.0.1:{port}");
    let answer = server.owner("GET", "/v1/models").header("origin", &own).send().await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let page = "https://app.example";
    let asked = server.request("OPTIONS", "/v1/models").header("origin", page).send().await;
    assert_eq!(asked.status, 204);
    let answer = server.owner("GET", "/v1/models").header("origin", page).send().await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(page));
    // A page that was let in still has to say who it is.
    let stranger = server.request("GET", "/v1/models").header("origin", page).send().await;
    assert_eq!(stranger.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_guesses_are_slowed_down_and_known_callers_are_not() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    assert_eq!(server.owner("GET", "/v1/models").send().await.status, 200);
    for number in 0..10 {
        let guess = format!("guess-number-{number}");
        assert_eq!(server.of(&guess, "GET", "/v1/models").send().await.status, 401, "{number}");
    }
    let late = server.of("guess-number-11", "GET", "/v1/models").send().await;
    assert_eq!(late.status, 429, "{late:?}");
    assert!(late.header("retry-after").is_some(), "{late:?}");
    assert_eq!(server.owner("GET", "/v1/models").send().await.status, 200);
    assert!(server.stop().await.stderr.contains("many wrong tokens"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_token_takes_the_place_of_a_printed_one() {
    let lango = Lango::playing(&[ECHO]).await;
    let first = Server::start(&lango, &[]).await;
    let printed = first.token.clone();
    first.stop().await;
    let chosen = "a-token-that-was-chosen";
    let command = lango.command(&["serve", "--port", "0"]).set("LANGO_SERVER_TOKEN", chosen);
    let server = Server::started(command).await;
    assert!(!server.printed.contains(chosen), "{}", server.printed);
    assert_eq!(server.of(chosen, "GET", "/v1/models").send().await.status, 200);
    assert_eq!(server.of(&printed, "GET", "/v1/models").send().await.status, 401);
    server.stop().await;
    let shown = lango.command(&["config", "show"]).set("LANGO_SERVER_TOKEN", chosen).run().await;
    assert!(shown.code == 0 && !shown.stdout.contains(chosen), "{shown:?}");

    let weak = lango.command(&["serve", "--port", "0"]).set("LANGO_SERVER_TOKEN", "short");
    let refused = weak.run().await;
    assert!(refused.code == 2 && refused.stderr.contains("too short"), "{refused:?}");

    let file = lango.file("token", "a-token-in-a-file-of-its-own\n");
    let config = format!("[server]\ntokenFile = {file:?}\n");
    std::fs::write(lango.config_file(), config).unwrap();
    let readable = lango.command(&["serve", "--port", "0"]).run().await;
    assert!(readable.code == 2 && readable.stderr.contains("chmod 600"), "{readable:?}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let server = Server::start(&lango, &[]).await;
    let token = "a-token-in-a-file-of-its-own";
    assert_eq!(server.of(token, "GET", "/v1/models").send().await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn health_tells_strangers_that_it_lives_and_callers_how() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let public = server.request("GET", "/health").send().await;
    assert_eq!(public.json(), json!({ "status": "ok" }));
    let told = server.owner("GET", "/health").send().await.json();
    assert_eq!(told["database"], "reachable", "{told}");
    assert_eq!(told["open_turns"], 0, "{told}");
    assert!(told["version"].is_string(), "{told}");
    let wrong = server.of("garbage", "GET", "/health").send().await;
    assert_eq!(wrong.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_authentication_everybody_here_is_the_owner() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &["--no-auth"]).await;
    assert_eq!(server.token, "");
    assert_eq!(server.request("GET", "/v1/models").send().await.status, 200);
    let foreign = server.request("GET", "/v1/models").header("host", "evil.example").send().await;
    assert_eq!(foreign.status, 403);
}
