//! Searches the web through a search server of the user's choice.
//!
//! The server is a `SearXNG`, reached under the outbound network policy. There is no built-in one:
//! who receives the queries is the user's decision, and without a server the tool does not exist.

mod tool;

use std::fmt;

use lango_egress::{FetchError, GuardedClient, Url};
use serde::{Deserialize, Serialize};

pub(crate) use tool::SearchWeb;

/// Represents a client of a search server.
#[derive(Clone)]
pub struct WebSearchClient {
    server: Url,
    client: GuardedClient,
}

/// Says why a web search failed.
#[derive(Debug, thiserror::Error)]
pub enum WebSearchError {
    /// The configured address is invalid.
    #[error("search.url is not the address of a server: {0}")]
    Address(String),
    /// The request failed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The server did not answer with results.
    #[error(
        "the search server answers {status} instead of results in JSON. Check search.url, and that \
         its settings have json among search.formats"
    )]
    Answer {
        /// The HTTP status.
        status: u16,
    },
}

/// Represents a page that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebHit {
    /// The page's address.
    pub url: String,
    /// The page's title.
    #[serde(default)]
    pub title: String,
    /// An excerpt of the page.
    #[serde(default)]
    pub content: String,
}

#[derive(Deserialize)]
struct SearchResponse {
    results: Vec<WebHit>,
}

impl fmt::Debug for WebSearchClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSearch").field("server", &self.server.as_str()).finish_non_exhaustive()
    }
}

impl WebSearchClient {
    /// Creates a client for the server at this address.
    pub fn new(server: &str, client: GuardedClient) -> Result<Self, WebSearchError> {
        let url = Url::parse(server).map_err(|error| WebSearchError::Address(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(WebSearchError::Address(format!("{} is not http or https", url.scheme())));
        }
        Ok(Self { server: url, client })
    }

    /// Returns the address of the server.
    pub fn address(&self) -> &str {
        self.server.as_str()
    }

    /// Returns pages for a query, the best first.
    pub async fn search(&self, query: &str, limit: usize) -> Result<Vec<WebHit>, WebSearchError> {
        let mut url = self.server.clone();
        let path = format!("{}/search", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
        let fetched = self.client.get(url.as_str()).await?;
        let status = fetched.status.as_u16();
        // An answer that is not understood is an error below, with its status.
        let answer: Option<SearchResponse> = serde_json::from_slice(&fetched.body).ok();
        let Some(answer) = answer.filter(|_| fetched.status.is_success()) else {
            return Err(WebSearchError::Answer { status });
        };
        Ok(answer.results.into_iter().take(limit).collect())
    }
}
