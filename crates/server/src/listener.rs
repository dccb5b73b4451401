//! Accepting connections, within limits, until it is told to stop.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::gate::Ends;
use crate::patient::Patient;

/// Connections at the same time. Whoever comes after them waits in the system's queue.
const CONNECTIONS: usize = 256;
/// How long the head of a request may take, and how long a connection may do nothing.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// The most of a head.
const HEAD_BYTES: usize = 64 * 1024;
const HEADERS: usize = 100;
/// How long a client may take nothing of what is sent to it.
const WRITE_TIME: Duration = Duration::from_mins(1);
/// After the last stream was told to end.
const LAST_BYTES: Duration = Duration::from_secs(2);
/// How often it is looked whether something still runs.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A pause after the system could not give a connection, such as when no file is left.
const BREATH: Duration = Duration::from_millis(100);

/// Why nothing is listened to.
#[derive(Debug, thiserror::Error)]
pub enum ListenerError {
    /// The user: the address is taken, or not of this machine.
    #[error("cannot listen on {address}: {reason}. Choose another one: lango serve --port PORT")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        reason: std::io::Error,
    },
}

/// A place where connections arrive.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Takes an address; port 0 is any that is free.
    pub async fn bind(address: SocketAddr) -> Result<Self, ListenerError> {
        let failed = |reason| ListenerError::Bind { address, reason };
        let socket = TcpListener::bind(address).await.map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        Ok(Self { socket, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop`. Then nobody else is let in, what runs has `grace` to end, `closing` tells
    /// the streams that are left to end now, and the connections are closed.
    pub async fn serve(
        self,
        routes: Router,
        stop: impl Future<Output = ()>,
        closing: CancellationToken,
        grace: Duration,
        runs: impl Fn() -> bool,
    ) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let connections = TaskTracker::new();
        let stopping = CancellationToken::new();
        tokio::pin!(stop);
        loop {
            let place = tokio::select! {
                () = &mut stop => break,
                place = Arc::clone(&places).acquire_owned() => place,
            };
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.socket.accept() => accepted,
            };
            let (Ok(place), Ok((stream, remote))) = (place, accepted) else {
                tokio::time::sleep(BREATH).await;
                continue;
            };
            let (routes, stopping) = (routes.clone(), stopping.clone());
            connections.spawn(async move {
                serve_connection(stream, remote, routes, stopping).await;
                drop(place);
            });
        }
        drop(self.socket);
        stopping.cancel();
        connections.close();
        let ending = async {
            while runs() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        // What does not end in time is in the journal, and can be gone on with.
        let _ = tokio::time::timeout(grace, ending).await;
        closing.cancel();
        let _ = tokio::time::timeout(LAST_BYTES, connections.wait()).await;
    }
}

async fn serve_connection(
    stream: TcpStream,
    remote: SocketAddr,
    routes: Router,
    stopping: CancellationToken,
) {
    let Ok(local) = stream.local_addr() else { return };
    // Small pieces of a stream should not wait for each other.
    let _ = stream.set_nodelay(true);
    let ends = Ends { remote: remote.ip().to_canonical(), local };
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ends);
        let routes = routes.clone();
        async move {
            let response: Result<Response<Body>, Infallible> =
                routes.oneshot(request.map(Body::new)).await;
            response
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(Patient::new(stream, WRITE_TIME)), service);
    tokio::pin!(connection);
    // How a connection ended is its client's business.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
