//! Tests that a repeated message runs once and gets the same answer.

use futures_util::future::join_all;
use lango_store::DatabaseLocation;
use serde_json::{Value, json};

use crate::fixture::{Server, ServerOptions, message, send, send_to, serve};

/// Returns the number of requests to the model.
fn asked(server: &Server) -> usize {
    server.model.requests().len()
}

pub(crate) async fn a_repeated_message_runs_once(location: DatabaseLocation) {
    let server = serve(&location, ServerOptions::default()).await;
    for text in ["do something", "small talk"] {
        let request = json!({ "message": message(&format!("m-{text}"), text) });
        let first = server.rpc("SendMessage", request.clone()).await;
        let calls = asked(&server);
        let again = server.rpc("SendMessage", request.clone()).await;
        assert_eq!(first, again);
        let (status, other_binding) =
            server.http("POST", "message:send", Some(request.clone())).await;
        assert_eq!((status, &other_binding), (200, &first));
        assert_eq!(asked(&server), calls, "nothing ran again");
        let streamed = server.stream("SendStreamingMessage", request).await.all().await;
        assert_eq!(streamed, [first]);
    }
    // Another message with the same id is another message.
    let other = json!({ "message": message("m-do something", "do something else") });
    let one =
        server.rpc("SendMessage", json!({ "message": message("m-do something", "do something") }));
    assert_ne!(one.await["task"]["id"], server.rpc("SendMessage", other).await["task"]["id"]);
}

pub(crate) async fn a_message_that_comes_many_times_at_once_runs_once(location: DatabaseLocation) {
    let server = serve(&location, ServerOptions::default()).await;
    let request = json!({ "message": message("at-once", "soon") });
    let sends = (0..12).map(|_| server.rpc("SendMessage", request.clone()));
    let answers = join_all(sends).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(answers[0]["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(asked(&server), 2, "one turn: the orchestrator and the planner");
    let listed = server.rpc("ListTasks", json!({})).await;
    assert_eq!(listed["totalSize"], 1);
}

pub(crate) async fn a_message_is_still_known_after_a_restart(location: DatabaseLocation) {
    let request = json!({ "message": message("before", "do something") });
    let greeting = json!({ "message": message("talk", "small talk") });
    let first = serve(&location, ServerOptions::default()).await;
    let (task, answer) = (
        first.rpc("SendMessage", request.clone()).await,
        first.rpc("SendMessage", greeting.clone()).await,
    );
    first.endpoint.close().await;
    drop(first);
    let second = serve(&location, ServerOptions::default()).await;
    assert_eq!(second.rpc("SendMessage", request).await, task);
    assert_eq!(second.rpc("SendMessage", greeting).await, answer);
    assert_eq!(asked(&second), 0);
}

pub(crate) async fn further_messages_of_a_task_are_recognised_too(location: DatabaseLocation) {
    let server = serve(&location, ServerOptions::default()).await;
    let task = server.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    let more = send_to(task.as_str().unwrap(), "the second one");
    let first = server.rpc("SendMessage", more.clone()).await;
    assert_eq!(first["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    let calls = asked(&server);
    // The task has ended, and a new message would be refused.
    assert_eq!(server.rpc("SendMessage", more).await, first);
    assert_eq!(asked(&server), calls);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_callers_are_not_told_apart_only_a_named_context_makes_a_repetition() {
    let mut options = ServerOptions::default();
    options.settings.callers_are_known = false;
    let (server, _directory) = Server::with_options(options).await;
    let bare = json!({ "message": message("same", "do something") });
    let ids = [
        server.rpc("SendMessage", bare.clone()).await,
        server.rpc("SendMessage", bare.clone()).await,
    ];
    assert_ne!(ids[0]["task"]["id"], ids[1]["task"]["id"]);
    let mut named: Value = bare;
    named["message"]["contextId"] = json!("here");
    let first = server.rpc("SendMessage", named.clone()).await;
    assert_eq!(first, server.rpc("SendMessage", named).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_hangs_up_finds_its_answer() {
    use tokio::io::AsyncWriteExt as _;
    let (server, _directory) = Server::new().await;
    let address = server.url.trim_start_matches("http://");
    for number in 0..100_u64 {
        let request = json!({ "message": message(&format!("hung-up-{number}"), "do something") });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": request })
            .to_string();
        let head = format!(
            "POST /a2a HTTP/1.1\r\nhost: x\r\na2a-version: 1.0\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
        connection.write_all((head + &body).as_bytes()).await.unwrap();
        // At different points of its processing.
        tokio::time::sleep(std::time::Duration::from_micros(20 * number)).await;
        drop(connection);
        let answer = server.rpc("SendMessage", request).await;
        assert_eq!(answer["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{number}");
    }
    assert_eq!(server.rpc("ListTasks", json!({})).await["totalSize"], 100);
    assert_eq!(asked(&server), 200, "each of them ran once");
}
