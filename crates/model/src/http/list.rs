//! Lists the models of a server.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::incoming::IncomingResponse;
use super::reply::{self, ReplyTimeouts};
use super::{Endpoint, Shared, client};
use crate::{ModelError, ModelFault};

/// Limits the size of a list.
const MAX_LIST_BYTES: usize = 8 * 1024 * 1024;
/// Limits how long a server may send nothing. A list takes no model time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// Limits how long the whole listing may take.
const TOTAL_TIMEOUT: Duration = Duration::from_mins(1);
/// Limits for how many models details are requested, and for how many at once.
const MAX_DETAILED_COUNT: usize = 50;
const DETAIL_CONCURRENCY: usize = 4;

/// Describes a model that a server offers. What the server does not report is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedModel {
    /// Its name for this server.
    pub name: String,
    /// Tokens it can take.
    pub window: Option<u64>,
    /// Support for tool calls.
    pub tools: Option<bool>,
    /// Support for images.
    pub images: Option<bool>,
}

/// Describes how an API lists the models of a server.
pub(crate) struct ModelList {
    /// Returns the address of the list, given the base URL without its last slash.
    pub(crate) url: fn(&str) -> String,
    /// The field that holds the list.
    pub(crate) field: &'static str,
    /// Reads an entry. `None` where it is not a model that can be talked to.
    pub(crate) read: fn(&Value) -> Option<ListedModel>,
    /// The request for details of a model, where the list has little but names.
    pub(crate) details: Option<ModelDetails>,
}

/// Describes how an API returns the details of one model.
#[derive(Clone, Copy)]
pub(crate) struct ModelDetails {
    /// Returns the address to which the name is posted, given the base URL without its last slash.
    pub(crate) url: fn(&str) -> String,
    /// Adds what the server says about the model.
    pub(crate) read: fn(ListedModel, &Value) -> ListedModel,
}

/// Asks the server of an endpoint for its models, in the server's order. The endpoint's own model
/// need not exist.
pub async fn list_models(endpoint: &Endpoint) -> Result<Vec<ListedModel>, ModelError> {
    let lister = ModelLister::new(endpoint)?;
    let ModelList { url, field, read, details } = endpoint.wire.dialect().model_list();
    let document = lister.ask(url, None).await?;
    // Some servers send the list without anything around it.
    let list = document.get(field).unwrap_or(&document);
    let models = list.as_array().into_iter().flatten().filter_map(read).collect();
    match details {
        Some(details) => Ok(lister.detail(models, details).await),
        None => Ok(models),
    }
}

struct ModelLister {
    shared: Shared,
    timeouts: ReplyTimeouts,
}

impl ModelLister {
    fn new(endpoint: &Endpoint) -> Result<Self, ModelError> {
        let timeouts = ReplyTimeouts {
            idle: IDLE_TIMEOUT,
            deadline: Instant::now() + TOTAL_TIMEOUT,
            total: TOTAL_TIMEOUT,
        };
        Ok(Self { shared: Shared::new(endpoint.clone())?, timeouts })
    }

    async fn ask(
        &self,
        url: fn(&str) -> String,
        body: Option<&Value>,
    ) -> Result<Value, ModelError> {
        let url = super::address(&self.shared.endpoint.base_url, url);
        let shown =
            url.as_ref().map_or_else(|_| "its list of models".to_owned(), client::display_url);
        let answer = match url {
            Ok(url) => self.answer(url, body).await,
            Err(error) => Err(ModelError::new(ModelFault::BadRequest, error.to_string())),
        };
        answer.map_err(|error| self.shared.attribute_to(error, &shown))
    }

    async fn answer(&self, url: Url, body: Option<&Value>) -> Result<Value, ModelError> {
        let client = self.shared.client()?;
        let sending = match body {
            Some(body) => client.post(url).body(body.to_string()),
            None => client.get(url),
        };
        let sending = sending.headers(self.shared.headers.clone()).send();
        let response =
            self.timeouts.wait(sending).await?.map_err(|error| client::request_error(&error))?;
        if !response.status().is_success() {
            return Err(no_list(
                reply::read_refusal(IncomingResponse::new(response, None), self.timeouts).await,
            ));
        }
        let body = self.body(response).await?;
        let listing: Value = super::parse(&body)?;
        match listing.get("error").filter(|error| !error.is_null()) {
            Some(error) => Err(ModelError::from_document(&error.to_string())),
            None => Ok(listing),
        }
    }

    async fn body(&self, mut response: reqwest::Response) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        loop {
            match self.timeouts.wait(response.chunk()).await? {
                Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                Ok(None) => return Ok(body),
                Err(error) => {
                    return Err(ModelError::new(ModelFault::Cut, client::describe(&error)));
                }
            }
            if body.len() > MAX_LIST_BYTES {
                let reason = format!("the list is longer than {MAX_LIST_BYTES} bytes");
                return Err(ModelError::new(ModelFault::Malformed, reason));
            }
        }
    }

    /// Asks for the details of each model. A model without details is listed all the same.
    async fn detail(
        &self,
        mut models: Vec<ListedModel>,
        details: ModelDetails,
    ) -> Vec<ListedModel> {
        let rest = models.split_off(models.len().min(MAX_DETAILED_COUNT));
        let detailed = stream::iter(models)
            .map(|model| self.detail_one(model, details))
            .buffered(DETAIL_CONCURRENCY);
        let mut models: Vec<_> = detailed.collect().await;
        models.extend(rest);
        models
    }

    async fn detail_one(&self, model: ListedModel, details: ModelDetails) -> ListedModel {
        match self.ask(details.url, Some(&json!({ "model": model.name }))).await {
            Ok(said) => (details.read)(model, &said),
            Err(error) => {
                let (name, fault) = (&model.name, error.fault);
                tracing::debug!(model = %name, ?fault, "details of a listed model are missing");
                model
            }
        }
    }
}

/// Corrects the kind of error: "not found" here is about the list, not about a model.
fn no_list(mut error: ModelError) -> ModelError {
    if error.fault == ModelFault::UnknownModel {
        error.fault = ModelFault::BadRequest;
    }
    error
}

/// Returns a text in an entry of a list.
pub(crate) fn string_field(model: &Value, field: &str) -> Option<String> {
    model.get(field)?.as_str().map(str::to_owned)
}

/// Tells whether a list contains a word; `None` where there is no list.
pub(crate) fn lists_word(list: Option<&Value>, word: &str) -> Option<bool> {
    Some(list?.as_array()?.iter().any(|entry| entry.as_str() == Some(word)))
}
