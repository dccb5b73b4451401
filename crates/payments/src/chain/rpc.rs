//! Sends requests of JSON-RPC over HTTP, within limits of time and size.

use std::time::Duration;

use lango_egress::{BodyError, HttpClientBuilder, describe_causes, read_body};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::ChainError;

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// Limits the words of a node that are shown to a person.
const MAX_MESSAGE_CHARACTERS: usize = 300;

/// Sends requests to one node. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RpcClient {
    network: String,
    url: url::Url,
    client: reqwest::Client,
}

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    id: u32,
    method: &'a str,
    params: Parameters<P>,
}

/// The parameters: a tuple is written as a list, and no parameters as an empty one.
struct Parameters<P>(P);

impl<P: Serialize> Serialize for Parameters<P> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if size_of::<P>() == 0 {
            [(); 0].serialize(serializer)
        } else {
            self.0.serialize(serializer)
        }
    }
}

#[derive(Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
struct Response<T> {
    // An answer of null is an answer: it is told apart from none at all.
    #[serde(default, deserialize_with = "read_present")]
    result: Option<T>,
    error: Option<RefusalBody>,
}

#[derive(Deserialize)]
struct RefusalBody {
    message: String,
}

fn read_present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

impl RpcClient {
    /// Makes a client for an address that the user configured.
    pub(crate) fn new(network: &str, url: &str) -> Result<Self, ChainError> {
        let unreachable =
            |reason: String| ChainError::Unreachable { network: network.to_owned(), reason };
        let url: url::Url =
            url.parse().map_err(|error| unreachable(format!("{url:?}: {error}")))?;
        let client = HttpClientBuilder::for_configured_address()
            .total_timeout(TIMEOUT)
            .build_for(&url)
            .map_err(|error| unreachable(error.to_string()))?;
        Ok(Self { network: network.to_owned(), url, client })
    }

    /// Asks the node. `params` is a tuple.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: impl Serialize,
    ) -> Result<T, ChainError> {
        let request = Request { jsonrpc: "2.0", id: 1, method, params: Parameters(params) };
        let body = serde_json::to_vec(&request)
            .map_err(|error| self.unreadable(method, error.to_string()))?;
        let request = self.client.post(self.url.clone()).header("content-type", "application/json");
        let response = request.body(body).send().await;
        let response = response.map_err(|error| self.unreachable(describe_causes(&error)))?;
        let status = response.status();
        let body = read_body(response, MAX_ANSWER_BYTES).await.map_err(|error| match error {
            BodyError::TooLong { .. } => self.unreadable(method, error.to_string()),
            BodyError::Broken(error) => self.unreachable(describe_causes(&error)),
        })?;
        let answer: Response<T> = match serde_json::from_slice(&body) {
            Ok(answer) => answer,
            // A server in front of the node, which did not pass the request on or did not wait.
            Err(_) if !status.is_success() => return Err(self.unreachable(status.to_string())),
            Err(error) => return Err(self.unreadable(method, error.to_string())),
        };
        match answer {
            Response { error: Some(refusal), .. } => {
                let message =
                    lango_text::truncate_characters(&refusal.message, MAX_MESSAGE_CHARACTERS);
                let message = lango_text::make_visible(message);
                Err(ChainError::Refused { network: self.network.clone(), method, message })
            }
            Response { result: Some(result), .. } => Ok(result),
            Response { .. } => {
                Err(self.unreadable(method, "neither a result nor an error".to_owned()))
            }
        }
    }

    fn unreachable(&self, reason: String) -> ChainError {
        ChainError::Unreachable { network: self.network.clone(), reason }
    }

    pub(crate) fn unreadable(&self, method: &'static str, reason: String) -> ChainError {
        ChainError::Unreadable { network: self.network.clone(), method, reason }
    }
}
