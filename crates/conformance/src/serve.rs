//! The listener, the checks and the routes of `lango serve`, without a token.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use lango_server::{
    AccessControl, AccessParts, Callers, Endpoints, HostGate, Listener, combine_routes,
};
use lango_store::Database;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Listens at a port of this machine; 0 is any that is free.
pub(crate) async fn listen(port: u16) -> Result<Listener> {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    Ok(Listener::bind(address).await?)
}

/// Serves an endpoint until a signal ends it, and prints where it is once it can be reached.
pub(crate) async fn serve(
    listener: Listener,
    database: Database,
    endpoint: Router,
    closing: CancellationToken,
) -> Result<()> {
    let access = AccessControl::new(AccessParts {
        gate: HostGate::new(&[], &[]),
        callers: Callers::open(database.clone()).await?,
        owner_token: None,
        open: true,
        notice: Arc::new(|_| ()),
    })?;
    let endpoints = Endpoints {
        openai: None,
        others: vec![endpoint],
        database,
        version: env!("CARGO_PKG_VERSION"),
        running: Arc::new(|| 0),
    };
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    writeln!(io::stdout(), "listening on {}", listener.address().port())?;
    io::stdout().flush()?;
    let routes = combine_routes(Arc::new(access), endpoints);
    listener.serve(routes, stop, closing, Duration::ZERO, || false).await;
    Ok(())
}
