//! Stands between a program and PostgreSQL, and breaks their connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The time that a commit has to reach the server before its connection is cut.
const COMMIT_TIME: Duration = Duration::from_millis(300);

/// What happens to connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    /// They work.
    Open,
    /// Nothing is transferred, and nothing is said about it. Those that were there end afterwards.
    Silent,
    /// They are closed at once, as by a machine whose server is not running.
    Away,
}

/// What happens to the next commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitFault {
    /// The connection is cut before the server hears of it.
    CutBefore,
    /// The server does it, and the connection is cut before the answer.
    CutAfter,
}

/// A proxy on loopback. It ends with the program.
#[derive(Debug, Clone)]
pub struct Proxy {
    address: SocketAddr,
    condition: Arc<watch::Sender<Condition>>,
    cut: Arc<watch::Sender<u64>>,
    /// A lock, because whichever connection commits next takes it.
    commit_fault: Arc<Mutex<Option<CommitFault>>>,
}

impl Proxy {
    /// Starts one before a server.
    pub async fn start(target: String) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let proxy = Self {
            address: listener.local_addr()?,
            condition: Arc::new(watch::Sender::new(Condition::Open)),
            cut: Arc::new(watch::Sender::new(0)),
            commit_fault: Arc::default(),
        };
        let accepting = proxy.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(accepting.clone().carry(client, target.clone()));
            }
        });
        Ok(proxy)
    }

    /// Returns its own address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes all connections.
    pub fn cut(&self) {
        self.cut.send_modify(|count| *count += 1);
    }

    /// Lets nothing through until [`Proxy::open`].
    pub fn silence(&self) {
        self.condition.send_replace(Condition::Silent);
    }

    /// Closes all connections, and new ones too, until [`Proxy::open`].
    pub fn go_away(&self) {
        self.condition.send_replace(Condition::Away);
        self.cut();
    }

    /// Lets everything through.
    pub fn open(&self) {
        self.condition.send_replace(Condition::Open);
    }

    /// Breaks the next commit.
    pub fn break_commit(&self, fault: CommitFault) {
        *self.commit_fault.lock() = Some(fault);
    }

    async fn carry(self, mut client: TcpStream, target: String) {
        let mut cut = self.cut.subscribe();
        cut.mark_unchanged();
        let mut condition = self.condition.subscribe();
        let carrying = async {
            // A new connection waits as the others do.
            if *condition.wait_for(|condition| *condition != Condition::Silent).await.ok()?
                == Condition::Away
            {
                return None;
            }
            let mut server = TcpStream::connect(&target).await.ok()?;
            let relayed = AtomicBool::new(true);
            let (mut answers, mut requests) = server.split();
            let (mut from_client, mut to_client) = client.split();
            tokio::select! {
                biased;
                changed = condition.wait_for(|condition| *condition != Condition::Open) => {
                    changed.ok()?;
                }
                // Either side has ended.
                _ = self.forward(&mut from_client, &mut requests, &relayed) => return Some(()),
                _ = relay_answers(&mut answers, &mut to_client, &relayed) => return Some(()),
            }
            // What was on its way is lost, so the connection cannot go on afterwards.
            condition.wait_for(|condition| *condition == Condition::Open).await.ok()?;
            Some(())
        };
        tokio::select! {
            _ = cut.changed() => {}
            _ = carrying => {}
        }
    }

    /// Forwards requests until the connection ends, or a commit is to be broken.
    async fn forward(
        &self,
        client: &mut (impl tokio::io::AsyncRead + Unpin),
        server: &mut (impl tokio::io::AsyncWrite + Unpin),
        relayed: &AtomicBool,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = client.read(&mut buffer).await?;
            let content = &buffer[..count];
            if content.is_empty() {
                return Ok(());
            }
            let commits = content.windows(7).any(|window| window == b"COMMIT\0");
            let fault = if commits { self.commit_fault.lock().take() } else { None };
            if fault == Some(CommitFault::CutBefore) {
                return Ok(());
            }
            relayed.store(fault.is_none(), Ordering::Release);
            server.write_all(content).await?;
            if fault == Some(CommitFault::CutAfter) {
                tokio::time::sleep(COMMIT_TIME).await;
                return Ok(());
            }
        }
    }
}

/// Relays answers as long as they are to be.
async fn relay_answers(
    server: &mut (impl tokio::io::AsyncRead + Unpin),
    client: &mut (impl tokio::io::AsyncWrite + Unpin),
    relayed: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = server.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        if relayed.load(Ordering::Acquire) {
            client.write_all(&buffer[..count]).await?;
        }
    }
}
