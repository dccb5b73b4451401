//! Builds the HTTP clients of this program, all of them.

use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve as ReqwestResolve, Resolving};
use reqwest::redirect;
use url::Url;

use crate::destination::Destination;
use crate::guard::Guard;

/// Limits how long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const USER_AGENT: &str = concat!("lango/", env!("CARGO_PKG_VERSION"));

/// Says why a client cannot be built. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum HttpClientError {
    /// The parameters of TLS are not consistent. It is a bug.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The certificates of the system cannot be read, or the client cannot be set up.
    #[error("cannot set up the HTTP client: {}", describe_causes(.0))]
    Setup(#[from] reqwest::Error),
}

/// Builds HTTP clients. What holds for all of them is here: a time limit for connecting, no
/// redirects unless their caller follows them, and the name of this program.
#[derive(Clone)]
pub struct HttpClientBuilder {
    /// `None` for an address that the user configured.
    resolver: Option<Arc<dyn ReqwestResolve>>,
    total_timeout: Option<Duration>,
    pool: Option<(usize, Duration)>,
}

impl HttpClientBuilder {
    /// Builds a client for an address that the user configured: it is reached wherever it is, and
    /// through the system's proxy unless it is on this machine.
    pub fn for_configured_address() -> Self {
        Self { resolver: None, total_timeout: None, pool: None }
    }

    /// Builds a client that connects only to addresses that `guard` allows. The caller checks the
    /// whole destination before each request: an address that is written as such is not resolved.
    pub fn guarded(guard: Guard) -> Self {
        Self::resolving(Arc::new(GuardedNames(guard)))
    }

    /// Builds a client that connects only to addresses that `resolver` returns.
    pub(crate) fn resolving(resolver: Arc<dyn ReqwestResolve>) -> Self {
        Self { resolver: Some(resolver), total_timeout: None, pool: None }
    }

    /// Limits how long a request may take, with its response.
    #[must_use]
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }

    /// Limits the connections that stay open for a further request, and for how long.
    #[must_use]
    pub(crate) fn idle_connections(mut self, max_count: usize, timeout: Duration) -> Self {
        self.pool = Some((max_count, timeout));
        self
    }

    /// Builds a client for the origin of one address. One without TLS gets no certificates: to read
    /// those of the system costs more CPU time than a whole turn.
    pub fn build_for(self, url: &Url) -> Result<reqwest::Client, HttpClientError> {
        let is_on_this_machine = url.host_str().is_some_and(is_loopback);
        let has_resolver = self.resolver.is_some();
        let mut builder = self.builder();
        if url.scheme() == "http" {
            builder = builder.tls_backend_preconfigured(tls_without_roots()?);
        }
        if is_on_this_machine && !has_resolver {
            builder = builder.no_proxy();
        }
        Ok(builder.build()?)
    }

    /// Builds a client for several origins.
    pub fn build(self) -> Result<reqwest::Client, HttpClientError> {
        Ok(self.builder().build()?)
    }

    #[expect(clippy::disallowed_methods, reason = "this is where clients are built")]
    fn builder(self) -> reqwest::ClientBuilder {
        let mut builder = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            .user_agent(USER_AGENT);
        if let Some(resolver) = self.resolver {
            // A proxy would resolve the name itself, and connect to what it finds.
            builder = builder.no_proxy().dns_resolver(resolver);
        }
        if let Some(timeout) = self.total_timeout {
            builder = builder.timeout(timeout);
        }
        if let Some((max_count, timeout)) = self.pool {
            builder = builder.pool_max_idle_per_host(max_count).pool_idle_timeout(timeout);
        }
        builder
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn tls_without_roots() -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
}

/// Says why a body was not read.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is longer than the limit.
    #[error("the answer is longer than {max_bytes} bytes")]
    TooLong {
        /// The limit.
        max_bytes: usize,
    },
    /// The connection broke.
    #[error("{}", describe_causes(.0))]
    Broken(#[from] reqwest::Error),
}

/// Reads a whole body, if it is no longer than `max_bytes`.
pub async fn read_body(
    mut response: reqwest::Response,
    max_bytes: usize,
) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if body.len() + piece.len() > max_bytes {
            return Err(BodyError::TooLong { max_bytes });
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// Returns an error with its causes, which hold the reason.
pub fn describe_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// Resolves names to addresses that the guard allows.
struct GuardedNames(Guard);

impl ReqwestResolve for GuardedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.0.clone();
        Box::pin(async move {
            // The port is checked before, with the address; here only the name counts.
            let destination = Destination::of_authority(&format!("{}:0", name.as_str()))?;
            let addresses = guard.resolve(&destination).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
