//! Interprets the errors of the HTTP client.

use std::error::Error;

use reqwest::Url;

use crate::{ModelError, ModelFault};

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
    let fault = if causes(error).any(is_tls) { ModelFault::Tls } else { ModelFault::Unreachable };
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
