//! Accepts connections, within limits, until it is stopped.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::connections::{ConnectionLimits, ConnectionTable, OpenConnection, TrackedBody};
use crate::gate::ConnectionEnds;
use crate::stall_timeout::StallTimeout;

/// Limits the simultaneous connections. If all of them are at work, further clients wait in the
/// system's queue.
const MAX_CONNECTION_COUNT: usize = 256;
/// Limits the connections on which no token was shown, so that there is room for others.
const MAX_ANONYMOUS_CONNECTION_COUNT: usize = 128;
/// Limits how long the head of a request may take, and how long a connection may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Limits the size of a head.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Limits the number of headers.
const MAX_HEADER_COUNT: usize = 100;
/// Limits how long a client may not read what is sent to it.
const WRITE_TIMEOUT: Duration = Duration::from_mins(1);
/// Limits how long connections may take to close after the streams were told to end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Sets how often running work is checked during the shutdown.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Sets the pause after a failed accept, for example when no file descriptor is left.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The reason why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenerError {
    /// User error: the address is in use, or not one of this machine.
    #[error("cannot listen on {address}: {reason}. Choose another one: lango serve --port PORT")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        reason: std::io::Error,
    },
}

/// Accepts connections on a socket.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds an address; port 0 selects a free one.
    pub async fn bind(address: SocketAddr) -> Result<Self, ListenerError> {
        let failed = |reason| ListenerError::Bind { address, reason };
        let socket = TcpListener::bind(address).await.map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        Ok(Self { socket, address })
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` resolves. Then it accepts no more connections, running work has
    /// `drain_timeout` to end, `closing` tells the remaining streams to end, and the connections
    /// are closed.
    pub async fn serve(
        self,
        routes: Router,
        stop: impl Future<Output = ()>,
        closing: CancellationToken,
        drain_timeout: Duration,
        is_busy: impl Fn() -> bool,
    ) {
        let table = ConnectionTable::new(ConnectionLimits {
            total: MAX_CONNECTION_COUNT,
            anonymous: MAX_ANONYMOUS_CONNECTION_COUNT,
        });
        let connections = TaskTracker::new();
        let stopping = CancellationToken::new();
        tokio::pin!(stop);
        'accepting: loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.socket.accept() => accepted,
            };
            let Ok((stream, remote)) = accepted else {
                tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await;
                continue;
            };
            let address = remote.ip().to_canonical();
            let connection = loop {
                if let Some(connection) = table.admit(address) {
                    break connection;
                }
                tokio::select! {
                    () = &mut stop => break 'accepting,
                    () = table.wait_for_room() => {}
                }
            };
            let (routes, stopping) = (routes.clone(), stopping.clone());
            connections.spawn(async move {
                serve_connection(stream, address, &connection, routes, stopping).await;
            });
        }
        drop(self.socket);
        stopping.cancel();
        connections.close();
        let ending = async {
            while is_busy() {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        // Work that does not end in time is in the journal and can be resumed.
        let _ = tokio::time::timeout(drain_timeout, ending).await;
        closing.cancel();
        // A connection that does not close in time is dropped with its task.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, connections.wait()).await;
    }
}

async fn serve_connection(
    stream: TcpStream,
    remote: IpAddr,
    open: &OpenConnection,
    routes: Router,
    stopping: CancellationToken,
) {
    let Ok(local) = stream.local_addr() else { return };
    // Small pieces of a stream must not be delayed.
    let _ = stream.set_nodelay(true);
    let ends = ConnectionEnds { remote, local };
    let handle = open.handle().clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ends);
        request.extensions_mut().insert(handle.clone());
        let (routes, guard) = (routes.clone(), handle.begin_request());
        async move {
            let response: Result<Response<Body>, Infallible> =
                routes.oneshot(request.map(Body::new)).await;
            response.map(|response| response.map(|body| TrackedBody::new(body, guard)))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADER_COUNT)
        .serve_connection(TokioIo::new(StallTimeout::new(stream, WRITE_TIMEOUT)), service);
    tokio::pin!(connection);
    // The way in which a connection ends only concerns its client.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = open.make_room() => return,
        () = stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    // A client that breaks off while the server stops is gone either way.
    let _ = connection.await;
}
