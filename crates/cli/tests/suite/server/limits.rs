//! Requests that are too large, too many or not HTTP at all.

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::http::read;
use super::{ECHO, Server, user};
use crate::fixture::Lango;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_turned_away_before_it_is_read() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let path = "/v1/chat/completions";
    let announced = server.owner("POST", path).header("content-length", "9999999999").send().await;
    assert_eq!(announced.status, 413, "{announced:?}");
    assert_eq!(announced.json()["error"]["code"], "body_too_large");
    let other = server.owner("POST", "/mcp").body(vec![b' '; 5 * 1024 * 1024]).send().await;
    assert_eq!(other.status, 413, "{other:?}");
    // Without a length, in chunks that never end.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let piece = [b"100000\r\n".as_slice(), &vec![b'x'; 0x10_0000], b"\r\n"].concat();
    for _ in 0..6 {
        if stream.write_all(&piece).await.is_err() {
            break;
        }
    }
    assert_eq!(read(stream).await.status, 413);
    let header = server.owner("GET", "/v1/models").header("x-large", &"x".repeat(100_000));
    assert_eq!(header.send().await.status, 431);
    let long = json!({ "model": "lango", "messages": [user(&"x".repeat(2 * 1024 * 1024))] });
    let long = server.owner("POST", path).json(&long).send().await;
    assert_eq!(long.json()["error"]["code"], "context_length_exceeded");
    // A request without a token does not make it read a body.
    let stranger = server.request("POST", path).header("content-length", "9999999999");
    assert_eq!(stranger.send().await.status, 401);
    assert_eq!(server.say("hello").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_and_half_requests_cost_other_clients_nothing() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let mut held = Vec::new();
    for number in 0..200 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let bytes: &[u8] = match number % 4 {
            0 => b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ",
            1 => b"\x16\x03\x01\x02\x00\x01\x00",
            2 => b"GET / HTTP/9.9\r\n\r\n",
            _ => b"",
        };
        stream.write_all(bytes).await.unwrap();
        held.push(stream);
    }
    let answer = server.say("hello").await;
    assert_eq!(answer.text(), "You said something.");
    drop(held);
    assert_eq!(server.stop().await.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_holds_up_no_other_client() {
    let long = "[[reply]]\nuser = \"long\"\nsay = \"0123456789\"\nrepeat = 20000\n";
    let lango = Lango::playing(&[long, ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let body = json!({ "model": "lango", "stream": true, "messages": [user("long")] });
    let path = "/v1/chat/completions";
    let mut unread = Vec::new();
    for _ in 0..8 {
        unread.push(server.owner("POST", path).json(&body).begin().await);
    }
    assert_eq!(server.say("hello").await.status, 200);
    // A client that reads after all gets everything.
    for stream in unread {
        let answer = read(stream).await;
        assert_eq!(answer.streamed().len(), 200_000);
    }
}
