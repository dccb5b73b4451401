//! Clients that leave, and servers that are told to.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::http::{read, read_until};
use super::{ECHO, Server, slow, turns, user};
use crate::fixture::Lango;
use crate::invocation::until;

fn streamed(text: &str) -> serde_json::Value {
    json!({ "model": "lango", "stream": true, "messages": [user(text)] })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_ends_with_its_client_unless_it_was_detached() {
    let lango = Lango::playing(&[&slow(1500, "It was not heard."), ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let path = "/v1/chat/completions";
    let open =
        || async { server.owner("GET", "/health").send().await.json()["open_turns"].clone() };
    for stream in [true, false] {
        let body = json!({ "model": "lango", "stream": stream, "messages": [user("slow")] });
        let before = lango.received().len();
        let connection = server.owner("POST", path).json(&body).begin().await;
        until("the model is asked", || lango.received().len() > before).await;
        assert_eq!(open().await, 1);
        drop(connection);
        while open().await != 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert_eq!(turns(&lango).await, (2, 0));
    let request = server.owner("POST", path).header("x-lango-detach", "1");
    let connection = request.json(&streamed("slow again")).begin().await;
    until("the model is asked", || lango.received().len() == 3).await;
    drop(connection);
    while open().await != 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(turns(&lango).await, (3, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_told_to_end_lets_a_stream_come_to_its_end() {
    let lango = Lango::playing(&[&slow(1500, "In time."), ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let request = server.owner("POST", "/v1/chat/completions").json(&streamed("slow"));
    let mut stream = request.begin().await;
    read_until(&mut stream, "assistant").await;
    until("the model is asked", || !lango.received().is_empty()).await;
    server.signal(Signal::TERM);
    let rest = read(stream).await;
    let rest = format!("{}{}", rest.head, rest.body);
    assert!(rest.contains("In time.") && rest.contains("[DONE]"), "{rest}");
    let ended = server.finish().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(turns(&lango).await, (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_end_in_time_says_so_and_can_be_gone_on_with() {
    let lango = Lango::playing(&["[[reply]]\ntimes = 1\nfault = \"silence\"\n", ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let request = server.owner("POST", "/v1/chat/completions").json(&streamed("go"));
    let mut stream = request.begin().await;
    read_until(&mut stream, "assistant").await;
    until("the model is asked", || !lango.received().is_empty()).await;
    server.signal(Signal::INT);
    let rest = read(stream).await;
    let rest = format!("{}{}", rest.head, rest.body);
    assert!(rest.contains("shutting_down") && rest.contains("[DONE]"), "{rest}");
    let ended = server.finish().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("lango resume"), "{ended:?}");
    let resumed = lango.command(&["resume", "--last"]).run().await;
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(turns(&lango).await, (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_server_ends_at_once_with_connections_open() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    // One that says nothing, and one that says half of something.
    let _silent = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let mut half = tokio::net::TcpStream::connect(server.address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut half, b"GET /health HTTP/1.1\r\n").await.unwrap();
    assert_eq!(server.say("hello").await.status, 200);
    assert_eq!(server.stop().await.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_say_nothing_do_not_keep_the_owner_waiting() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let mut silent = Vec::new();
    for _ in 0..400 {
        silent.push(tokio::net::TcpStream::connect(server.address).await.unwrap());
    }
    // Less than a silent connection is given, after which there would be room in any case.
    let answered = tokio::time::timeout(Duration::from_secs(12), server.say("hello")).await;
    assert_eq!(answered.expect("the owner waits for silent connections").status, 200);
    drop(silent);
    assert_eq!(server.stop().await.code, 0);
}
