//! Runs a server that sends exactly the given bytes, in exactly the given chunks.

use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// Is sent back on one connection, which is then closed.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) chunks: Vec<Vec<u8>>,
}

impl Response {
    pub(crate) fn new(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, content_type, chunks: vec![body.into()] }
    }
}

/// Represents a running server.
pub(crate) struct Server {
    /// The address, such as `http://127.0.0.1:1234`.
    pub(crate) url: String,
    /// The requests, as they came.
    pub(crate) requests: mpsc::UnboundedReceiver<String>,
}

/// Answers each connection with what `answer` makes of its number and its request.
pub(crate) async fn serve(
    answer: impl Fn(usize, &str) -> Response + Send + Sync + 'static,
) -> Server {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::unbounded_channel();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        for number in 0.. {
            let (socket, _) = listener.accept().await.unwrap();
            let (answer, sender) = (Arc::clone(&answer), sender.clone());
            tokio::spawn(async move {
                let mut socket = socket;
                let request = read_request(&mut socket).await;
                let response = answer(number, &request);
                // The test may not read the requests.
                let _ = sender.send(request);
                // A client that has read enough closes the connection.
                let _ = send(&mut socket, response).await;
            });
        }
    });
    Server { url, requests }
}

async fn read_request(socket: &mut TcpStream) -> String {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
            });
            if body.len() >= length.unwrap_or(0_usize) {
                return text;
            }
        }
        assert_ne!(socket.read_buf(&mut request).await.unwrap(), 0, "half a request: {text}");
    }
}

async fn send(socket: &mut TcpStream, response: Response) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let head = format!(
        "HTTP/1.1 {} X\r\ncontent-type: {}\r\nconnection: close\r\n\r\n",
        response.status, response.content_type
    );
    socket.write_all(head.as_bytes()).await?;
    for chunk in response.chunks {
        socket.write_all(&chunk).await?;
        // The client, on the same thread, reads what is there before the next chunk comes.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
    }
    socket.shutdown().await
}
