//! Runs a forward proxy on this machine, for programs that make connections themselves.
//!
//! It speaks HTTP/1.1: `CONNECT` for everything encrypted and for web sockets, absolute addresses
//! for plain HTTP. Every connection is checked by the [`Guard`] when it is made, whatever it is
//! for. A client needs the credentials, which are new for each proxy.

mod answer;
mod bounded;
mod credentials;
mod tunnel;

use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::guard::Guard;

pub use credentials::ProxyCredentials;

/// Limits one proxy.
#[derive(Debug, Clone)]
pub struct ProxyLimits {
    /// Connections at the same time. More of them wait.
    pub connections: usize,
    /// Bytes of the head of a request.
    pub header_bytes: usize,
    /// The longest time for a request to arrive, up to the end of its head.
    pub header_timeout: Duration,
    /// The longest time without traffic on a connection.
    pub idle_timeout: Duration,
    /// Bytes of one response over plain HTTP.
    pub response_bytes: u64,
    /// Bytes that come back through one tunnel, which may carry many responses.
    pub tunnel_bytes: u64,
}

impl Default for ProxyLimits {
    fn default() -> Self {
        const MEGABYTE: u64 = 1024 * 1024;
        Self {
            connections: 256,
            header_bytes: 64 * 1024,
            header_timeout: Duration::from_secs(15),
            idle_timeout: Duration::from_mins(2),
            response_bytes: 256 * MEGABYTE,
            tunnel_bytes: 1024 * MEGABYTE,
        }
    }
}

/// Represents a request that the proxy refused or cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedRequest {
    /// The requested address, or `host:port` of a tunnel.
    pub target: String,
    /// The reason, in a few words.
    pub reason: String,
    /// The reason, and the command that changes it.
    pub explanation: String,
}

/// Limits the blocked requests that are stored until they are taken.
const MAX_BLOCKED_COUNT: usize = 200;

/// Represents a running proxy. It ends, with all its connections, when this is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    _stop: DropGuard,
}

#[derive(Debug)]
struct Shared {
    guard: Guard,
    limits: ProxyLimits,
    credentials: ProxyCredentials,
    // Written by every connection, read by reports: held for one push or one take.
    blocked: Mutex<VecDeque<BlockedRequest>>,
    stop: CancellationToken,
}

impl Shared {
    fn store_blocked(&self, blocked: BlockedRequest) {
        let mut stored = self.blocked.lock();
        if stored.len() == MAX_BLOCKED_COUNT {
            stored.pop_front();
        }
        stored.push_back(blocked);
    }
}

impl Proxy {
    /// Starts a proxy on a free port of the loopback interface.
    pub async fn start(guard: Guard, limits: ProxyLimits) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let stop = CancellationToken::new();
        let shared = Arc::new(Shared {
            guard,
            limits,
            credentials: ProxyCredentials::generate(),
            blocked: Mutex::new(VecDeque::new()),
            stop: stop.clone(),
        });
        tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { port, shared, _stop: stop.drop_guard() })
    }

    /// Returns the port on `127.0.0.1`.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the credentials that a client must send.
    pub fn credentials(&self) -> &ProxyCredentials {
        &self.shared.credentials
    }

    /// Stores requests again that were taken and not reported.
    pub fn restore_blocked(&self, blocked: Vec<BlockedRequest>) {
        for one in blocked {
            self.shared.store_blocked(one);
        }
    }

    /// Returns the requests that were blocked since the last call, oldest first.
    pub fn take_blocked(&self) -> Vec<BlockedRequest> {
        let mut stored = self.shared.blocked.lock();
        std::mem::take(&mut *stored).into()
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let permits = Arc::new(Semaphore::new(shared.limits.connections));
    loop {
        let next = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            () = shared.stop.cancelled() => return,
            next = next => next,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors, or a client that went away: wait instead of spinning.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| answer::answer(request, Arc::clone(&shared)));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(shared.limits.header_timeout)
                .max_buf_size(shared.limits.header_bytes)
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades();
            tokio::select! {
                () = shared.stop.cancelled() => {}
                // Errors of a client's connection are the client's.
                _ = connection => {}
            }
            drop(permit);
        });
    }
}
