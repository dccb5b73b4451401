//! Tests the protocol version of requests.

use reqwest::Method;
use serde_json::{Value, json};

use crate::fixture::{Server, ServerOptions, send};

async fn rpc(
    server: &Server,
    version: Option<&str>,
    query: &str,
    method: &str,
    params: Value,
) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params });
    let mut request = server.raw(Method::POST, &format!("/a2a{query}"));
    if let Some(version) = version {
        request = request.header("A2A-Version", version);
    }
    let request = request.header("content-type", "application/json").body(body.to_string());
    serde_json::from_slice(&request.send().await.unwrap().bytes().await.unwrap()).unwrap()
}

fn old(text: &str) -> Value {
    let parts = json!([{ "kind": "text", "text": text }]);
    json!({ "message": { "kind": "message", "messageId": uuid::Uuid::new_v4(), "role": "user", "parts": parts } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_version_decides_what_a_method_means() {
    let (server, _directory) = Server::new().await;
    for version in ["1.0", "1.0.1"] {
        let answer = rpc(&server, Some(version), "", "SendMessage", send("do something")).await;
        assert_eq!(
            answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED",
            "{version}"
        );
    }
    let by_parameter =
        rpc(&server, None, "?A2A-Version=1.0", "SendMessage", send("do something")).await;
    assert_eq!(by_parameter["id"], "x");
    assert!(by_parameter["result"]["task"].is_object());
    for version in [None, Some(""), Some("0.3"), Some("0.3.0")] {
        let answer = rpc(&server, version, "", "message/send", old("do something")).await;
        assert_eq!(answer["result"]["status"]["state"], "completed", "{version:?} {answer}");
        // A method of the other version does not exist.
        let answer = rpc(&server, version, "", "SendMessage", send("do something")).await;
        assert_eq!(answer["error"]["code"], -32601);
    }
    let answer = rpc(&server, Some("1.0"), "", "message/send", old("do something")).await;
    assert_eq!(answer["error"]["code"], -32601);
    for version in ["99.0", "2.0", "0.2", "1.1", "nonsense"] {
        let answer = rpc(&server, Some(version), "", "SendMessage", send("x")).await;
        assert_eq!(answer["error"]["code"], -32009, "{version}");
        assert_eq!(answer["error"]["data"][0]["reason"], "VERSION_NOT_SUPPORTED");
        let request = server.raw(Method::GET, "/a2a/v1/tasks").header("A2A-Version", version);
        assert_eq!(request.send().await.unwrap().status(), 400);
    }
    // 0.3 is supported over JSON-RPC only.
    assert_eq!(server.raw(Method::GET, "/a2a/v1/tasks").send().await.unwrap().status(), 400);
    let request = server.raw(Method::GET, "/a2a/v1/tasks?A2A-Version=1.0");
    assert_eq!(request.send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_old_version_can_be_left_out() {
    let mut options = ServerOptions::default();
    options.settings.speak_03 = false;
    let (server, _directory) = Server::with_options(options).await;
    let answer = rpc(&server, None, "", "message/send", old("do something")).await;
    assert_eq!(answer["error"]["code"], -32009);
    let card = server.raw(Method::GET, "/.well-known/agent-card.json").send().await.unwrap();
    let card: Value = serde_json::from_slice(&card.bytes().await.unwrap()).unwrap();
    assert!(card.get("url").is_none() && card.get("protocolVersion").is_none());
}
