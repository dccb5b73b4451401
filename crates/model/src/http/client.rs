//! Builds the HTTP client and interprets its errors.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;

use crate::{Fault, ModelError};

/// Builds a client for one address. A plain-text one gets no certificate store, because loading the
/// system's costs more CPU than a whole turn; a loopback one never uses a proxy.
pub(super) fn for_url(url: &Url) -> Result<reqwest::Client, reqwest::Error> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(10))
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .user_agent(concat!("lango/", env!("CARGO_PKG_VERSION")));
    if url.scheme() == "http" {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map(|tls| {
                tls.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
            });
        if let Ok(tls) = tls {
            builder = builder.tls_backend_preconfigured(tls);
        }
    }
    if url.host_str().is_some_and(is_loopback) {
        builder = builder.no_proxy();
    }
    builder.build()
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Returns an address for messages, without credentials that the user may have put into it.
pub(super) fn display_url(url: &Url) -> String {
    let mut url = url.clone();
    // Fails only for addresses that cannot have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.to_string()
}

/// Converts the error of a request that got no response.
pub(super) fn request_error(error: &reqwest::Error) -> ModelError {
    let fault = if causes(error).any(is_tls) { Fault::Tls } else { Fault::Unreachable };
    ModelError::new(fault, describe(error))
}

/// Returns the innermost cause, which is the most specific one.
pub(super) fn describe(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Returns an error and its causes. The error that an I/O error wraps is not its source but itself.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |error| cause(*error))
}

fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn is_tls(error: &(dyn Error + 'static)) -> bool {
    error.is::<rustls::Error>()
}
