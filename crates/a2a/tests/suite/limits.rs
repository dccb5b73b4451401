//! Tests that everything has a limit, and that requests over it fail with errors of the protocol.

use reqwest::Method;
use serde_json::{Value, json};

use crate::fixture::{Server, ServerOptions, send, send_to};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_large_or_too_much_is_refused() {
    let mut options = ServerOptions::default();
    options.settings.body_bytes = 20_000;
    let (server, _directory) = Server::with_options(options).await;
    for path in ["/a2a", "/a2a/v1/message:send"] {
        let request = server.raw(Method::POST, path).header("A2A-Version", "1.0");
        let request = request.header("content-type", "application/json").body(" ".repeat(20_001));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 413, "{path}");
        let body: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert!(body["error"]["message"].as_str().unwrap().contains("20000"), "{body}");
    }
    let mut many = send("x");
    many["message"]["parts"] = json!(vec![json!({ "text": "x" }); 65]);
    assert_eq!(server.rpc_error("SendMessage", many).await, -32602);
    for id in ["", "a\u{0}b", &"x".repeat(257)] {
        let mut odd = send("x");
        odd["message"]["messageId"] = json!(id);
        assert_eq!(server.rpc_error("SendMessage", odd.clone()).await, -32602);
        odd["message"]["messageId"] = json!("fine");
        odd["message"]["contextId"] = json!(id);
        if id.is_empty() {
            // An empty id equals none.
            odd["message"]["taskId"] = json!("");
            server.rpc("SendMessage", odd).await;
        } else {
            assert_eq!(server.rpc_error("SendMessage", odd).await, -32602);
        }
    }
    for id in ["", "'", "../..", &"9".repeat(5000)] {
        assert_eq!(server.rpc_error("GetTask", json!({ "id": id })).await, -32001);
    }
    assert_eq!(server.rpc_error("SendMessage", send_to("nothing", "x")).await, -32001);
    for (length, code) in [(256, -32001), (257, -32600)] {
        let call = json!({ "jsonrpc": "2.0", "id": "x".repeat(length), "method": "GetTask",
                           "params": { "id": "x" } });
        let request = server.raw(Method::POST, "/a2a").header("A2A-Version", "1.0");
        let request = request.header("content-type", "application/json").body(call.to_string());
        let answer = request.send().await.unwrap().bytes().await.unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_caller_has_so_many_turns_and_streams_at_once() {
    let mut options = ServerOptions::default();
    options.settings.turns_of_caller = 2;
    options.settings.followers_of_task = 2;
    options.settings.notifications_of_task = 2;
    let (server, _directory) = Server::with_options(options).await;
    let mut at_once = Vec::new();
    for _ in 0..2 {
        let mut slow = send("slow");
        slow["configuration"] = json!({ "returnImmediately": true });
        at_once.push(server.rpc("SendMessage", slow).await["task"]["id"].clone());
    }
    let (status, body) = server.http("POST", "message:send", Some(send("do something"))).await;
    assert_eq!((status, &body["error"]["status"]), (429, &json!("RESOURCE_EXHAUSTED")));
    // The limit applies to this caller alone.
    let other = server.rpc_as("bob", "SendMessage", send("do something")).await;
    assert!(other["result"]["task"].is_object(), "{other}");

    let task = json!({ "id": at_once[0] });
    let first = server.stream("SubscribeToTask", task.clone()).await;
    let second = server.stream("SubscribeToTask", task.clone()).await;
    let third = server.rpc_as("ada", "SubscribeToTask", task.clone()).await;
    assert_eq!(third["error"]["data"][0]["reason"], "RESOURCE_EXHAUSTED");
    drop((first, second));

    for name in ["a", "b", "a"] {
        let config = json!({ "taskId": at_once[0], "id": name, "url": "https://example.org/" });
        server.rpc("CreateTaskPushNotificationConfig", config).await;
    }
    let config = json!({ "taskId": at_once[0], "id": "c", "url": "https://example.org/" });
    let refused = server.rpc_as("ada", "CreateTaskPushNotificationConfig", config).await;
    assert_eq!(refused["error"]["data"][0]["reason"], "RESOURCE_EXHAUSTED");
    // The permit is free again.
    server.rpc("CancelTask", task).await;
    server.rpc("SendMessage", send("do something")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_does_not_lead_into_the_network_of_this_machine() {
    let (server, _directory) = Server::new().await;
    let task = server.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    for url in [
        "http://127.0.0.1:8080/",
        "http://localhost/",
        "http://[::1]/",
        "http://169.254.169.254/latest",
        "http://2130706433/",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "ftp://example.org/",
        "https://user:secret@example.org/",
        "nonsense",
        "",
    ] {
        let config = json!({ "taskId": task, "url": url });
        let code = server.rpc_error("CreateTaskPushNotificationConfig", config.clone()).await;
        assert_eq!(code, -32602, "{url}");
        let mut inline = send("do something");
        inline["configuration"] = json!({ "taskPushNotificationConfig": { "url": url } });
        assert_eq!(server.rpc_error("SendMessage", inline).await, -32602, "{url}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_leaves_nothing_behind() {
    let mut options = ServerOptions::default();
    options.settings.followers_of_task = 1;
    options.settings.notifications_of_task = 1;
    let (server, _directory) = Server::with_options(options).await;
    let task = server.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    let config = json!({ "taskId": task, "id": "a", "url": "https://example.org/" });
    server.rpc("CreateTaskPushNotificationConfig", config).await;
    let mut more = send_to(task.as_str().unwrap(), "the second");
    more["configuration"] =
        json!({ "taskPushNotificationConfig": { "id": "b", "url": "https://example.org/" } });
    let subscribed = server.stream("SubscribeToTask", json!({ "id": task })).await;
    let plain = json!({ "message": more["message"] });
    for (method, request) in [("SendMessage", &more), ("SendStreamingMessage", &plain)] {
        for _ in 0..2 {
            let refused = server.rpc_as("ada", method, request.clone()).await;
            assert_eq!(refused["error"]["data"][0]["reason"], "RESOURCE_EXHAUSTED", "{refused}");
        }
    }
    drop(subscribed);
    // The same message, in an acceptable form.
    let done = server.rpc("SendMessage", plain).await;
    assert_eq!(done["task"]["status"]["state"], "TASK_STATE_COMPLETED");
}
