//! `lango __mcp-conformance-server`: the suite's fixture behind the listener, the checks and the door
//! of `lango serve`.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lango_server::{Access, AccessParts, Callers, Doors, Gate, Listener, routes};
use lango_store::{Database, DatabaseLocation};
use tokio_util::sync::CancellationToken;

use crate::commands::turn::Signals;
use crate::failure::{ExitStatus, Failure};

pub(crate) async fn serve(port: u16) -> Result<ExitStatus, Failure> {
    let directory = tempfile::tempdir()?;
    let location = DatabaseLocation::Sqlite(directory.path().join("callers.db"));
    let database = Database::open(&location).await?;
    let wrong = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    let access = Access::new(AccessParts {
        gate: Gate::new(&[], &[]),
        callers: Callers::open(database.clone()).await?,
        owner_token: None,
        open: true,
        notice: Arc::new(|_| ()),
    })
    .map_err(|error| wrong(&error))?;
    let closing = CancellationToken::new();
    let doors = Doors {
        openai: None,
        others: vec![lango_mcp::server::conformance::routes(closing.clone())],
        database,
        version: env!("CARGO_PKG_VERSION"),
        running: Arc::new(|| 0),
    };
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let listener = Listener::bind(address).await.map_err(|error| wrong(&error))?;
    crate::commands::Printer::new()
        .print(&format!("listening on {}\n", listener.address().port()))?;
    io::stdout().flush()?;
    let mut signals = Signals::new()?;
    let stop = async {
        signals.next().await;
    };
    let routes = routes(Arc::new(access), doors);
    listener.serve(routes, stop, closing, Duration::ZERO, || false).await;
    Ok(ExitStatus::Success)
}
