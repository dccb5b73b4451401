//! Creates a connection pool from a URL, with TLS if the URL asks for it.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::StoreError;

const MAX_CONNECTION_COUNT: usize = 8;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const POOL_TIMEOUT: Duration = Duration::from_secs(30);

/// Limits how long sent data may stay without the confirmation of the other side's system.
const UNACKNOWLEDGED_TIMEOUT: Duration = Duration::from_secs(15);

/// The silence after which the other side's system is asked whether it is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);

const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);

const MAX_KEEPALIVE_COUNT: u32 = 3;

/// The server's own limits, so that nothing is left of an operation that this side gave up on.
const SESSION_LIMITS: &str = "SET statement_timeout = '60s'; SET lock_timeout = '10s'; \
     SET idle_in_transaction_session_timeout = '60s'";

/// Returns a pool that has not connected yet.
pub(super) fn build_pool(url: &str, location: &str) -> Result<Pool, StoreError> {
    let cannot_open = |reason: String| StoreError::Open { location: location.to_owned(), reason };
    let mut config: Config = rewrite_url(url).parse().map_err(|error: tokio_postgres::Error| {
        cannot_open(super::failure::describe_with_cause(&error))
    })?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    config
        .tcp_user_timeout(UNACKNOWLEDGED_TIMEOUT)
        .keepalives_idle(KEEPALIVE_IDLE)
        .keepalives_interval(KEEPALIVE_INTERVAL)
        .keepalives_retries(MAX_KEEPALIVE_COUNT);
    if config.get_application_name().is_none() {
        config.application_name("lango");
    }
    let settings = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = if config.get_ssl_mode() == SslMode::Require {
        let tls = build_tls().map_err(|error| cannot_open(error.to_string()))?;
        Manager::from_config(config, tls, settings)
    } else {
        Manager::from_config(config, NoTls, settings)
    };
    Pool::builder(manager)
        .max_size(MAX_CONNECTION_COUNT)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(POOL_TIMEOUT))
        .create_timeout(Some(POOL_TIMEOUT))
        .post_create(Hook::async_fn(|client, _| {
            Box::pin(async move {
                client.batch_execute(SESSION_LIMITS).await.map_err(HookError::Backend)
            })
        }))
        .build()
        .map_err(|error| cannot_open(error.to_string()))
}

/// Rewrites the URL for the driver. rustls verifies the certificate and the name whenever TLS is
/// used, so the stricter modes of libpq, which the driver does not support, equal `require` here.
fn rewrite_url(url: &str) -> String {
    url.replace("sslmode=verify-full", "sslmode=require")
        .replace("sslmode=verify-ca", "sslmode=require")
}

fn build_tls() -> Result<MakeRustlsConnect, rustls::Error> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    // Set explicitly, so that no process-wide default needs to be installed.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
