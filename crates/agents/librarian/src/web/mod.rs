//! The web, through a search server of the user's choice.
//!
//! The server is a `SearXNG`, asked over the guarded way out. There is no built-in one: whom a
//! question is sent to is the user's decision, and without it there is no such tool.

mod tool;

use std::fmt;

use lango_egress::{FetchError, GuardedClient, Url};
use serde::{Deserialize, Serialize};

pub(crate) use tool::SearchWeb;

/// A search server.
#[derive(Clone)]
pub struct WebSearch {
    server: Url,
    client: GuardedClient,
}

/// Why the web was not searched.
#[derive(Debug, thiserror::Error)]
pub enum WebSearchError {
    /// The address in the configuration.
    #[error("search.url is not the address of a server: {0}")]
    Address(String),
    /// The server cannot be asked.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// It answers, but with something else.
    #[error(
        "the search server answers {status} instead of results in JSON. Check search.url, and that \
         its settings have json among search.formats"
    )]
    Answer {
        /// Its status.
        status: u16,
    },
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebHit {
    /// Its address.
    pub url: String,
    /// What it calls itself.
    #[serde(default)]
    pub title: String,
    /// A part of it.
    #[serde(default)]
    pub content: String,
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<WebHit>,
}

impl fmt::Debug for WebSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSearch").field("server", &self.server.as_str()).finish_non_exhaustive()
    }
}

impl WebSearch {
    /// A server by its address.
    pub fn new(server: &str, client: GuardedClient) -> Result<Self, WebSearchError> {
        let url = Url::parse(server).map_err(|error| WebSearchError::Address(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(WebSearchError::Address(format!("{} is not http or https", url.scheme())));
        }
        Ok(Self { server: url, client })
    }

    /// Pages for a query, the best first.
    pub async fn search(&self, query: &str, limit: usize) -> Result<Vec<WebHit>, WebSearchError> {
        let mut url = self.server.clone();
        let path = format!("{}/search", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
        let fetched = self.client.get(url.as_str()).await?;
        let status = fetched.status.as_u16();
        let answer: Option<Answer> = serde_json::from_slice(&fetched.body).ok();
        let Some(answer) = answer.filter(|_| fetched.status.is_success()) else {
            return Err(WebSearchError::Answer { status });
        };
        Ok(answer.results.into_iter().take(limit).collect())
    }
}
