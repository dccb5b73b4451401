//! Is the only path of this program to the network.
//!
//! A [`Guard`] decides which addresses may be reached. It decides on the addresses that a
//! connection is really made to, after the name was resolved and without a second lookup, so that
//! neither a spelling of an address nor a name server can bypass it. Code reaches the network
//! through one of its two users: [`GuardedClient`] for requests of our own, [`Proxy`] for programs
//! that make connections themselves, such as a browser.
//!
//! This crate does not interpret what is fetched. Model providers are not reached through it: the
//! user configured their addresses.

mod address;
mod channel;
mod client;
mod destination;
mod error;
mod guard;
mod pattern;
mod proxy;
mod resolve;
mod rules;

pub use address::{AddressKind, kind_of};
pub use channel::{Channel, StreamedResponse};
pub use client::{ClientLimits, FetchError, FetchedResponse, GuardedClient};
pub use destination::{Destination, Scheme};
pub use error::{EgressError, Refusal};
pub use guard::Guard;
pub use pattern::{Pattern, PatternError};
pub use proxy::{BlockedRequest, Proxy, ProxyCredentials, ProxyLimits};
pub use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
pub use reqwest::{Method, StatusCode};
pub use resolve::{Addresses, Resolve, SystemResolver};
pub use rules::Rules;
pub use url::Url;
