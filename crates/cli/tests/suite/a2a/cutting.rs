//! A line that can be cut, between Lango and an agent.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Passes connections on. Those that ask for a stream are cut after so many bytes of the answer, the
/// first times.
pub(crate) struct Line {
    address: SocketAddr,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    cuts: AtomicUsize,
    messages: AtomicUsize,
    heard: AtomicUsize,
}

impl Line {
    /// To the agent on this port; a stream is cut when its answer has had these words, `times` times.
    pub(crate) async fn to(port: u16, words: &'static str, times: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::<Counts>::default();
        let counted = Arc::clone(&counts);
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                tokio::spawn(pass(client, port, words, times, Arc::clone(&counted)));
            }
        });
        Self { address, counts }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How often a stream was cut.
    pub(crate) fn cuts(&self) -> usize {
        self.counts.cuts.load(Ordering::SeqCst)
    }

    /// How many requests to send a message went through.
    pub(crate) fn messages(&self) -> usize {
        self.counts.messages.load(Ordering::SeqCst)
    }

    /// How many streams had the words in them.
    pub(crate) fn heard(&self) -> usize {
        self.counts.heard.load(Ordering::SeqCst)
    }
}

async fn pass(client: TcpStream, port: u16, words: &str, times: usize, counts: Arc<Counts>) {
    let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let own = client.local_addr().unwrap().port().to_string();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let messages = Arc::clone(&counts);
    let up = tokio::spawn(async move {
        let mut piece = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = from_client.read(&mut piece).await {
            let text = String::from_utf8_lossy(&piece[..length]);
            let sends = ["SendStreamingMessage", "message/stream", "message:stream"];
            if sends.iter().any(|method| text.contains(method)) {
                messages.messages.fetch_add(1, Ordering::SeqCst);
            }
            if to_server.write_all(&piece[..length]).await.is_err() {
                return;
            }
        }
    });
    let mut heard = String::new();
    let mut noted = false;
    let mut piece = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from_server.read(&mut piece).await {
        // The card names the agent's own port: here it is this one.
        let text = String::from_utf8_lossy(&piece[..length]).into_owned();
        let text = text.replace(&format!(":{port}"), &format!(":{own}"));
        heard.push_str(&text);
        if to_client.write_all(text.as_bytes()).await.is_err() {
            break;
        }
        if heard.contains("text/event-stream") && heard.to_lowercase().contains(words) {
            if !std::mem::replace(&mut noted, true) {
                counts.heard.fetch_add(1, Ordering::SeqCst);
            }
            let more = |cuts| (cuts < times).then_some(cuts + 1);
            if counts.cuts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok() {
                break;
            }
        }
    }
    up.abort();
}
