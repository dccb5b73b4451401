//! HTTP by hand: what a client library would not send, or would hide.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Limits how long a test waits for an answer. It is longer than any answer takes.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

pub(crate) struct Request {
    address: SocketAddr,
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn new(address: SocketAddr, method: &str, path: &str) -> Self {
        let line = format!("{method} {path} HTTP/1.1");
        Self { address, line, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body(body.to_string()).header("content-type", "application/json")
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let named = |name: &str| self.headers.iter().any(|header| header.0 == name);
        let mut head = format!("{}\r\n", self.line);
        if !named("host") {
            head.push_str(&format!("host: {}\r\n", self.address));
        }
        if !named("content-length") {
            head.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("connection: close\r\n\r\n");
        [head.as_bytes(), &self.body].concat()
    }

    /// Sends it, and returns the connection, to be read slowly or not at all.
    pub(crate) async fn begin(self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(&self.bytes()).await.unwrap();
        stream
    }

    /// Sends it, and reads to the end.
    pub(crate) async fn send(self) -> Answer {
        let bytes = self.bytes();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server that has read enough may close before all was sent.
        let _ = stream.write_all(&bytes).await;
        read(stream).await
    }
}

/// Reads an answer to its end.
pub(crate) async fn read(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let reading = stream.read_to_end(&mut bytes);
    // Reset is an end too, where the server did not want the rest.
    let _ = tokio::time::timeout(ANSWER_TIMEOUT, reading).await.expect("the server hangs");
    Answer::parse(&String::from_utf8_lossy(&bytes))
}

/// Reads until something came.
pub(crate) async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains(wanted) {
        let reading = stream.read(&mut buffer);
        let count = tokio::time::timeout(ANSWER_TIMEOUT, reading).await.expect("it hangs").unwrap();
        assert!(count > 0, "{wanted:?} did not come: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    text
}

impl Answer {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        let body = if chunked { unchunked(body) } else { body.to_owned() };
        Self { status, head: head.to_owned(), body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// A header; its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The words of the answer.
    pub(crate) fn text(&self) -> String {
        let json = self.json();
        let content = json["choices"][0]["message"]["content"].as_str();
        content.unwrap_or_else(|| panic!("no answer: {self:?}")).to_owned()
    }

    pub(crate) fn session(&self) -> String {
        self.header("x-lango-session").unwrap().to_owned()
    }

    /// The events of a stream; `[DONE]` as a text.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap_or(Value::from(data))).collect()
    }

    /// The words of a stream, put together.
    pub(crate) fn streamed(&self) -> String {
        let events = self.events();
        let pieces = events.iter().filter_map(|e| e["choices"][0]["delta"]["content"].as_str());
        pieces.collect()
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else { break };
        if size == 0 || rest.len() < size {
            break;
        }
        whole.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}
