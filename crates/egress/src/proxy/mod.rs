//! A forward proxy on this machine, for programs that make connections themselves.
//!
//! It speaks HTTP/1.1: `CONNECT` for everything encrypted and for web sockets, whole addresses for
//! plain HTTP. Every connection is checked by the [`Guard`] when it is made, whatever it is for.
//! Whoever wants to use it must know its credentials, which are made anew for each proxy.

mod answer;
mod bounded;
mod credentials;
mod tunnel;

use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::guard::Guard;

pub use credentials::ProxyCredentials;

/// How much one proxy does at most.
#[derive(Debug, Clone)]
pub struct ProxyLimits {
    /// Connections at the same time. More of them wait.
    pub connections: usize,
    /// Bytes of the head of a request.
    pub header_bytes: usize,
    /// How long a request may take to arrive, up to the end of its head.
    pub header_time: Duration,
    /// How long nothing may move on a connection.
    pub idle_time: Duration,
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
            header_time: Duration::from_secs(15),
            idle_time: Duration::from_mins(2),
            response_bytes: 256 * MEGABYTE,
            tunnel_bytes: 1024 * MEGABYTE,
        }
    }
}

/// A request that the proxy refused or cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// What was asked for: an address, or `host:port` of a tunnel.
    pub target: String,
    /// Why, in a few words.
    pub reason: String,
    /// Why, and what to type about it.
    pub explanation: String,
}

/// The requests remembered until somebody takes them.
const REMEMBERED: usize = 200;

/// A running proxy. It ends, with all its connections, when this is dropped.
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
    // Written by every connection, read by whoever reports: held for one push or one take.
    blocked: Mutex<VecDeque<Blocked>>,
    stop: CancellationToken,
}

impl Shared {
    fn remember(&self, blocked: Blocked) {
        let mut remembered = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() == REMEMBERED {
            remembered.pop_front();
        }
        remembered.push_back(blocked);
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

    /// The port on `127.0.0.1`.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What a client must say to be served.
    pub fn credentials(&self) -> &ProxyCredentials {
        &self.shared.credentials
    }

    /// Remembers again what was taken and not reported.
    pub fn put_back(&self, blocked: Vec<Blocked>) {
        for one in blocked {
            self.shared.remember(one);
        }
    }

    /// What was blocked since the last time somebody asked, oldest first.
    pub fn take_blocked(&self) -> Vec<Blocked> {
        let mut remembered = self.shared.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *remembered).into()
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(shared.limits.connections));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
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
                .header_read_timeout(shared.limits.header_time)
                .max_buf_size(shared.limits.header_bytes)
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades();
            tokio::select! {
                () = shared.stop.cancelled() => {}
                // How a client's connection ends is the client's concern.
                _ = connection => {}
            }
            drop(place);
        });
    }
}
