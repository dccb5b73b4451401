//! Stands between the servers and PostgreSQL, and breaks their connections.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What happens to connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    /// They work.
    Open,
    /// Nothing is transferred, and nothing is said about it. Those that were there end afterwards.
    Silent,
}

/// A proxy on loopback. It ends with the program.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    address: SocketAddr,
    condition: Arc<watch::Sender<Condition>>,
    cut: Arc<watch::Sender<u64>>,
}

impl Proxy {
    /// Starts one before a server.
    pub(crate) async fn start(target: String) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let proxy = Self {
            address: listener.local_addr()?,
            condition: Arc::new(watch::Sender::new(Condition::Open)),
            cut: Arc::new(watch::Sender::new(0)),
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
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes all connections.
    pub(crate) fn cut(&self) {
        self.cut.send_modify(|count| *count += 1);
    }

    /// Lets nothing through until [`Proxy::open`].
    pub(crate) fn silence(&self) {
        self.condition.send_replace(Condition::Silent);
    }

    /// Lets everything through.
    pub(crate) fn open(&self) {
        self.condition.send_replace(Condition::Open);
    }

    async fn carry(self, mut client: TcpStream, target: String) {
        let mut cut = self.cut.subscribe();
        cut.mark_unchanged();
        let mut condition = self.condition.subscribe();
        let carrying = async {
            // A new connection waits as the others do.
            condition.wait_for(|condition| *condition == Condition::Open).await.ok()?;
            let mut server = TcpStream::connect(&target).await.ok()?;
            tokio::select! {
                biased;
                changed = condition.wait_for(|condition| *condition == Condition::Silent) => {
                    changed.ok()?;
                }
                // Either side has ended.
                _ = copy_bidirectional(&mut client, &mut server) => return Some(()),
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
}
