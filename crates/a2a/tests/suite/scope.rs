//! Tests the ownership of tasks: for other callers a task does not exist, in any operation.

use lango_store::DatabaseLocation;
use serde_json::json;

use crate::fixture::{ServerOptions, send, send_to, serve};

pub(crate) async fn a_task_does_not_exist_for_another_caller(location: DatabaseLocation) {
    let server = serve(&location, ServerOptions::default()).await;
    let id = server.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    let id = id.as_str().unwrap();
    let config = json!({ "taskId": id, "id": "c", "url": "https://example.org/hook" });
    server.rpc("CreateTaskPushNotificationConfig", config.clone()).await;
    let nothing = uuid::Uuid::now_v7().to_string();
    let asks = |id: &str| {
        [
            ("GetTask", json!({ "id": id })),
            ("CancelTask", json!({ "id": id })),
            ("SubscribeToTask", json!({ "id": id })),
            ("SendMessage", send_to(id, "mine now")),
            ("SendStreamingMessage", send_to(id, "mine now")),
            (
                "CreateTaskPushNotificationConfig",
                json!({ "taskId": id, "url": "https://example.org" }),
            ),
            ("GetTaskPushNotificationConfig", json!({ "taskId": id, "id": "c" })),
            ("ListTaskPushNotificationConfigs", json!({ "taskId": id })),
            ("DeleteTaskPushNotificationConfig", json!({ "taskId": id, "id": "c" })),
        ]
    };
    for ((method, foreign), (_, unknown)) in asks(id).into_iter().zip(asks(&nothing)) {
        let foreign = server.rpc_as("eve", method, foreign).await.to_string();
        let unknown = server.rpc_as("eve", method, unknown).await.to_string();
        // The same message, except for the id of the request.
        assert_eq!(foreign.replace(id, "ID"), unknown.replace(&nothing, "ID"), "{method}");
        assert!(foreign.contains("-32001"), "{method}: {foreign}");
    }
    for (method, path, body) in [
        ("GET", format!("tasks/{id}"), None),
        ("POST", format!("tasks/{id}:cancel"), None),
        ("POST", format!("tasks/{id}:subscribe"), None),
        ("GET", format!("tasks/{id}/pushNotificationConfigs"), None),
        ("DELETE", format!("tasks/{id}/pushNotificationConfigs/c"), None),
        ("POST", "message:send".to_owned(), Some(send_to(id, "mine now"))),
    ] {
        assert_eq!(server.http_as("eve", method, &path, body).await.0, 404, "{method} {path}");
    }
    let list = server.rpc_as("eve", "ListTasks", json!({})).await;
    assert_eq!((&list["result"]["totalSize"], &list["result"]["tasks"]), (&json!(0), &json!([])));
    // None of this changed anything for its owner.
    assert_eq!(
        server.rpc("GetTask", json!({ "id": id })).await["status"]["state"],
        "TASK_STATE_INPUT_REQUIRED"
    );
    server.rpc("GetTaskPushNotificationConfig", json!({ "taskId": id, "id": "c" })).await;
}

pub(crate) async fn the_same_context_name_leads_each_caller_to_its_own(location: DatabaseLocation) {
    let server = serve(&location, ServerOptions::default()).await;
    let mut request = send("the word is cormorant");
    request["message"]["contextId"] = json!("shared");
    server.rpc("SendMessage", request.clone()).await;
    request["message"]["parts"][0]["text"] = json!("which word?");
    request["message"]["messageId"] = json!("other");
    let before = server.model.requests().len();
    let answer = server.rpc_as("eve", "SendMessage", request.clone()).await;
    assert_eq!(answer["result"]["task"]["contextId"], "shared");
    let requests = &server.model.requests()[before..];
    assert!(requests.iter().all(|request| !request.body.contains("cormorant")));
    let list = server.rpc_as("eve", "ListTasks", json!({ "contextId": "shared" })).await;
    assert_eq!(list["result"]["totalSize"], 1);
    // Its own conversation continues there.
    let before = server.model.requests().len();
    request["message"]["messageId"] = json!("another");
    server.rpc("SendMessage", request).await;
    let requests = &server.model.requests()[before..];
    assert!(requests.iter().any(|request| request.body.contains("cormorant")));
}
