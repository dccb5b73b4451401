//! Tests lists and their pages.

use lango_store::DatabaseLocation;
use serde_json::{Value, json};

use crate::fixture::{Server, ServerOptions, send, serve};

async fn pages(server: &Server, size: usize, between: bool) -> Vec<Vec<Value>> {
    let mut pages = Vec::new();
    let mut token = String::new();
    loop {
        let page = server.rpc("ListTasks", json!({ "pageSize": size, "pageToken": token })).await;
        pages.push(page["tasks"].as_array().unwrap().clone());
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        assert_eq!(page["pageSize"], size);
        if token.is_empty() {
            return pages;
        }
        if between {
            server.rpc("SendMessage", send("one more")).await;
        }
    }
}

pub(crate) async fn every_task_is_on_exactly_one_page(location: DatabaseLocation) {
    let server = serve(&location, ServerOptions::default()).await;
    let mut made = Vec::new();
    for _ in 0..11 {
        made.push(server.rpc("SendMessage", send("do something")).await["task"]["id"].clone());
    }
    // Small talk is not a task, and is in no list.
    server.rpc("SendMessage", send("small talk")).await;
    made.reverse();
    for size in [1, 2, 3, 5, 10, 11, 12, 100] {
        let all = pages(&server, size, false).await;
        assert_eq!(all.len(), 11_usize.div_ceil(size), "{size}");
        let ids: Vec<Value> = all.iter().flatten().map(|task| task["id"].clone()).collect();
        assert_eq!(ids, made, "the latest first, {size} on a page");
    }
    // New tasks do not shift the pages that were not read yet.
    let all = pages(&server, 3, true).await;
    let ids: Vec<Value> = all.iter().flatten().map(|task| task["id"].clone()).collect();
    assert_eq!(ids, made);
    assert!(all.iter().flatten().all(|task| task.get("artifacts").is_none()));
}

pub(crate) async fn filters_choose(location: DatabaseLocation) {
    let server = serve(&location, ServerOptions::default()).await;
    let mut here = send("do something");
    here["message"]["contextId"] = json!("here");
    server.rpc("SendMessage", here).await;
    let second = server.rpc("SendMessage", send("a question")).await["task"].clone();
    let list = async |filter: Value| server.rpc("ListTasks", filter).await;
    let only = list(json!({ "contextId": "here" })).await;
    assert_eq!((&only["totalSize"], &only["tasks"][0]["contextId"]), (&json!(1), &json!("here")));
    assert_eq!(list(json!({ "contextId": "nowhere" })).await["totalSize"], 0);
    let waiting = list(json!({ "status": "TASK_STATE_INPUT_REQUIRED" })).await;
    assert_eq!((&waiting["totalSize"], &waiting["tasks"][0]["id"]), (&json!(1), &second["id"]));
    let at = &second["status"]["timestamp"];
    let since = list(json!({ "statusTimestampAfter": at, "includeArtifacts": true })).await;
    assert!(since["tasks"].as_array().unwrap().iter().any(|task| task["id"] == second["id"]));
    assert_eq!(
        list(json!({ "statusTimestampAfter": "2999-01-01T00:00:00Z" })).await["totalSize"],
        0
    );
    let bare = list(json!({ "historyLength": 0 })).await;
    assert!(bare["tasks"].as_array().unwrap().iter().all(|task| task.get("history").is_none()));
    let usual = list(json!({})).await;
    assert!(usual["tasks"].as_array().unwrap().iter().all(|task| task.get("history").is_none()));
    let asked = list(json!({ "historyLength": 5 })).await;
    assert!(asked["tasks"].as_array().unwrap().iter().all(|task| task["history"].is_array()));
    let full = list(json!({ "include_artifacts": true, "context_id": "here" })).await;
    assert_eq!(full["tasks"][0]["artifacts"][0]["parts"][0]["text"], "The answer.");
    for wrong in [
        json!({ "pageSize": 0 }),
        json!({ "pageSize": 101 }),
        json!({ "historyLength": -1 }),
        json!({ "status": "done" }),
        json!({ "pageToken": "made up" }),
        json!({ "statusTimestampAfter": "yesterday" }),
    ] {
        assert_eq!(server.rpc_error("ListTasks", wrong.clone()).await, -32602, "{wrong}");
    }
    for path in
        ["tasks?pageSize=0", "tasks?status=done", "tasks?pageToken=x", "tasks?includeArtifacts=2"]
    {
        assert_eq!(server.http("GET", path, None).await.0, 400, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_full_of_words_ends_early() {
    let (server, _directory) = Server::new().await;
    let mut made = Vec::new();
    for _ in 0..4 {
        let long = format!("do something {}", "x".repeat(3_500_000));
        made.push(server.rpc("SendMessage", send(&long)).await["task"]["id"].clone());
    }
    made.reverse();
    let first = server.rpc("ListTasks", json!({ "historyLength": 5 })).await;
    let ids = |page: &Value| -> Vec<Value> {
        page["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect()
    };
    assert_eq!(ids(&first), made[..3]);
    let token = &first["nextPageToken"];
    let second = server.rpc("ListTasks", json!({ "historyLength": 5, "pageToken": token })).await;
    assert_eq!((ids(&second), &second["nextPageToken"]), (made[3..].to_vec(), &json!("")));
    assert_eq!(ids(&server.rpc("ListTasks", json!({})).await), made);
}
