//! Defines the errors of the navigator.

use lango_egress::{EgressError, Refusal};
use lango_tool::ToolError;

use crate::chromium::ChromiumError;
use crate::protocol::CallError;

/// Says why the browser could not do something.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NavigatorError {
    #[error(transparent)]
    Chromium(#[from] ChromiumError),
    #[error("{reason}. Look at the disk and at its rights: df -h {place}; ls -ld {place}")]
    NoDirectory { place: String, reason: String },
    #[error("{program} did not start: {reason}{words}")]
    DidNotStart { program: String, reason: String, words: String },
    #[error("the proxy for the browser cannot be started: {0}")]
    NoProxy(std::io::Error),
    #[error("the browser ended by itself. Open the page again with browser_navigate")]
    Ended,
    #[error("no page is open. Open one with browser_navigate")]
    NoPage,
    #[error("the page has crashed. Open it again with browser_navigate, or another one")]
    Crashed,
    #[error(
        "the page does not answer: its scripts were stopped. What is left of it can be read; or \
         open another page with browser_navigate"
    )]
    Hangs,
    #[error(
        "{0} is not an element of the page any more. Read the page again: browser_read with mode outline"
    )]
    Stale(String),
    #[error(
        "no element matches the selector {0:?} in any frame of the page. Read the page: browser_read with mode outline"
    )]
    NoMatch(String),
    #[error("give either ref, from the page's outline, or selector")]
    WhichElement,
    #[error("{0}")]
    Unsuitable(String),
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// The browser was led to an address that is not allowed.
    #[error("{0}")]
    Blocked(String),
    /// The page that was asked for leads to one of another site.
    #[error("it leads to {page}")]
    OtherSite { page: String },
    /// The proxy opened no tunnel: the host is not allowed, or does not exist.
    #[error("{0}")]
    NoTunnel(String),
    #[error("{0}")]
    Failed(String),
    #[error("stopped because the turn was cancelled")]
    Cancelled,
    #[error("the browser said: {0}")]
    Call(CallError),
}

impl From<CallError> for NavigatorError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Gone => Self::Ended,
            other => Self::Call(other),
        }
    }
}

impl From<EgressError> for NavigatorError {
    fn from(error: EgressError) -> Self {
        match error {
            EgressError::Refused(refusal) => Self::Refused(refusal),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<NavigatorError> for ToolError {
    fn from(error: NavigatorError) -> Self {
        match error {
            NavigatorError::Refused(refusal) => Self::Forbidden(refusal.to_string()),
            NavigatorError::Blocked(reason) => Self::Forbidden(reason),
            NavigatorError::Cancelled => Self::Cancelled,
            NavigatorError::WhichElement => Self::Arguments(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}
