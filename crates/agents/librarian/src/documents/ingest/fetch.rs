//! Fetches pages under the outbound network policy.

use std::time::Duration;

use lango_egress::{
    ClientLimits, FetchError, Guard, GuardedClient, Method, RedirectScope, SiteCredential,
};
use url::Url;

use super::super::read::{FileContent, ReadLimits, UnreadableReason};

/// Fetches pages. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PageFetcher {
    client: GuardedClient,
    credential: Option<SiteCredential>,
}

/// Says why a page was not fetched.
pub(super) enum FetchFailure {
    /// The server says that the page no longer exists.
    Gone(UnreadableReason),
    /// Any other failure, which may be temporary.
    Other(UnreadableReason),
}

impl PageFetcher {
    /// Creates a client that follows `guard` and accepts as many bytes as a file may have.
    pub fn new(guard: Guard, limits: ReadLimits) -> Self {
        let bytes = usize::try_from(limits.max_file_bytes).unwrap_or(usize::MAX);
        let limits =
            ClientLimits { bytes, time: Duration::from_mins(2), ..ClientLimits::default() };
        Self { client: GuardedClient::new(guard, limits), credential: None }
    }

    /// Limits redirects to the site of an address, which a question or a rule was about.
    pub(super) fn within_site(self) -> Self {
        Self { client: self.client.with_redirects(RedirectScope::SameSite), ..self }
    }

    /// Sends a header along to its site.
    pub(super) fn with_credential(self, credential: SiteCredential) -> Self {
        Self { credential: Some(credential), ..self }
    }

    pub(super) async fn fetch_page(&self, url: &Url) -> Result<FileContent, FetchFailure> {
        let credential = self.credential.as_ref();
        let headers = credential.map(|credential| credential.headers_for(url)).unwrap_or_default();
        let sent = self.client.send(Method::GET, url.as_str(), headers, Vec::new()).await;
        let fetched = sent.map_err(|error| match error {
            FetchError::TooLong { max_bytes: most, .. } => {
                let most = most as u64;
                FetchFailure::Other(UnreadableReason::TooLarge { bytes: most + 1, most })
            }
            error => {
                FetchFailure::Other(UnreadableReason::Unreachable { detail: error.to_string() })
            }
        })?;
        let status = fetched.status;
        if !status.is_success() {
            let reason =
                UnreadableReason::Unreachable { detail: format!("the server answered {status}") };
            let is_gone = matches!(status.as_u16(), 404 | 410);
            return Err(if is_gone {
                FetchFailure::Gone(reason)
            } else {
                FetchFailure::Other(reason)
            });
        }
        let content_type = fetched.headers.get("content-type");
        // A type that is no text is none that could be read.
        let content_type = content_type.and_then(|value| value.to_str().ok()).map(str::to_owned);
        // The end of the address tells the format if the server does not.
        Ok(FileContent { name: url.path().to_owned(), content_type, bytes: fetched.body })
    }
}
