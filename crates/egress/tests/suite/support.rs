//! Provides servers on this machine, and resolvers that return what a test wants.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lango_egress::{Addresses, Guard, Resolve, Rules};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Limits how long a test waits; it is longer than any test needs on a busy machine.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_mins(1);

/// Represents a server that answers every request with the same bytes, and counts connections.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Answers with `response`, then closes the connection.
    pub(crate) async fn answering(response: impl Into<Vec<u8>>) -> Self {
        Self::start(response.into(), false).await
    }

    /// Answers with `response`, then says nothing and keeps the connection.
    pub(crate) async fn stalling(response: impl Into<Vec<u8>>) -> Self {
        Self::start(response.into(), true).await
    }

    async fn start(response: Vec<u8>, stall: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        let response = Arc::new(response);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let response = Arc::clone(&response);
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                        let mut piece = [0; 1024];
                        match stream.read(&mut piece).await {
                            Ok(length) if length > 0 => head.extend_from_slice(&piece[..length]),
                            _ => return,
                        }
                    }
                    // A client that was cut off does not read all of it.
                    let _ = stream.write_all(&response).await;
                    if stall {
                        let _ = stream.read_to_end(&mut head).await;
                    }
                });
            }
        });
        Self { address, connections }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// Returns a whole response with this body.
pub(crate) fn response(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

pub(crate) fn redirect(to: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

/// Makes rules that allow these private destinations.
pub(crate) fn allowing(places: &[&str]) -> Rules {
    let allow_private = places.iter().map(|place| place.parse().unwrap()).collect();
    Rules { allow_private, ..Rules::default() }
}

/// Represents a resolver with one answer for each question, in order; the last one stays.
pub(crate) struct ScriptedResolver(Mutex<VecDeque<Vec<IpAddr>>>);

impl ScriptedResolver {
    pub(crate) fn of(answers: &[&[&str]]) -> Arc<Self> {
        let read = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        Arc::new(Self(Mutex::new(answers.iter().map(read).collect())))
    }

    pub(crate) fn guard(answers: &[&[&str]], rules: Rules) -> Guard {
        Guard::with_resolver(rules, Self::of(answers))
    }
}

impl Resolve for ScriptedResolver {
    fn resolve(&self, _: &str) -> Addresses {
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no answer")) })
    }
}
