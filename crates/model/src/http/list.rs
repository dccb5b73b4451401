//! Which models a server has.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::incoming::Incoming;
use super::reply::{self, Limits};
use super::{Endpoint, Shared, Wire, client};
use crate::anthropic::Anthropic;
use crate::{Fault, ModelError};

/// The longest list that is read.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How long a server may send nothing. A list needs no thought.
const IDLE: Duration = Duration::from_secs(5);
/// How long the whole may take.
const TOTAL: Duration = Duration::from_mins(1);
/// Of how many models Ollama is asked for more than the name, and of how many at once.
const MAX_SHOWN: usize = 50;
const SHOWN_AT_ONCE: usize = 4;

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

/// Asks the server of an endpoint for its models, in the server's order. The endpoint's own model
/// need not exist.
pub async fn list_models(endpoint: &Endpoint) -> Result<Vec<ListedModel>, ModelError> {
    let lister = Lister::new(endpoint)?;
    let models = match endpoint.wire {
        Wire::OpenAi => lister.get("/models").await?.read("data", openai),
        Wire::Anthropic => lister.get("/models?limit=1000").await?.read("data", anthropic),
        Wire::Gemini => lister.get("/models?pageSize=1000").await?.read("models", gemini),
        Wire::Ollama => {
            let models = lister.get("/api/tags").await?.read("models", ollama);
            lister.show(models).await
        }
    };
    Ok(models)
}

struct Lister {
    shared: Shared,
    limits: Limits,
}

/// A document of a server.
struct Listing(Value);

impl Listing {
    /// The entries under this name; some servers send the list without anything around it.
    fn read(&self, name: &str, one: fn(&Value) -> Option<ListedModel>) -> Vec<ListedModel> {
        let list = self.0.get(name).unwrap_or(&self.0);
        list.as_array().into_iter().flatten().filter_map(one).collect()
    }
}

impl Lister {
    fn new(endpoint: &Endpoint) -> Result<Self, ModelError> {
        let limits = Limits { idle: IDLE, deadline: Instant::now() + TOTAL, total: TOTAL };
        Ok(Self { shared: Shared::new(endpoint.clone())?, limits })
    }

    async fn get(&self, path: &str) -> Result<Listing, ModelError> {
        self.ask(path, None).await
    }

    async fn ask(&self, path: &str, body: Option<&Value>) -> Result<Listing, ModelError> {
        let endpoint = &self.shared.endpoint;
        let url = super::address(&endpoint.base_url, |base| match endpoint.wire {
            Wire::Anthropic => format!("{}{path}", Anthropic::versioned(base)),
            _ => format!("{base}{path}"),
        });
        let shown = url.as_ref().map_or_else(|_| path.to_owned(), client::shown);
        let answer = match url {
            Ok(url) => self.answer(url, body).await,
            Err(error) => Err(ModelError::new(Fault::BadRequest, error.to_string())),
        };
        answer.map_err(|error| self.shared.name_at(error, &shown))
    }

    async fn answer(&self, url: Url, body: Option<&Value>) -> Result<Listing, ModelError> {
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
            None => Ok(Listing(listing)),
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

    /// Ollama says what a model can do only one by one. A model that cannot be shown is listed all
    /// the same.
    async fn show(&self, mut models: Vec<ListedModel>) -> Vec<ListedModel> {
        let rest = models.split_off(models.len().min(MAX_SHOWN));
        let shown = stream::iter(models).map(|model| self.show_one(model)).buffered(SHOWN_AT_ONCE);
        let mut models: Vec<_> = shown.collect().await;
        models.extend(rest);
        models
    }

    async fn show_one(&self, model: ListedModel) -> ListedModel {
        match self.ask("/api/show", Some(&json!({ "model": model.name }))).await {
            Ok(Listing(shown)) => with_shown(model, &shown),
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

fn name(model: &Value, field: &str) -> Option<String> {
    model.get(field)?.as_str().map(str::to_owned)
}

fn contains(list: Option<&Value>, word: &str) -> Option<bool> {
    Some(list?.as_array()?.iter().any(|entry| entry.as_str() == Some(word)))
}

/// OpenAI says nothing but the name; the others each say more in their own way.
fn openai(model: &Value) -> Option<ListedModel> {
    const WINDOWS: [&str; 6] = [
        "/context_length",
        "/max_model_len",
        "/context_window",
        "/max_context_length",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
    ];
    let flag = |pointer| model.pointer(pointer).and_then(Value::as_bool);
    Some(ListedModel {
        name: name(model, "id")?,
        window: WINDOWS.iter().find_map(|pointer| model.pointer(pointer)?.as_u64()),
        tools: contains(model.get("supported_parameters"), "tools")
            .or_else(|| flag("/capabilities/function_calling")),
        images: contains(model.pointer("/architecture/input_modalities"), "image")
            .or_else(|| flag("/capabilities/vision")),
    })
}

fn anthropic(model: &Value) -> Option<ListedModel> {
    Some(ListedModel {
        name: name(model, "id")?,
        window: model.get("max_input_tokens").and_then(Value::as_u64),
        tools: None,
        images: model.pointer("/capabilities/image_input/supported").and_then(Value::as_bool),
    })
}

fn gemini(model: &Value) -> Option<ListedModel> {
    let talks = contains(model.get("supportedGenerationMethods"), "generateContent");
    let name = name(model, "name")?;
    (talks == Some(true)).then(|| ListedModel {
        name: name.strip_prefix("models/").unwrap_or(&name).to_owned(),
        window: model.get("inputTokenLimit").and_then(Value::as_u64),
        tools: None,
        images: None,
    })
}

fn ollama(model: &Value) -> Option<ListedModel> {
    let name = name(model, "model").or_else(|| name(model, "name"))?;
    Some(ListedModel { name, ..ListedModel::default() })
}

fn with_shown(model: ListedModel, shown: &Value) -> ListedModel {
    let capabilities = shown.get("capabilities");
    // The field is named after the model's architecture, such as `qwen3.context_length`.
    let info = shown.get("model_info").and_then(Value::as_object);
    let length = info.into_iter().flatten().find(|(key, _)| key.ends_with(".context_length"));
    ListedModel {
        window: length.and_then(|(_, value)| value.as_u64()),
        tools: contains(capabilities, "tools"),
        images: contains(capabilities, "vision"),
        ..model
    }
}
