//! The official OpenAI clients, in Python and in JavaScript.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Server;
use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::mcp::peer::{node_programs, peers};

/// What a client printed, line by line.
struct Lines(Vec<Value>);

impl Lines {
    fn only(&self, kind: &str) -> Vec<&Value> {
        self.0.iter().filter(|line| line["kind"] == kind).collect()
    }

    fn one(&self, kind: &str) -> &Value {
        let found = self.only(kind);
        assert_eq!(found.len(), 1, "{:?}", self.0);
        found[0]
    }
}

fn clients() -> [(PathBuf, PathBuf); 2] {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers").canonicalize().unwrap();
    [
        (peers().join("python/openai/bin/python"), ours.join("python/openai_client.py")),
        (node_programs().join("node"), ours.join("node/openai_client.mjs")),
    ]
}

async fn run(client: &(PathBuf, PathBuf), server: &Server<'_>, arguments: &[&str]) -> Lines {
    let output = tokio::process::Command::new(&client.0)
        .arg(&client.1)
        .args(["--url", &format!("http://{}/v1", server.address), "--key", &server.token])
        .args(arguments)
        .env("LANGO_PEERS", peers())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!lines.is_empty(), "it said nothing: {errors}");
    Lines(lines)
}

#[tokio::test(flavor = "multi_thread")]
async fn official_clients_talk_to_the_whole_team() {
    let stat = ("fs_stat", "{ path = \"README.md\" }");
    let lango = Lango::playing(&[TO_OPERATOR, &calling("operator", &[stat])]).await;
    let server = Server::start(&lango, &[]).await;
    for client in clients() {
        let models = run(&client, &server, &["models"]).await;
        assert_eq!(models.one("models")["models"][0], "lango");
        assert_eq!(run(&client, &server, &["model", "lango"]).await.one("model")["model"], "lango");
        // With a tool of the client's own on offer, too: the team's stay hidden, and its is not called.
        for more in [&["chat", "how large?"][..], &["--tools", "chat", "how large?"]] {
            let said = run(&client, &server, more).await;
            let said = said.one("completion");
            assert!(said["text"].as_str().unwrap().contains("README.md"), "{said}");
            assert_eq!((said["finish"].as_str(), said["calls"].as_u64()), (Some("stop"), Some(0)));
            assert_eq!(said["extra"]["lango"]["agent"], "operator");
            assert!(said["usage"]["total_tokens"].as_u64().unwrap() > 0);
        }
        let streamed = run(&client, &server, &["stream", "how large?"]).await;
        let end = streamed.one("stream-end");
        assert!(end["text"].as_str().unwrap().contains("README.md"), "{end}");
        assert_eq!((end["ids"].as_u64(), end["finish"].as_str()), (Some(1), Some("stop")));
        assert!(end["usage"]["total_tokens"].as_u64().unwrap() > 0, "{end}");
        let chunks = streamed.only("chunk");
        assert!(chunks.iter().any(|chunk| chunk["extra"]["lango"]["step"]["tool"] == "fs_stat"));
        let helped = run(&client, &server, &["stream-helper", "how large?"]).await;
        let said = helped.one("completion");
        assert!(said["text"].as_str().unwrap().contains("README.md"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn official_clients_keep_their_session_and_know_our_errors() {
    let script = "[[reply]]\nagent = \"lango-orchestrator\"\nsay = \"Yes.\"\n";
    let lango = Lango::playing(&[script]).await;
    let server = Server::start(&lango, &[]).await;
    for client in clients() {
        let talk = run(&client, &server, &["conversation", "one", "two", "three"]).await;
        let said = talk.only("completion");
        assert_eq!(said.len(), 3);
        let session = |line: &Value| line["extra"]["lango"]["session"].clone();
        assert!(said.iter().all(|line| session(line) == session(said[0])), "{said:?}");
        for (command, class, status, code) in [
            ("bad-key", "AuthenticationError", 401, Some("invalid_api_key")),
            ("bad-model", "NotFoundError", 404, Some("model_not_found")),
            ("bad-request", "BadRequestError", 400, Some("invalid_value")),
            ("empty", "BadRequestError", 400, None),
        ] {
            let lines = run(&client, &server, &[command]).await;
            let error = lines.one("error");
            assert_eq!(error["class"], class, "{error}");
            assert_eq!(error["status"], status, "{error}");
            assert_eq!(error["code"].as_str(), code, "{error}");
            assert_eq!(error["type"], "invalid_request_error", "{error}");
        }
    }
}
