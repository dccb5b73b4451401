//! Tests protocol 0.3 over JSON-RPC: the same tasks in other shapes.

use serde_json::{Value, json};

use crate::fixture::{Server, send};

fn old(text: &str) -> Value {
    json!({ "message": { "kind": "message", "messageId": uuid::Uuid::new_v4(), "role": "user",
                         "parts": [{ "kind": "text", "text": text }] } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_in_the_old_version() {
    let (server, _directory) = Server::new().await;
    let greeting = server.rpc("message/send", old("small talk")).await;
    assert_eq!((&greeting["kind"], &greeting["role"]), (&json!("message"), &json!("agent")));
    let task = server.rpc("message/send", old("a question")).await;
    assert_eq!(
        (&task["kind"], &task["status"]["state"]),
        (&json!("task"), &json!("input-required"))
    );
    let mut more = old("data");
    more["message"]["taskId"] = task["id"].clone();
    more["configuration"] = json!({ "blocking": true, "historyLength": 1 });
    let done = server.rpc("message/send", more).await;
    assert_eq!(done["status"]["state"], "completed");
    assert_eq!(
        done["artifacts"][0]["parts"][0],
        json!({ "kind": "data", "data": { "key": "value" } })
    );
    assert_eq!(done["history"].as_array().unwrap().len(), 1);
    // The same task, requested in both versions.
    let new = server.rpc("GetTask", json!({ "id": task["id"] })).await;
    let old_form = server.rpc("tasks/get", json!({ "id": task["id"] })).await;
    assert_eq!(new["status"]["timestamp"], old_form["status"]["timestamp"]);
    assert_eq!(server.rpc_error("tasks/cancel", json!({ "id": task["id"] })).await, -32002);
    assert_eq!(server.rpc_error("tasks/get", json!({ "id": "nothing" })).await, -32001);
    assert_eq!(server.rpc_error("message/send", json!({})).await, -32602);
    assert_eq!(server.rpc_error("tasks/list", json!({})).await, -32601);
    let mut empty = old("x");
    empty["message"]["parts"] = json!([]);
    assert_eq!(server.rpc_error("message/send", empty).await, -32602);
    let mut at_once = old("slow");
    at_once["configuration"] = json!({ "blocking": false });
    let running = server.rpc("message/send", at_once).await;
    let canceled = server.rpc("tasks/cancel", json!({ "id": running["id"] })).await;
    assert_eq!(canceled["status"]["state"], "canceled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_in_the_old_version() {
    let (server, _directory) = Server::new().await;
    let events = server.stream("message/stream", old("drip")).await.all().await;
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[0], "task");
    assert!(kinds[1..kinds.len() - 1].iter().all(|kind| *kind == "artifact-update"), "{kinds:?}");
    let last = events.last().unwrap();
    assert_eq!((&last["kind"], &last["final"]), (&json!("status-update"), &json!(true)));
    let waiting = server.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    let mut stream = server.stream("tasks/resubscribe", json!({ "id": waiting })).await;
    assert_eq!(stream.next().await.unwrap()["kind"], "task");
    server.rpc("tasks/cancel", json!({ "id": waiting })).await;
    assert_eq!(stream.next().await.unwrap()["status"]["state"], "canceled");
    assert!(stream.next().await.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notifications_in_the_old_version() {
    let (server, _directory) = Server::new().await;
    let task = server.rpc("message/send", old("a question")).await["id"].clone();
    let config = json!({ "taskId": task, "pushNotificationConfig": {
        "url": "https://example.org/hook", "token": "t", "authentication": { "schemes": ["Bearer"] } } });
    let made = server.rpc("tasks/pushNotificationConfig/set", config).await;
    assert_eq!(made["pushNotificationConfig"]["url"], "https://example.org/hook");
    let id = made["pushNotificationConfig"]["id"].clone();
    let found = server.rpc("tasks/pushNotificationConfig/get", json!({ "id": task })).await;
    assert_eq!(found, made);
    let all = server.rpc("tasks/pushNotificationConfig/list", json!({ "id": task })).await;
    assert_eq!(all, json!([made]));
    let which = json!({ "id": task, "pushNotificationConfigId": id });
    assert!(server.rpc("tasks/pushNotificationConfig/delete", which.clone()).await.is_null());
    assert_eq!(server.rpc_error("tasks/pushNotificationConfig/get", which).await, -32001);
}
