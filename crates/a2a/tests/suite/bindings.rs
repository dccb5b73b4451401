//! Tests that both bindings offer the same operations, with equal results and equal errors.

use reqwest::Method;
use serde_json::{Value, json};

use crate::fixture::{Server, send, send_to};

/// Returns a document without what differs between two runs: ids and times are replaced by the
/// order of their first appearance.
fn shape(value: &Value) -> String {
    let mut text = value.to_string();
    let mut names: Vec<String> = Vec::new();
    let mut collect = |value: &Value| {
        fn walk(value: &Value, found: &mut dyn FnMut(&str)) {
            match value {
                Value::String(text) => found(text),
                Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
                Value::Object(members) => members.values().for_each(|item| walk(item, found)),
                _ => {}
            }
        }
        walk(value, &mut |text| {
            let is_time = text.len() >= 20 && text.ends_with('Z') && text.contains('T');
            let is_new = !names.iter().any(|name| name == text);
            if (uuid::Uuid::try_parse(text).is_ok() || is_time) && is_new {
                names.push(text.to_owned());
            }
        });
    };
    collect(value);
    for name in &names {
        let stands_for = if name.ends_with('Z') { "TIME" } else { "ID" };
        text = text.replace(name.as_str(), stands_for);
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_comes_to_the_same_over_both() {
    let (server, _directory) = Server::new().await;
    for text in ["do something", "small talk", "a question", "data", "reject this", "broken"] {
        let over_rpc = server.rpc("SendMessage", send(text)).await;
        let (status, over_http) = server.http("POST", "message:send", Some(send(text))).await;
        assert_eq!(status, 200, "{text}: {over_http}");
        assert_eq!(shape(&over_rpc), shape(&over_http), "{text}");
        let over_rpc = server.stream("SendStreamingMessage", send(text)).await.all().await;
        let over_http = server.http_stream("message:stream", send(text)).await.all().await;
        assert_eq!(shape(&json!(over_rpc)), shape(&json!(over_http)), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_are_the_same_over_both() {
    let (server, _directory) = Server::new().await;
    let id = server.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    let id = id.as_str().unwrap();
    let task = server.rpc("GetTask", json!({ "id": id, "historyLength": 0 })).await;
    assert_eq!(
        server.http("GET", &format!("tasks/{id}?historyLength=0"), None).await,
        (200, task.clone())
    );
    assert!(task.get("history").is_none());
    let whole = server.rpc("GetTask", json!({ "id": id })).await;
    assert_eq!(server.http("GET", &format!("tasks/{id}"), None).await, (200, whole.clone()));
    assert_eq!(whole["history"].as_array().unwrap().len(), 1);
    let list = server.rpc("ListTasks", json!({ "pageSize": 5, "includeArtifacts": true })).await;
    assert_eq!(
        server.http("GET", "tasks?pageSize=5&includeArtifacts=true", None).await,
        (200, list)
    );

    let config = json!({ "id": "c", "url": "https://example.org/hook", "token": "t",
                         "authentication": { "scheme": "Bearer", "credentials": "secret" } });
    let mut over_rpc = config.clone();
    over_rpc["taskId"] = json!(id);
    let made = server.rpc("CreateTaskPushNotificationConfig", over_rpc).await;
    assert!(!made.to_string().contains("secret"), "credentials are not said again: {made}");
    let configs = format!("tasks/{id}/pushNotificationConfigs");
    assert_eq!(server.http("POST", &configs, Some(config)).await, (200, made.clone()));
    assert_eq!(server.http("GET", &format!("{configs}/c"), None).await, (200, made.clone()));
    assert_eq!(
        server.rpc("GetTaskPushNotificationConfig", json!({ "task_id": id, "id": "c" })).await,
        made
    );
    let all = server.rpc("ListTaskPushNotificationConfigs", json!({ "taskId": id })).await;
    assert_eq!(server.http("GET", &configs, None).await, (200, all.clone()));
    assert_eq!(all["configs"], json!([made]));
    assert_eq!(server.http("DELETE", &format!("{configs}/c"), None).await.0, 200);
    // A second call changes nothing.
    server.rpc("DeleteTaskPushNotificationConfig", json!({ "taskId": id, "id": "c" })).await;
    assert_eq!(server.http("GET", &format!("{configs}/c"), None).await.0, 404);

    let other = server.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    let canceled = server.rpc("CancelTask", json!({ "id": id })).await;
    let path = format!("tasks/{}:cancel", other.as_str().unwrap());
    let (status, also) = server.http("POST", &path, None).await;
    assert_eq!((status, shape(&also)), (200, shape(&canceled)));
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_are_the_same_over_both() {
    let (server, _directory) = Server::new().await;
    let ended = server.rpc("SendMessage", send("do something")).await["task"]["id"].clone();
    let ended = ended.as_str().unwrap();
    let strange = json!({ "message": { "messageId": "m", "role": "ROLE_USER",
        "parts": [{ "raw": "dGNr", "mediaType": "application/x-unsupported" }] } });
    let mut contradiction = send_to(ended, "x");
    contradiction["message"]["contextId"] = json!("another");
    let cases = [
        ("GetTask", json!({ "id": "t" }), "GET", "tasks/t".to_owned(), None, 404, -32001),
        (
            "CancelTask",
            json!({ "id": ended }),
            "POST",
            format!("tasks/{ended}:cancel"),
            None,
            400,
            -32002,
        ),
        (
            "SubscribeToTask",
            json!({ "id": ended }),
            "POST",
            format!("tasks/{ended}:subscribe"),
            None,
            400,
            -32004,
        ),
        (
            "SendMessage",
            send_to(ended, "x"),
            "POST",
            "message:send".to_owned(),
            Some(send_to(ended, "x")),
            400,
            -32004,
        ),
        (
            "SendMessage",
            strange.clone(),
            "POST",
            "message:send".to_owned(),
            Some(strange),
            400,
            -32005,
        ),
        (
            "SendMessage",
            contradiction.clone(),
            "POST",
            "message:send".to_owned(),
            Some(contradiction),
            400,
            -32602,
        ),
        (
            "ListTasks",
            json!({ "pageSize": 1000 }),
            "GET",
            "tasks?pageSize=1000".to_owned(),
            None,
            400,
            -32602,
        ),
        (
            "GetExtendedAgentCard",
            json!({}),
            "GET",
            "extendedAgentCard".to_owned(),
            None,
            400,
            -32004,
        ),
        (
            "CreateTaskPushNotificationConfig",
            json!({ "taskId": ended, "url": "http://127.0.0.1:1/" }),
            "POST",
            format!("tasks/{ended}/pushNotificationConfigs"),
            Some(json!({ "url": "http://127.0.0.1:1/" })),
            400,
            -32602,
        ),
    ];
    for (method, params, verb, path, body, status, code) in cases {
        let over_rpc = server.rpc_as("ada", method, params).await;
        let (found, over_http) = server.http(verb, &path, body).await;
        assert_eq!(
            (found, over_rpc["error"]["code"].as_i64()),
            (status, Some(code)),
            "{method}: {over_rpc}"
        );
        assert_eq!(over_rpc["error"]["message"], over_http["error"]["message"], "{method}");
        assert_eq!(over_rpc["error"]["data"], over_http["error"]["details"], "{method}");
        assert_eq!(over_http["error"]["code"], status);
        let info = &over_http["error"]["details"][0];
        assert_eq!(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
        assert_eq!(info["domain"], "a2a-protocol.org");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_request_is_refused_as_the_text_says() {
    let (server, _directory) = Server::new().await;
    let rpc = async |kind: Option<&str>, body: &str| -> Value {
        let mut request = server.raw(Method::POST, "/a2a/").header("A2A-Version", "1.0");
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let answer = request.body(body.to_owned()).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    };
    let json_type = Some("application/json; charset=utf-8");
    for (kind, body, code) in [
        (Some("text/plain"), "{'not': 'json'}", -32005),
        (None, "{}", -32005),
        (json_type, "{'not': 'json'}", -32700),
        (json_type, "[]", -32600),
        (json_type, r#"{"id": 1}"#, -32600),
        (json_type, r#"{"jsonrpc": "1.0", "id": 1, "method": "GetTask"}"#, -32600),
        (json_type, r#"{"jsonrpc": "2.0", "id": {}, "method": "GetTask"}"#, -32600),
        (json_type, r#"{"jsonrpc": "2.0", "id": 1, "method": "Nothing"}"#, -32601),
        (
            json_type,
            r#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {}}"#,
            -32602,
        ),
        (
            json_type,
            r#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": [1]}"#,
            -32602,
        ),
    ] {
        let answer = rpc(kind, body).await;
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
        assert_eq!(answer["jsonrpc"], "2.0");
    }
    let http = async |kind: &str, body: &str| {
        let request = server.raw(Method::POST, "/a2a/v1/message:send").header("A2A-Version", "1.0");
        request.header("content-type", kind).body(body.to_owned()).send().await.unwrap()
    };
    assert_eq!(http("text/plain", "{}").await.status(), 400);
    assert_eq!(http("application/json", "{").await.status(), 400);
    assert_eq!(http("application/a2a+json", "{}").await.status(), 400);
    let (status, body) = server.http("GET", "nothing/here", None).await;
    assert_eq!((status, &body["error"]["code"]), (404, &json!(404)));
    // The protocol's own type, unless the client wants plain JSON.
    let answer = http("application/json", &send("do something").to_string()).await;
    assert_eq!(answer.headers()["content-type"], "application/a2a+json");
    let plain = server.raw(Method::GET, "/a2a/v1/tasks").header("A2A-Version", "1.0");
    let plain = plain.header("accept", "application/json").send().await.unwrap();
    assert_eq!(plain.headers()["content-type"], "application/json");
}
