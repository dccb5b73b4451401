//! Which models a server has.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::incoming::Incoming;
use super::reply::{self, Limits};
use super::{Endpoint, Shared, client};
use crate::{Fault, ModelError};

/// The longest list that is read.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How long a server may send nothing. A list needs no thought.
const IDLE: Duration = Duration::from_secs(5);
/// How long the whole may take.
const TOTAL: Duration = Duration::from_mins(1);
/// Of how many models more than the name is asked for, and of how many at once.
const MAX_DETAILED: usize = 50;
const DETAILED_AT_ONCE: usize = 4;

/// A model that a server offers. What the server does not say is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedModel {
    /// Its name for this server.
    pub name: String,
    /// Tokens it can take.
    pub window: Option<u64>,
    /// Whether it calls tools.
    pub tools: Option<bool>,
    /// Whether it takes images.
    pub images: Option<bool>,
}

/// How a wire lists the models of a server.
pub(crate) struct ModelList {
    /// Returns the address of the list, given the base URL without its last slash.
    pub(crate) url: fn(&str) -> String,
    /// The field that holds the list.
    pub(crate) field: &'static str,
    /// Reads an entry. `None` where it is not a model that can be talked to.
    pub(crate) read: fn(&Value) -> Option<ListedModel>,
    /// How to ask for more about a model, where the list has little but names.
    pub(crate) details: Option<ModelDetails>,
}

/// How a wire says more about one model.
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
    let lister = Lister::new(endpoint)?;
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

struct Lister {
    shared: Shared,
    limits: Limits,
}

impl Lister {
    fn new(endpoint: &Endpoint) -> Result<Self, ModelError> {
        let limits = Limits { idle: IDLE, deadline: Instant::now() + TOTAL, total: TOTAL };
        Ok(Self { shared: Shared::new(endpoint.clone())?, limits })
    }

    async fn ask(
        &self,
        url: fn(&str) -> String,
        body: Option<&Value>,
    ) -> Result<Value, ModelError> {
        let url = super::address(&self.shared.endpoint.base_url, url);
        let shown = url.as_ref().map_or_else(|_| "its list of models".to_owned(), client::shown);
        let answer = match url {
            Ok(url) => self.answer(url, body).await,
            Err(error) => Err(ModelError::new(Fault::BadRequest, error.to_string())),
        };
        answer.map_err(|error| self.shared.name_at(error, &shown))
    }

    async fn answer(&self, url: Url, body: Option<&Value>) -> Result<Value, ModelError> {
        let client = self.shared.client()?;
        let sending = match body {
            Some(body) => client.post(url).body(body.to_string()),
            None => client.get(url),
        };
        let sending = sending.headers(self.shared.headers.clone()).send();
        let response = self.limits.wait(sending).await?.map_err(|error| client::failed(&error))?;
        if !response.status().is_success() {
            return Err(no_list(reply::refused(Incoming::new(response, None), self.limits).await));
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
            match self.limits.wait(response.chunk()).await? {
                Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                Ok(None) => return Ok(body),
                Err(error) => return Err(ModelError::new(Fault::Cut, client::describe(&error))),
            }
            if body.len() > MAX_BYTES {
                let reason = format!("the list is longer than {MAX_BYTES} bytes");
                return Err(ModelError::new(Fault::Malformed, reason));
            }
        }
    }

    /// Asks for more about each model. A model that nothing more is said about is listed all the same.
    async fn detail(
        &self,
        mut models: Vec<ListedModel>,
        details: ModelDetails,
    ) -> Vec<ListedModel> {
        let rest = models.split_off(models.len().min(MAX_DETAILED));
        let detailed = stream::iter(models)
            .map(|model| self.detail_one(model, details))
            .buffered(DETAILED_AT_ONCE);
        let mut models: Vec<_> = detailed.collect().await;
        models.extend(rest);
        models
    }

    async fn detail_one(&self, model: ListedModel, details: ModelDetails) -> ListedModel {
        match self.ask(details.url, Some(&json!({ "model": model.name }))).await {
            Ok(said) => (details.read)(model, &said),
            Err(_) => model,
        }
    }
}

/// «Not found» here is about the list, not about a model.
fn no_list(mut error: ModelError) -> ModelError {
    if error.fault == Fault::UnknownModel {
        error.fault = Fault::BadRequest;
    }
    error
}

/// Returns a text in an entry of a list.
pub(crate) fn string_field(model: &Value, field: &str) -> Option<String> {
    model.get(field)?.as_str().map(str::to_owned)
}

/// Returns whether a list of words has this one. `None` where there is no list.
pub(crate) fn lists_word(list: Option<&Value>, word: &str) -> Option<bool> {
    Some(list?.as_array()?.iter().any(|entry| entry.as_str() == Some(word)))
}
