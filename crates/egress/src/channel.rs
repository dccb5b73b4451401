//! Requests to one origin, over connections that are kept open between them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::dns::{Addrs, Name, Resolve as ReqwestResolve, Resolving};
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode, redirect};
use url::Url;

use crate::client::{FetchError, chain, trusting_nobody};
use crate::destination::Destination;
use crate::error::{EgressError, Refusal};
use crate::guard::Guard;

/// Connections that wait for a further request.
const IDLE_CONNECTIONS: usize = 4;
const IDLE_TIME: Duration = Duration::from_secs(30);

/// A way to one origin, which the guard is asked about whenever a connection is made. Nothing is ever
/// sent to another origin: a redirect is an error. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Channel {
    guard: Guard,
    origin: Url,
    destination: Destination,
    /// Made when it is first needed: with TLS, the system's certificates are read for it.
    client: Arc<OnceLock<reqwest::Client>>,
}

/// An answer whose body is still coming.
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    url: Url,
    body: BoxStream<'static, Result<Bytes, reqwest::Error>>,
}

impl Channel {
    /// To the origin of `url`. Nothing is connected yet.
    pub fn new(guard: Guard, url: &str) -> Result<Self, FetchError> {
        let (origin, destination) = Destination::of_url(url).map_err(EgressError::from)?;
        if !matches!(origin.scheme(), "http" | "https") {
            let scheme = origin.scheme().to_owned();
            return Err(EgressError::from(Refusal::Scheme { scheme }).into());
        }
        Ok(Self { guard, origin, destination, client: Arc::default() })
    }

    fn client(&self) -> Result<reqwest::Client, FetchError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let broken = |reason: String| FetchError::Broken { url: self.origin.clone(), reason };
        let checking =
            Checking { guard: self.guard.clone(), destination: self.destination.clone() };
        let mut builder = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .dns_resolver(Arc::new(checking))
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE_TIME)
            .connect_timeout(Duration::from_secs(10))
            .user_agent(concat!("lango/", env!("CARGO_PKG_VERSION")));
        if self.origin.scheme() == "http" {
            // Without TLS, the system's certificates need not be read.
            let nobody = trusting_nobody().map_err(|error| broken(error.to_string()))?;
            builder = builder.tls_backend_preconfigured(nobody);
        }
        let client = builder.build().map_err(|error| broken(chain(&error)))?;
        // Of two that were made at once, the first one stays.
        Ok(self.client.get_or_init(|| client).clone())
    }

    /// Sends a request and waits for the beginning of its answer. Has no limit of time but that of
    /// connecting: whoever waits knows for how long.
    pub async fn open(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Answer, FetchError> {
        if url.origin() != self.origin.origin() {
            let from = self.origin.clone();
            let reason = format!("{url} is another place than this way leads to");
            return Err(FetchError::Redirect { from, reason });
        }
        // An address that is written as such is not resolved, so it is checked here.
        self.guard.check(&self.destination).map_err(EgressError::from)?;
        let mut spelt = url.clone();
        if let Some(name) = self.destination.name() {
            let _ = spelt.set_host(Some(name));
        }
        let request = self.client()?.request(method, spelt).headers(headers).body(body);
        let response = request
            .send()
            .await
            .map_err(|error| FetchError::Broken { url: url.clone(), reason: chain(&error) })?;
        let (status, headers) = (response.status(), response.headers().clone());
        if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
            let reason = "and is not followed: what is sent here is for this place only".to_owned();
            return Err(FetchError::Redirect { from: url.clone(), reason });
        }
        Ok(Answer { status, headers, url: url.clone(), body: response.bytes_stream().boxed() })
    }
}

impl Answer {
    /// The next piece of the body; none at its end.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, FetchError> {
        let broken = |error: reqwest::Error| FetchError::Broken {
            url: self.url.clone(),
            reason: chain(&error),
        };
        self.body.next().await.transpose().map_err(broken)
    }

    /// The whole body, if it is no longer than `most`.
    pub async fn collect(mut self, most: usize) -> Result<Vec<u8>, FetchError> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await? {
            if body.len() + piece.len() > most {
                return Err(FetchError::TooLong { url: self.url, most });
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Asks the guard for the addresses of the one name, each time a connection is made.
struct Checking {
    guard: Guard,
    destination: Destination,
}

impl ReqwestResolve for Checking {
    fn resolve(&self, name: Name) -> Resolving {
        let known = self.destination.name() == Some(name.as_str());
        let (guard, destination) = (self.guard.clone(), self.destination.clone());
        Box::pin(async move {
            if !known {
                return Err(format!("{} was not checked", name.as_str()).into());
            }
            let addresses = guard.resolve(&destination).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
