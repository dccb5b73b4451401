//! Tests streams: their updates add up to the task, for every follower and from any starting point.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::fixture::{Server, seen, send, send_to};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_adds_up_to_the_task() {
    let (server, _directory) = Server::new().await;
    for text in ["do something", "drip", "data", "a question", "reject this", "broken"] {
        let events = server.stream("SendStreamingMessage", send(text)).await.all().await;
        assert!(events[0]["task"].is_object(), "{text}: {events:?}");
        let sum = seen(&events);
        let task = server.rpc("GetTask", json!({ "id": sum["id"] })).await;
        assert_eq!(sum, task, "{text}");
        let last = events.last().unwrap();
        assert!(last["statusUpdate"].is_object(), "{last}");
    }
    let talk = server.stream("SendStreamingMessage", send("small talk")).await.all().await;
    assert_eq!(talk.len(), 1);
    assert!(talk[0]["message"].is_object());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_come_in_pieces_and_the_last_says_so() {
    let (server, _directory) = Server::new().await;
    let events = server.stream("SendStreamingMessage", send("drip")).await.all().await;
    let pieces: Vec<&Value> =
        events.iter().filter_map(|event| event.get("artifactUpdate")).collect();
    assert!(pieces.len() > 2, "{pieces:?}");
    let (first, last) = (pieces[0], pieces[pieces.len() - 1]);
    assert_eq!((&first["append"], &first["lastChunk"]), (&json!(false), &json!(false)));
    assert_eq!((&last["append"], &last["lastChunk"]), (&json!(true), &json!(true)));
    let text: String = pieces
        .iter()
        .map(|piece| piece["artifact"]["parts"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        text.trim_end(),
        "One two three four five six seven eight nine ten. ".repeat(5).trim_end()
    );
}

/// Cuts a stream after each of its events: nothing is lost or repeated after it is resumed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_cut_anywhere_is_taken_up_without_loss_or_repetition() {
    let (server, _directory) = Server::new().await;
    let uncut = server.stream("SendStreamingMessage", send("drip")).await.all().await;
    let answers = join_all((1..uncut.len()).map(|cut| cut_after(&server, cut))).await;
    let taken_up: Vec<Value> = answers.into_iter().flatten().collect();
    assert!(taken_up.len() > 5, "only {} of {} cuts came in time", taken_up.len(), uncut.len());
    for task in taken_up {
        assert_eq!(task["artifacts"], seen(&uncut)["artifacts"]);
    }
}

/// Returns the task as known after a cut; none if it had ended before it was requested again.
async fn cut_after(server: &Server, cut: usize) -> Option<Value> {
    let mut stream = server.stream("SendStreamingMessage", send("drip")).await;
    let mut before = Vec::new();
    for _ in 0..cut {
        before.extend(stream.next().await);
    }
    drop(stream);
    let id = seen(&before)["id"].clone();
    let after = server.stream_if_any("SubscribeToTask", json!({ "id": id })).await?.all().await;
    assert!(after[0]["task"].is_object());
    let whole = server.rpc("GetTask", json!({ "id": id })).await;
    assert_eq!(seen(&after), whole, "cut after {cut}");
    Some(whole)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_who_follows_sees_the_same_over_further_turns_too() {
    let (server, _directory) = Server::new().await;
    let id = server.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    let mut streams = Vec::new();
    for _ in 0..4 {
        streams.push(server.stream("SubscribeToTask", json!({ "id": id })).await);
    }
    streams.push(
        server.http_stream(&format!("tasks/{}:subscribe", id.as_str().unwrap()), json!({})).await,
    );
    // One of them disconnects, which does not affect the others.
    let mut gone = streams.remove(0);
    assert!(gone.next().await.unwrap()["task"].is_object());
    drop(gone);
    let all = tokio::spawn(join_all(streams.into_iter().map(crate::fixture::Events::all)));
    server.rpc("SendMessage", send_to(id.as_str().unwrap(), "drip")).await;
    let all = all.await.unwrap();
    let task = server.rpc("GetTask", json!({ "id": id })).await;
    for events in &all {
        assert_eq!(events, &all[0]);
    }
    let mut sum = seen(&all[0]);
    // The history grows with messages, which streams do not include.
    sum["history"] = task["history"].clone();
    assert_eq!(sum, task);
    assert_eq!(all[0].last().unwrap()["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_the_endpoint_ends_every_stream() {
    let (server, _directory) = Server::new().await;
    let id = server.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    let mut stream = server.stream("SubscribeToTask", json!({ "id": id })).await;
    assert!(stream.next().await.is_some());
    server.endpoint.close().await;
    assert!(stream.next().await.is_none());
}
