//! Pages, by the one way out to the network.

use std::time::Duration;

use lango_egress::{ClientLimits, FetchError, Guard, GuardedClient};
use url::Url;

use super::super::read::{Content, ReadLimits, Unreadable};

/// Fetches pages. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Fetch {
    client: GuardedClient,
}

/// Why there is no page.
pub(super) enum NotFetched {
    /// The server says that it is not there any more.
    Gone(Unreadable),
    /// Anything else; it may come back.
    Other(Unreadable),
}

impl Fetch {
    /// Goes where `guard` lets it, and takes no more than a file may have.
    pub fn new(guard: Guard, limits: ReadLimits) -> Self {
        let bytes = usize::try_from(limits.max_file_bytes).unwrap_or(usize::MAX);
        let limits =
            ClientLimits { bytes, time: Duration::from_mins(2), ..ClientLimits::default() };
        Self { client: GuardedClient::new(guard, limits) }
    }

    pub(super) async fn get(&self, url: &Url) -> Result<Content, NotFetched> {
        let fetched = self.client.get(url.as_str()).await.map_err(|error| match error {
            FetchError::TooLong { most, .. } => {
                let most = most as u64;
                NotFetched::Other(Unreadable::TooLarge { bytes: most + 1, most })
            }
            error => NotFetched::Other(Unreadable::Unreachable { detail: error.to_string() }),
        })?;
        let status = fetched.status;
        if !status.is_success() {
            let reason =
                Unreadable::Unreachable { detail: format!("the server answered {status}") };
            let is_gone = matches!(status.as_u16(), 404 | 410);
            return Err(if is_gone { NotFetched::Gone(reason) } else { NotFetched::Other(reason) });
        }
        let content_type = fetched.headers.get("content-type");
        let content_type = content_type.and_then(|value| value.to_str().ok()).map(str::to_owned);
        // The last part of the address tells a format where the server does not.
        Ok(Content { name: url.path().to_owned(), content_type, bytes: fetched.body })
    }
}
