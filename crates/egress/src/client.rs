//! Sends our own requests, to destinations that the guard allows, at every redirect.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve as ReqwestResolve, Resolving};
use reqwest::header::{
    AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue, LOCATION, PROXY_AUTHORIZATION,
};
use reqwest::{Method, StatusCode};
use url::Url;

use crate::destination::Destination;
use crate::error::{EgressError, Refusal};
use crate::guard::Guard;
use crate::http::{BodyError, HttpClientBuilder, describe_causes, read_body};
use crate::site::Site;

/// Limits one fetch.
#[derive(Debug, Clone)]
pub struct ClientLimits {
    /// Bytes of a body.
    pub bytes: usize,
    /// The whole fetch, redirects included.
    pub time: Duration,
    /// Redirects that are followed.
    pub redirects: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self { bytes: 10 * 1024 * 1024, time: Duration::from_secs(30), redirects: 5 }
    }
}

/// Says where redirects may lead, within what the guard allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RedirectScope {
    /// To any site: the user asked for what is at the end.
    #[default]
    AnySite,
    /// Within the site of the address: a question or a rule was about it, and no other.
    SameSite,
}

/// Headers that prove to one site who asks. Their values are marked as sensitive, so that no log shows
/// them and no redirect to another origin takes them along.
#[derive(Debug, Clone)]
pub struct SiteCredential {
    /// The origin of the site, as browsers write it.
    pub origin: String,
    /// The headers.
    pub headers: HeaderMap,
}

impl SiteCredential {
    /// Creates a credential of one header.
    pub fn new(origin: String, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        Self { origin, headers: HeaderMap::from_iter([(name, value)]) }
    }

    /// Returns the headers for an address: none if it is of another site.
    pub fn headers_for(&self, url: &Url) -> HeaderMap {
        let is_same = url.origin().ascii_serialization() == self.origin;
        if is_same { self.headers.clone() } else { HeaderMap::new() }
    }
}

/// The response of a fetch.
#[derive(Debug, Clone)]
pub struct FetchedResponse {
    /// The address of the response, after redirects.
    pub url: Url,
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// Says why a fetch failed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The destination may not be reached, or cannot be.
    #[error(transparent)]
    Egress(#[from] EgressError),
    /// A redirect that is not followed.
    #[error("{from} redirects: {reason}")]
    Redirect {
        /// The address that answered with it.
        from: Url,
        /// The reason why it is not followed.
        reason: String,
    },
    /// The body is too long.
    #[error("the answer of {url} is longer than {max_bytes} bytes")]
    TooLong {
        /// The address of the response.
        url: Url,
        /// The limit.
        max_bytes: usize,
    },
    /// It took too long. A retry may help.
    #[error("{url} did not answer within {seconds} s")]
    TooSlow {
        /// The requested address.
        url: String,
        /// The limit.
        seconds: u64,
    },
    /// The connection, TLS or HTTP did not work.
    #[error("cannot fetch {url}: {reason}")]
    Broken {
        /// The requested address.
        url: Url,
        /// The error.
        reason: String,
    },
}

impl FetchError {
    /// Returns the kind of error in a few words, without the address: its query may hold a secret.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Egress(EgressError::Refused(_)) => "the address may not be reached",
            Self::Egress(EgressError::Unresolved { .. }) => "the name cannot be resolved",
            Self::Egress(EgressError::Unreachable { .. }) => "no server answers there",
            Self::Redirect { .. } => "it redirects",
            Self::TooLong { .. } => "the answer is too long",
            Self::TooSlow { .. } => "no answer in time",
            Self::Broken { .. } => "the connection does not work",
        }
    }
}

/// Fetches through a guard. Cheap to clone.
#[derive(Debug, Clone)]
pub struct GuardedClient {
    guard: Guard,
    limits: ClientLimits,
    redirects: RedirectScope,
}

impl GuardedClient {
    /// Makes a client that reaches only what `guard` allows.
    pub fn new(guard: Guard, limits: ClientLimits) -> Self {
        Self { guard, limits, redirects: RedirectScope::default() }
    }

    /// Limits where redirects may lead.
    #[must_use]
    pub fn with_redirects(self, redirects: RedirectScope) -> Self {
        Self { redirects, ..self }
    }

    /// Fetches an address.
    pub async fn get(&self, url: &str) -> Result<FetchedResponse, FetchError> {
        self.send(Method::GET, url, HeaderMap::new(), Vec::new()).await
    }

    /// Sends a request. Redirects are followed only where nothing but an address was sent: GET and
    /// HEAD. What proves who we are goes to the first origin and to no other: known headers, and
    /// those whose value is marked as sensitive.
    pub async fn send(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<FetchedResponse, FetchError> {
        let too_slow =
            || FetchError::TooSlow { url: url.to_owned(), seconds: self.limits.time.as_secs() };
        let hops = self.follow(method, url, headers, body);
        tokio::time::timeout(self.limits.time, hops).await.map_err(|_| too_slow())?
    }

    async fn follow(
        &self,
        method: Method,
        url: &str,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<FetchedResponse, FetchError> {
        let (mut url, mut destination) = Destination::of_url(url).map_err(EgressError::from)?;
        let may_follow = method == Method::GET || method == Method::HEAD;
        let mut hops = 0;
        loop {
            if !matches!(url.scheme(), "http" | "https") {
                let scheme = url.scheme().to_owned();
                return Err(EgressError::from(Refusal::Scheme { scheme }).into());
            }
            let addresses = self.guard.resolve(&destination).await?;
            let response = self
                .request(&method, &url, &destination, addresses, &headers, body.clone())
                .await?;
            let location = response.headers().get(LOCATION).cloned();
            let (true, Some(location)) = (response.status().is_redirection(), location) else {
                return self.collect(url, response).await;
            };
            let refuse = |reason: String| FetchError::Redirect { from: url.clone(), reason };
            if !may_follow {
                return Err(refuse(format!("a {method} is not sent to another address")));
            }
            if hops == self.limits.redirects {
                return Err(refuse(format!("more than {} redirects", self.limits.redirects)));
            }
            let next = location.to_str().ok().and_then(|text| url.join(text).ok());
            let next = next.ok_or_else(|| refuse("to no address".to_owned()))?;
            let is_other_site = Site::of_url(&next) != Site::of_url(&url);
            if is_other_site && self.redirects == RedirectScope::SameSite {
                let words = "another site than the one that was asked about";
                return Err(refuse(format!("it leads to {next}, {words}")));
            }
            destination = Destination::of_parsed(&next).map_err(EgressError::from)?;
            if next.origin() != url.origin() {
                headers = without_secrets(&headers);
            }
            url = next;
            hops += 1;
        }
    }

    async fn request(
        &self,
        method: &Method,
        url: &Url,
        destination: &Destination,
        addresses: Vec<SocketAddr>,
        headers: &HeaderMap,
        body: Vec<u8>,
    ) -> Result<reqwest::Response, FetchError> {
        let broken = |error: reqwest::Error| FetchError::Broken {
            url: url.clone(),
            reason: describe_causes(&error),
        };
        // The name is asked for in the spelling that was resolved, so that the resolver below is
        // asked for this name and no other.
        let mut url = url.clone();
        if let Some(name) = destination.name() {
            // A spelling that does not fit stays, and the resolver refuses it.
            let _ = url.set_host(Some(name));
        }
        let checked = CheckedAddresses { name: destination.name().map(str::to_owned), addresses };
        // A client for each hop: its connections belong to the addresses that were checked for it.
        let client = HttpClientBuilder::resolving(Arc::new(checked))
            .idle_connections(0, Duration::ZERO)
            .build_for(&url)
            .map_err(|error| FetchError::Broken { url: url.clone(), reason: error.to_string() })?;
        let request = client.request(method.clone(), url.clone());
        request.headers(headers.clone()).body(body).send().await.map_err(broken)
    }

    async fn collect(
        &self,
        url: Url,
        response: reqwest::Response,
    ) -> Result<FetchedResponse, FetchError> {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = match read_body(response, self.limits.bytes).await {
            Ok(body) => body,
            Err(BodyError::TooLong { max_bytes }) => {
                return Err(FetchError::TooLong { url, max_bytes });
            }
            Err(BodyError::Broken(error)) => {
                return Err(FetchError::Broken { url, reason: describe_causes(&error) });
            }
        };
        Ok(FetchedResponse { url, status, headers, body })
    }
}

/// Returns the headers that prove nothing about who we are.
fn without_secrets(headers: &HeaderMap) -> HeaderMap {
    let proves = [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION];
    let is_plain = |(name, value): &(&HeaderName, &HeaderValue)| {
        !value.is_sensitive() && !proves.contains(name)
    };
    let plain = headers.iter().filter(is_plain);
    plain.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Answers for the one name that was checked, with the addresses that were checked.
struct CheckedAddresses {
    name: Option<String>,
    addresses: Vec<SocketAddr>,
}

impl ReqwestResolve for CheckedAddresses {
    fn resolve(&self, name: Name) -> Resolving {
        let known = self.name.as_deref() == Some(name.as_str());
        let addresses = self.addresses.clone();
        Box::pin(async move {
            if !known {
                return Err(format!("{} was not checked", name.as_str()).into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
