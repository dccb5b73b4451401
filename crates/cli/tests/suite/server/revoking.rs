//! A token that is revoked ends what its client has under way, and nothing else.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::read_until;
use super::{ECHO, Server, add_caller, user};
use crate::fixture::{Lango, TO_OPERATOR, calling};

/// Returns the events of all sessions.
async fn events(lango: &Lango) -> Vec<Value> {
    let listed = lango.command(&["sessions", "list", "--json"]).run().await;
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let mut events = Vec::new();
    for session in listed.as_array().unwrap() {
        let id = session["id"].as_str().unwrap();
        let export = lango.command(&["sessions", "export", id]).run().await;
        events.extend(export.stdout.lines().map(|line| serde_json::from_str(line).unwrap()));
    }
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_ends_its_streams_and_turns() {
    let call = ("exec_shell", "{ command = \"touch done.txt\" }");
    let lango = Lango::playing(&[TO_OPERATOR, &calling("operator", &[call])]).await;
    let token = add_caller(&lango, &["stranger"]).await;
    let server = Server::start(&lango, &[]).await;
    let body = json!({ "model": "lango", "messages": [user("touch it")], "stream": true });
    let path = "/v1/chat/completions";
    let mut theirs = server.of(&token, "POST", path).json(&body).begin().await;
    read_until(&mut theirs, "waits_for_approval").await;
    let mut mine = server.owner("POST", path).json(&body).begin().await;
    read_until(&mut mine, "waits_for_approval").await;
    let removed = lango.command(&["serve", "callers", "remove", "stranger"]).run().await;
    assert_eq!(removed.code, 0, "{removed:?}");
    // It says that the turn was stopped, and ends.
    let rest = super::http::read(theirs).await;
    let rest = format!("{rest:?}");
    assert!(rest.contains("error") || rest.contains("cancelled"), "{rest}");
    let recorded = events(&lango).await;
    let finished: Vec<&Value> =
        recorded.iter().filter(|event| event["type"] == "turn_finished").collect();
    assert_eq!(finished.len(), 1, "{recorded:?}");
    assert_eq!(finished[0]["status"], "cancelled");
    let reason = recorded.iter().find(|event| event["code"] == "access_revoked").unwrap();
    assert!(reason["text"].as_str().unwrap().contains("stranger"), "{reason}");
    // The owner's goes on.
    let waiting = lango.command(&["approvals", "list", "--json"]).run().await;
    let waiting: Value = serde_json::from_str(&waiting.stdout).unwrap();
    let waiting = waiting["waiting"].as_array().unwrap();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    let id = waiting[0]["id"].as_str().unwrap();
    assert_eq!(lango.command(&["approvals", "approve", id]).run().await.code, 0);
    let rest = read_until(&mut mine, "[DONE]").await;
    assert!(rest.contains("\"outcome\":\"done\""), "{rest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_cancels_its_waiting_tasks() {
    let call = ("exec_shell", "{ command = \"touch done.txt\" }");
    let lango = Lango::playing(&[TO_OPERATOR, &calling("operator", &[call])]).await;
    let token = add_caller(&lango, &["stranger"]).await;
    let server = Server::start(&lango, &[]).await;
    let ask = |method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        server.of(&token, "POST", "/a2a").header("a2a-version", "1.0").json(&body)
    };
    let message = json!({ "messageId": "m1", "role": "ROLE_USER", "parts": [{ "text": "go" }] });
    let sent = ask("SendMessage", json!({ "message": message })).send().await.json();
    let task = &sent["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{sent}");
    let mut stream = ask("SubscribeToTask", json!({ "id": task["id"] })).begin().await;
    read_until(&mut stream, "INPUT_REQUIRED").await;
    assert_eq!(lango.command(&["serve", "callers", "remove", "stranger"]).run().await.code, 0);
    let rest = format!("{:?}", super::http::read(stream).await);
    assert!(rest.contains("CANCELED"), "{rest}");
    let waiting = lango.command(&["approvals", "list", "--json"]).run().await;
    let waiting: Value = serde_json::from_str(&waiting.stdout).unwrap();
    assert_eq!(waiting["waiting"], json!([]), "its question is withdrawn");
    assert!(!lango.workspace().join("done.txt").exists());
    // A new client of that name is let in, with its own token.
    let again = add_caller(&lango, &["stranger"]).await;
    assert_eq!(server.of(&again, "GET", "/v1/models").send().await.status, 200);
    assert_eq!(server.of(&token, "GET", "/v1/models").send().await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_ends_a_stream_that_waits_for_no_turn() {
    let lango = Lango::playing(&[ECHO]).await;
    let token = add_caller(&lango, &["stranger"]).await;
    let server = Server::start(&lango, &[]).await;
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let accepted = "application/json, text/event-stream";
    let begin = server.of(&token, "POST", "/mcp").header("accept", accepted).json(&begin);
    let head = read_until(&mut begin.begin().await, "\r\n\r\n").await.to_lowercase();
    let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    // What the server would say by itself comes here.
    let listening = server.of(&token, "GET", "/mcp").header("accept", "text/event-stream");
    let mut stream = listening.header("mcp-session-id", id.trim()).begin().await;
    read_until(&mut stream, "text/event-stream").await;
    assert_eq!(lango.command(&["serve", "callers", "remove", "stranger"]).run().await.code, 0);
    let rest = format!("{:?}", super::http::read(stream).await);
    assert!(rest.contains("token_revoked"), "{rest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_cancels_a_task_whose_turn_has_ended_with_a_question() {
    let asks = "[[reply]]\nagent = \"lango-orchestrator\"\nsay = \"[ASK] Which city?\"\n";
    let lango = Lango::playing(&[asks]).await;
    let token = add_caller(&lango, &["stranger"]).await;
    let server = Server::start(&lango, &[]).await;
    let ask = async |token: &str, method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = server.of(token, "POST", "/a2a").header("a2a-version", "1.0").json(&body);
        request.send().await.json()["result"].clone()
    };
    let message = json!({ "messageId": "m1", "role": "ROLE_USER", "parts": [{ "text": "go" }] });
    let sent = ask(&token, "SendMessage", json!({ "message": message })).await;
    let task = sent["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{sent}");
    assert_eq!(lango.command(&["serve", "callers", "remove", "stranger"]).run().await.code, 0);
    // A new client of that name sees what became of it.
    let again = add_caller(&lango, &["stranger"]).await;
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let found = ask(&again, "GetTask", json!({ "id": task["id"] })).await;
        if found["status"]["state"] == "TASK_STATE_CANCELED" {
            break;
        }
        assert!(Instant::now() < deadline, "{found}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
