//! Sends requests to one origin, over connections that stay open between them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::dns::{Addrs, Name, Resolve as ReqwestResolve, Resolving};
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use url::Url;

use crate::client::FetchError;
use crate::destination::Destination;
use crate::error::{EgressError, Refusal};
use crate::guard::Guard;
use crate::http::{HttpClientBuilder, describe_causes};

/// Limits the connections that wait for a further request.
const MAX_IDLE_CONNECTION_COUNT: usize = 4;
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Connects to one origin; the guard checks each connection when it is made. Nothing is ever sent
/// to another origin: a redirect is an error. It is cheap to clone.
#[derive(Debug, Clone)]
pub struct Channel {
    guard: Guard,
    origin: Url,
    destination: Destination,
    /// Made when it is first needed: with TLS, the system's certificates are read for it.
    client: Arc<OnceLock<reqwest::Client>>,
}

/// Represents a response whose body is still coming.
pub struct StreamedResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    url: Url,
    body: BoxStream<'static, Result<Bytes, reqwest::Error>>,
}

impl Channel {
    /// Makes a channel to the origin of `url`. Nothing is connected yet.
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
        let resolver =
            GuardedResolver { guard: self.guard.clone(), destination: self.destination.clone() };
        let client = HttpClientBuilder::resolving(Arc::new(resolver))
            .idle_connections(MAX_IDLE_CONNECTION_COUNT, IDLE_TIMEOUT)
            .build_for(&self.origin)
            .map_err(|error| FetchError::Broken {
                url: self.origin.clone(),
                reason: error.to_string(),
            })?;
        // Of two that were made at once, the first one stays.
        Ok(self.client.get_or_init(|| client).clone())
    }

    /// Sends a request and waits for the head of its response. It has no timeout but that of
    /// connecting: the caller knows how long to wait.
    pub async fn open(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<StreamedResponse, FetchError> {
        let (spelt, _) = Destination::of_url(url.as_str()).map_err(EgressError::from)?;
        if spelt.origin() != self.origin.origin() {
            let from = self.origin.clone();
            let reason = format!("{url} is not on the origin of this connection");
            return Err(FetchError::Redirect { from, reason });
        }
        // An address that is written as such is not resolved, so it is checked here.
        self.guard.check(&self.destination).map_err(EgressError::from)?;
        let request = self.client()?.request(method, spelt).headers(headers).body(body);
        let response = request.send().await.map_err(|error| FetchError::Broken {
            url: url.clone(),
            reason: describe_causes(&error),
        })?;
        let (status, headers) = (response.status(), response.headers().clone());
        if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
            let reason =
                "and is not followed: what is sent here is for this origin only".to_owned();
            return Err(FetchError::Redirect { from: url.clone(), reason });
        }
        Ok(StreamedResponse {
            status,
            headers,
            url: url.clone(),
            body: response.bytes_stream().boxed(),
        })
    }
}

impl StreamedResponse {
    /// Returns the next piece of the body, or `None` at its end.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, FetchError> {
        let broken = |error: reqwest::Error| FetchError::Broken {
            url: self.url.clone(),
            reason: describe_causes(&error),
        };
        self.body.next().await.transpose().map_err(broken)
    }

    /// Returns the whole body, if it is no longer than `max_bytes`.
    pub async fn collect(mut self, max_bytes: usize) -> Result<Vec<u8>, FetchError> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await? {
            if body.len() + piece.len() > max_bytes {
                return Err(FetchError::TooLong { url: self.url, max_bytes });
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

impl std::fmt::Debug for StreamedResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamedResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Asks the guard for the addresses of the one name, each time a connection is made.
struct GuardedResolver {
    guard: Guard,
    destination: Destination,
}

impl ReqwestResolve for GuardedResolver {
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
