//! Serves pages on this machine for the navigator, and addresses that no agent may reach.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A site with pages by path. Ends with the runtime of its test.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// A site with these pages: a path, and the whole answer to it, in which `{address}` stands for the
    /// site.
    pub(crate) async fn with(pages: Vec<(&'static str, String)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, requests) =
            (Arc::new(AtomicUsize::new(0)), Arc::<Mutex<Vec<String>>>::default());
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&heads);
        let (counted, noted, pages) =
            (Arc::clone(&connections), Arc::clone(&requests), Arc::new(pages));
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let (noted, pages, kept) =
                    (Arc::clone(&noted), Arc::clone(&pages), Arc::clone(&kept));
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                        let mut piece = [0; 4096];
                        match stream.read(&mut piece).await {
                            Ok(length) if length > 0 => head.extend_from_slice(&piece[..length]),
                            _ => return,
                        }
                    }
                    let head = String::from_utf8_lossy(&head).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    let found = pages.iter().find(|(known, _)| *known == path);
                    let answer = found.map_or_else(|| page("Nothing here"), |(_, a)| a.clone());
                    let answer = answer.replace("{address}", &address.to_string());
                    noted.lock().unwrap().push(path);
                    kept.lock().unwrap().push(head);
                    // A browser that went away needs no answer.
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { address, connections, requests, heads }
    }

    /// A place that only counts who comes.
    pub(crate) async fn forbidden() -> Self {
        Self::with(Vec::new()).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The paths that were asked for.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// The first lines and the headers of the requests.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// The value of `LANGO_EGRESS_ALLOW` that allows this site.
    pub(crate) fn allowed(&self) -> String {
        format!("[\"{}\"]", self.address)
    }
}

/// A page.
pub(crate) fn page(body: &str) -> String {
    answer("200 OK", "Content-Type: text/html; charset=utf-8\r\n", body)
}

/// A redirect.
pub(crate) fn redirect(to: &str) -> String {
    answer("302 Found", &format!("Location: {to}\r\n"), "")
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
