//! A small HTTP client: one request, one connection, one answer.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long an answer may take before the request is repeated.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Sends JSON and returns the status with the answer.
pub(crate) async fn post(
    address: SocketAddr,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Result<(u16, Value)> {
    tokio::time::timeout(ANSWER_TIMEOUT, exchange(address, path, headers, body)).await?
}

async fn exchange(
    address: SocketAddr,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address).await?;
    let body = body.to_string();
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nconnection: \
         close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let text = String::from_utf8(answer)?;
    let (head, body) = text.split_once("\r\n\r\n").context("no answer")?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    // The answer of a server that ends can be cut.
    Ok((status, serde_json::from_str(&join_chunks(head, body)).unwrap_or(Value::Null)))
}

/// Returns the body without the lengths of its chunks, if it has such.
fn join_chunks(head: &str, body: &str) -> String {
    if !head.to_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    let mut joined = String::new();
    let mut rest = body;
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or(0);
        let Some(chunk) = after.get(..length).filter(|chunk| !chunk.is_empty()) else { break };
        joined.push_str(chunk);
        rest = after[length..].trim_start_matches("\r\n");
    }
    joined
}
