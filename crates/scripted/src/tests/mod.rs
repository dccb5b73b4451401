//! Tests the server over real connections.

mod variants;

use std::time::{Duration, Instant};

use lango_model::Wire;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;
use crate::wires::fixture;

/// Represents a response as it came.
struct ReceivedResponse {
    head: String,
    body: Vec<u8>,
    /// True if the body came to its proper end.
    whole: bool,
    /// The number of reads that returned bytes.
    reads: usize,
}

impl ReceivedResponse {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn status(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }
}

async fn start(script: &str) -> ScriptedServer {
    ScriptedServer::start(Script::parse("test.toml", script).unwrap()).await.unwrap()
}

async fn ask(
    server: &ScriptedServer,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> ReceivedResponse {
    let address = server.base_url_for(Wire::Ollama).replace("http://", "");
    let mut socket = TcpStream::connect(&address).await.unwrap();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: \
         {length}\r\n\r\n{body}"
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let (mut bytes, mut reads, mut buffer) = (Vec::new(), 0, vec![0; 65536]);
    while let Ok(count @ 1..) = socket.read(&mut buffer).await {
        bytes.extend_from_slice(&buffer[..count]);
        reads += 1;
    }
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let (head, rest) = bytes.split_at(end.map_or(bytes.len(), |at| at + 4));
    let head = String::from_utf8(head.to_vec()).unwrap();
    let (body, whole) =
        if head.contains("chunked") { dechunk(rest) } else { (rest.to_vec(), true) };
    ReceivedResponse { head, body, whole, reads }
}

fn dechunk(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(line) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&rest[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.extend_from_slice(&rest[line + 2..line + 2 + size]);
        rest = &rest[line + 2 + size + 2..];
    }
    (body, false)
}

/// Says `user` over a wire.
async fn say(server: &ScriptedServer, wire: Wire, user: &str) -> ReceivedResponse {
    let sample = fixture(wire).sample();
    let body = sample.body.replace("{user}", user);
    ask(server, "POST", &path(wire), sample.headers, &body).await
}

/// Returns the path of a request to an API.
fn path(wire: Wire) -> String {
    let WireProfile { base_path, request_path, .. } = profile(wire);
    format!("{base_path}{request_path}")
}

#[tokio::test]
async fn all_wires_are_on_one_port_and_requests_are_kept() {
    let server = start("[[reply]]\nsay = \"Hello {user}\"").await;
    for wire in Wire::ALL {
        let received = say(&server, wire, "you").await;
        let kind = profile(wire).framing.content_type();
        assert!(received.whole && received.head.contains(kind), "{wire:?} {}", received.head);
        assert!(received.text().contains("Hello"), "{wire:?} {}", received.text());
    }
    let requests = server.requests();
    assert_eq!(requests.iter().map(|request| request.wire).collect::<Vec<_>>(), Wire::ALL);
    for (request, wire) in requests.iter().zip(Wire::ALL) {
        assert_eq!(request.path, path(wire));
        for header in fixture(wire).sample().headers.lines() {
            let (name, value) = header.split_once(": ").unwrap();
            assert_eq!(request.header(&name.to_uppercase()), Some(value), "{wire:?}");
        }
    }
    assert_eq!(server.count(), Wire::ALL.len() as u64);
    assert!(server.base_url().ends_with("/v1"));
    assert!(server.base_url_for(Wire::Gemini).ends_with("/v1beta"));
}

#[tokio::test]
async fn a_request_that_its_provider_refuses_is_refused_in_its_shape() {
    let server = start("[[reply]]\nsay = \"a\"").await;
    for wire in Wire::ALL {
        let received = say(&server, wire, "a\",\"unheard").await;
        assert_eq!(received.status(), "400");
        let shape = fixture(wire).sample().unreadable;
        assert!(received.text().contains(shape), "{wire:?} {}", received.text());
    }
    let body = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"u"}]}"#;
    let received = ask(&server, "POST", "/v1/messages", "", body).await;
    assert!(received.text().contains("anthropic-version"), "{}", received.text());
    assert_eq!(ask(&server, "POST", "/v2/anything", "", "").await.status(), "404");
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn models_are_listed_on_every_wire() {
    let server = start("[[reply]]\nsay = \"a\"").await;
    for (method, path, headers, expected) in [
        ("GET", "/v1/models", "", "\"object\":\"list\""),
        ("GET", "/v1/models", "anthropic-version: 2023-06-01\r\n", "\"has_more\":false"),
        ("GET", "/v1beta/models?pageSize=1000", "", "\"inputTokenLimit\""),
        ("GET", "/api/tags", "", "\"scripted:latest\""),
        ("GET", "/api/version", "", "\"version\""),
        ("POST", "/api/show", "", "\"capabilities\""),
    ] {
        let received = ask(&server, method, path, headers, "").await;
        assert!(received.text().contains(expected), "{path} {}", received.text());
        assert!(serde_json::from_slice::<serde_json::Value>(&received.body).is_ok(), "{path}");
    }
}

#[tokio::test]
async fn a_body_in_small_portions_is_the_same_and_arrives_in_pieces() {
    let reply = "[[reply]]\nthink = \"hm\"\nsay = \"Héllo 🌍 and everybody in it\"";
    let plain = start(reply).await;
    let chopped = start(&format!("[variant]\nchunk_bytes = 7\n{reply}")).await;
    for wire in [Wire::OpenAi, Wire::Ollama] {
        let expected = say(&plain, wire, "u").await;
        let received = say(&chopped, wire, "u").await;
        assert_eq!(received.text(), expected.text());
        assert!(
            received.whole && received.reads > received.body.len() / 28,
            "{} reads",
            received.reads
        );
    }
}

#[tokio::test]
async fn a_whole_answer_is_a_document_and_google_lists_without_events() {
    let server = start("[variant]\nwhole = true\n[[reply]]\nsay = \"a\"").await;
    for wire in [Wire::OpenAi, Wire::Gemini] {
        let received = say(&server, wire, "u").await;
        assert!(received.head.contains("application/json"), "{}", received.head);
        let value: serde_json::Value = serde_json::from_slice(&received.body).unwrap();
        assert_eq!(value.is_array(), wire == Wire::Gemini);
    }
    let server = start("[[reply]]\nsay = \"a\"").await;
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"u"}]}]}"#;
    let path = "/v1beta/models/m:streamGenerateContent";
    assert!(ask(&server, "POST", path, "", body).await.text().starts_with("[{"));
}

#[tokio::test]
async fn a_cut_comes_after_exactly_so_many_bytes() {
    for bytes in [0, 1, 37, 100_000] {
        let script = format!("[[reply]]\nsay = \"Hello there\"\nfault = \"cut\"\ncut_at = {bytes}");
        let (server, plain) =
            (start(&script).await, start("[[reply]]\nsay = \"Hello there\"").await);
        for wire in Wire::ALL {
            let received = say(&server, wire, "u").await;
            let mut expected = say(&plain, wire, "u").await.body;
            expected.truncate(bytes);
            assert_eq!(received.body, expected, "{wire:?} {bytes}");
            assert!(!received.whole, "{wire:?} {bytes}");
        }
    }
}

#[tokio::test]
async fn the_old_faults_happen_on_every_wire() {
    let said = "say = \"Hello there, all of you\"";
    let server = start(&format!(
        "[[reply]]\nuser = \"cut\"\nfault = \"cut\"\n{said}\n\
         [[reply]]\nuser = \"no-end\"\nfault = \"no-end\"\n{said}\n\
         [[reply]]\nuser = \"garbage\"\nfault = \"garbage\"\n{said}\n\
         [[reply]]\nuser = \"error\"\nfault = \"error-event\"\n{said}\n\
         [[reply]]\nuser = \"status\"\nfault = \"status\"\nstatus = 503\nretry_after = \"2\"\n\
         [[reply]]\nuser = \"reset\"\nfault = \"reset\"\n\
         [[reply]]\n{said}"
    ))
    .await;
    for wire in Wire::ALL {
        let mark = fixture(wire).sample().end;
        let whole = say(&server, wire, "x").await.text();
        assert!(whole.contains(mark), "{wire:?} {whole}");
        let cut = say(&server, wire, "cut").await;
        assert!(!cut.whole && !cut.text().contains(mark) && !cut.body.is_empty(), "{wire:?}");
        let endless = say(&server, wire, "no-end").await;
        assert!(endless.whole && !endless.text().contains(mark), "{wire:?}");
        assert!(say(&server, wire, "garbage").await.text().contains("<html>"), "{wire:?}");
        let error = say(&server, wire, "error").await.text();
        assert!(error.contains("\"error\"") && !error.contains(mark), "{wire:?} {error}");
        let refused = say(&server, wire, "status").await;
        assert_eq!(refused.status(), "503");
        assert!(refused.head.contains("retry-after: 2\r\n"), "{}", refused.head);
        let reset = say(&server, wire, "reset").await;
        assert_eq!(reset.head, "");
    }
}

#[tokio::test]
async fn a_dripping_reply_takes_its_time() {
    let server = start("[[reply]]\nsay = \"a\"\nfault = \"drip\"\ndrip_ms = 1").await;
    let began = Instant::now();
    let received = say(&server, Wire::Ollama, "u").await;
    let least = Duration::from_millis(received.body.len() as u64);
    assert!(received.whole && began.elapsed() >= least, "{:?} {least:?}", began.elapsed());
}

#[tokio::test]
async fn errors_come_as_the_provider_says_them() {
    let server = start(
        "[[reply]]\nlonger_than = 400\nerror = \"context_too_long\"\n\
         [[reply]]\nwire = \"gemini\"\nuser = \"no\"\nerror = \"content_refused\"\n\
         [[reply]]\nmodel = \"other\"\nsay = \"never\"\n\
         [[reply]]\nsay = \"fine\"",
    )
    .await;
    for wire in Wire::ALL {
        let long = say(&server, wire, &"long ".repeat(100)).await;
        assert_eq!(long.status(), "400");
        let phrase = fixture(wire).sample().too_long;
        assert!(long.text().contains(phrase), "{wire:?} {}", long.text());
        assert!(say(&server, wire, "short").await.text().contains("fine"), "{wire:?}");
    }
    let blocked = say(&server, Wire::Gemini, "no").await;
    assert_eq!(blocked.status(), "200");
    assert!(blocked.text().contains("PROHIBITED_CONTENT"), "{}", blocked.text());
}
