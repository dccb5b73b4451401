//! Is the only path of this program to the network.
//!
//! A [`Guard`] decides which addresses may be reached. It decides on the addresses that a
//! connection is really made to, after the name was resolved and without a second lookup, so that
//! neither a spelling of an address nor a name server can bypass it. Code reaches the network
//! through one of its two users: [`GuardedClient`] for requests of our own, [`Proxy`] for programs
//! that make connections themselves, such as a browser.
//!
//! The user configured the addresses of model providers, so no guard decides about them. Their
//! clients are built here all the same, by [`HttpClientBuilder`].
//!
//! Also here is what every connection to another server needs, once for all of them:
//! [`Backoff`] for the waits between attempts, [`CircuitBreaker`] for servers that keep failing, and
//! [`SseDecoder`] for streams of events. What counts as a failure and what may be repeated is for
//! the callers to say, and this crate does not interpret what is fetched.

mod address;
mod backoff;
mod breaker;
mod channel;
mod client;
mod destination;
mod error;
mod guard;
mod http;
mod pattern;
mod proxy;
mod resolve;
mod rules;
mod site;
mod sse;

pub use address::{AddressKind, kind_of};
pub use backoff::{Backoff, BackoffPolicy};
pub use breaker::{BreakerPolicy, BreakerState, CircuitBreaker, Permit};
pub use channel::{Channel, StreamedResponse};
pub use client::{
    ClientLimits, FetchError, FetchedResponse, GuardedClient, RedirectScope, SiteCredential,
};
pub use destination::{Destination, Scheme};
pub use error::{EgressError, Refusal};
pub use guard::Guard;
pub use http::{BodyError, HttpClientBuilder, HttpClientError, describe_causes, read_body};
pub use pattern::{Pattern, PatternError};
pub use proxy::{BlockedRequest, Proxy, ProxyCredentials, ProxyLimits};
pub use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
pub use reqwest::{Method, StatusCode};
pub use resolve::{Addresses, Resolve, SystemResolver};
pub use rules::Rules;
pub use site::Site;
pub use sse::{LineDecoder, SseDecoder, SseEvent, SseField, StreamTooLong};
pub use url::Url;
