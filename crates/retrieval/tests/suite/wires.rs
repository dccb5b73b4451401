//! Tests remote embedders, each with its own API, against a server on loopback that reads requests
//! as strictly as the provider does.

use std::sync::{Arc, Mutex};

use lango_retrieval::{EmbedError, Embedder, EmbeddingPurpose, RemoteEmbedder, RemoteWire};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Represents a received request.
#[derive(Debug, Clone)]
struct ReceivedRequest {
    path: String,
    headers: Vec<String>,
    body: Value,
}

type Answer = fn(&ReceivedRequest, usize) -> (u16, Option<&'static str>, String);

/// Answers requests until the test ends; the second part has what came in.
async fn server(answer: Answer) -> (String, Arc<Mutex<Vec<ReceivedRequest>>>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let received = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&received);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let log = Arc::clone(&log);
            tokio::spawn(serve(stream, answer, log));
        }
    });
    (address, received)
}

async fn serve(stream: TcpStream, answer: Answer, log: Arc<Mutex<Vec<ReceivedRequest>>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_lowercase());
        }
        let length: usize = lines
            .iter()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
            .unwrap();
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let path = lines[0].split(' ').nth(1).unwrap().to_owned();
        let body = serde_json::from_slice(&body).unwrap();
        let request = ReceivedRequest { path, headers: lines, body };
        let number = {
            let mut log = log.lock().unwrap();
            log.push(request.clone());
            log.len()
        };
        let (status, extra, text) = answer(&request, number);
        let extra = extra.map(|line| format!("{line}\r\n")).unwrap_or_default();
        let reply = format!(
            "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n{extra}\
             content-length: {}\r\n\r\n{text}",
            text.len()
        );
        if stream.get_mut().write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Returns a vector that encodes the length of its text, and is not yet of length one.
fn vector(text: &Value) -> Value {
    json!([3.0, text.as_str().unwrap().len()])
}

fn openai(request: &ReceivedRequest, _: usize) -> (u16, Option<&'static str>, String) {
    let texts = request.body["input"].as_array().unwrap();
    let items = texts.iter().enumerate();
    // In another order, as the wire allows.
    let data: Vec<Value> = items
        .rev()
        .map(|(index, text)| json!({ "index": index, "embedding": vector(text) }))
        .collect();
    (200, None, json!({ "data": data, "usage": {} }).to_string())
}

fn gemini(request: &ReceivedRequest, _: usize) -> (u16, Option<&'static str>, String) {
    let requests = request.body["requests"].as_array().unwrap();
    let values: Vec<Value> = requests
        .iter()
        .map(|item| json!({ "values": vector(&item["content"]["parts"][0]["text"]) }))
        .collect();
    (200, None, json!({ "embeddings": values }).to_string())
}

fn ollama(request: &ReceivedRequest, _: usize) -> (u16, Option<&'static str>, String) {
    let texts = request.body["input"].as_array().unwrap();
    let vectors: Vec<Value> = texts.iter().map(vector).collect();
    (200, None, json!({ "model": "m", "embeddings": vectors }).to_string())
}

fn embedder(wire: RemoteWire, address: &str) -> RemoteEmbedder {
    RemoteEmbedder::new("test", "m", wire, &format!("{address}/v1/"), Some("k3y".into())).unwrap()
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| "x".repeat(number + 1)).collect()
}

#[tokio::test]
async fn each_wire_gives_the_vectors_in_the_order_of_the_texts() {
    let wires: [(RemoteWire, Answer, &str, &str); 3] = [
        (RemoteWire::OpenAi, openai, "/v1/embeddings", "authorization: bearer k3y"),
        (RemoteWire::Gemini, gemini, "/v1/models/m:batchembedcontents", "x-goog-api-key: k3y"),
        (RemoteWire::Ollama, ollama, "/v1/api/embed", "authorization: bearer k3y"),
    ];
    for (wire, answer, path, key) in wires {
        let (address, received) = server(answer).await;
        let texts = texts(70);
        let vectors =
            embedder(wire, &address).embed(&texts, EmbeddingPurpose::Passage).await.unwrap();
        assert_eq!(vectors.len(), 70);
        for (number, vector) in vectors.iter().enumerate() {
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            assert!((length - 1.0).abs() < 1e-5);
            #[expect(clippy::cast_precision_loss, reason = "below 70")]
            let wanted = (number + 1) as f32 / 3.0;
            assert!((vector[1] / vector[0] - wanted).abs() < 1e-3, "{wire:?} {number}");
        }
        let received = received.lock().unwrap();
        assert_eq!(received.len(), 2, "in batches");
        assert_eq!(received[0].path, path);
        assert!(received[0].headers.iter().any(|line| line == key), "{:?}", received[0].headers);
    }
}

#[tokio::test]
async fn gemini_is_told_what_a_text_is_for() {
    let (address, received) = server(gemini).await;
    let embedder = embedder(RemoteWire::Gemini, &address);
    embedder.embed(&texts(1), EmbeddingPurpose::Query).await.unwrap();
    let received = received.lock().unwrap();
    assert_eq!(received[0].body["requests"][0]["taskType"], "RETRIEVAL_QUERY");
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    fn busy_once(request: &ReceivedRequest, number: usize) -> (u16, Option<&'static str>, String) {
        if number == 1 {
            (429, Some("retry-after: 0"), String::new())
        } else {
            ollama(request, number)
        }
    }
    let (address, received) = server(busy_once).await;
    embedder(RemoteWire::Ollama, &address).embed(&texts(1), EmbeddingPurpose::Query).await.unwrap();
    assert_eq!(received.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_refusal_and_nonsense_are_named_and_not_repeated() {
    fn refuse(_: &ReceivedRequest, _: usize) -> (u16, Option<&'static str>, String) {
        (401, None, "wrong key".into())
    }
    fn nonsense(_: &ReceivedRequest, _: usize) -> (u16, Option<&'static str>, String) {
        (200, None, "<html>".into())
    }
    // The key would go along.
    fn redirect(_: &ReceivedRequest, _: usize) -> (u16, Option<&'static str>, String) {
        (307, Some("location: /v2"), String::new())
    }
    fn too_few(_: &ReceivedRequest, _: usize) -> (u16, Option<&'static str>, String) {
        (200, None, json!({ "embeddings": [[1.0]] }).to_string())
    }
    fn ragged(_: &ReceivedRequest, _: usize) -> (u16, Option<&'static str>, String) {
        (200, None, json!({ "embeddings": [[1.0], [1.0, 2.0]] }).to_string())
    }
    let cases: [(Answer, bool); 5] =
        [(refuse, true), (redirect, true), (nonsense, false), (too_few, false), (ragged, false)];
    for (answer, refused) in cases {
        let (address, received) = server(answer).await;
        let embedder = embedder(RemoteWire::Ollama, &address);
        let error = embedder.embed(&texts(2), EmbeddingPurpose::Query).await.unwrap_err();
        assert_eq!(matches!(error, EmbedError::Refused { .. }), refused, "{error}");
        assert!(error.to_string().contains("test/m"), "{error}");
        assert!(!error.to_string().contains("k3y"), "{error}");
        assert_eq!(received.lock().unwrap().len(), 1);
    }
}
