//! Calls models over HTTP: one client, one stream reader, and a [`Dialect`] for each API.
//!
//! A dialect says what a request looks like and what a document of the stream means. Everything
//! that must never differ between providers is here: limits, timeouts, what counts as the end of
//! a reply, and that calls are given out only after it.

mod assembly;
mod client;
mod frames;
mod incoming;
mod list;
mod quirks;
mod reply;
#[cfg(test)]
pub(crate) mod sample;
mod wire;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::stream;
use lango_egress::HttpClientBuilder;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;

use crate::tape::{ExchangeEnd, RecordingWriter};
use crate::{
    Model, ModelError, ModelEvent, ModelFacts, ModelFault, ModelId, ModelRequest, ModelStream,
};
use incoming::IncomingResponse;
use quirks::LearnedQuirks;

pub(crate) use assembly::{Assembly, Ending};
pub(crate) use frames::Framing;
pub use list::{ListedModel, list_models};
pub(crate) use list::{ModelDetails, ModelList, lists_word, string_field};
pub(crate) use quirks::Quirks;
pub use wire::Wire;

/// Describes how to reach a model.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The model.
    pub id: ModelId,
    /// The API that the server speaks.
    pub wire: Wire,
    /// The address up to and including the version, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Sent in the wire's own header.
    pub api_key: Option<ApiKey>,
    /// The environment variable of the key, for messages.
    pub key_variable: Option<String>,
    /// Sent along with every request.
    pub headers: Vec<(String, String)>,
    /// The longest time that the server may send nothing.
    pub idle_timeout: Duration,
    /// The longest time that a whole reply may take.
    pub total_timeout: Duration,
    /// The model's properties.
    pub facts: ModelFacts,
    /// The recording of everything that is sent and received.
    pub tape: Option<Arc<RecordingWriter>>,
}

impl Endpoint {
    /// Makes an endpoint without a key, with the default limits.
    pub fn new(id: ModelId, wire: Wire, base_url: impl Into<String>) -> Self {
        Self {
            id,
            wire,
            base_url: base_url.into(),
            api_key: None,
            key_variable: None,
            headers: Vec::new(),
            idle_timeout: Duration::from_mins(2),
            total_timeout: Duration::from_mins(10),
            facts: ModelFacts::default(),
            tape: None,
        }
    }
}

/// Holds an API key. It is never printed.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Implements one provider API: how to ask, and how to read the reply.
pub(crate) trait Dialect: Send + Sync {
    /// Returns the address of the request, given the base URL without its last slash.
    fn url(&self, base_url: &str, model: &str) -> String;

    /// Returns the header that carries the key, and its value.
    fn authorization(&self, key: &str) -> (&'static str, String);

    /// Returns the headers that every request has.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Serialises the request. For the same request the body is the same to the byte, and
    /// everything before the newest user message stays the same from call to call: providers cache
    /// it.
    fn body(&self, endpoint: &Endpoint, request: &ModelRequest) -> serde_json::Result<Vec<u8>>;

    /// Serialises the request for a server that does not accept every field.
    fn body_for(
        &self,
        endpoint: &Endpoint,
        request: &ModelRequest,
        _quirks: Quirks,
    ) -> serde_json::Result<Vec<u8>> {
        self.body(endpoint, request)
    }

    /// Returns how the documents of the stream are separated.
    fn framing(&self) -> Framing;

    /// Returns a reader for one reply.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Describes how a server lists its models.
    fn model_list(&self) -> ModelList;
}

/// Reads the documents of one reply.
pub(crate) trait Decoder: Send {
    /// Takes one document. Unknown fields and kinds are nothing special: every server adds its own.
    fn document(&mut self, document: &[u8], reply: &mut Assembly) -> Result<(), ModelError>;
}

/// Returns an address below a base URL. A query of the base, such as a version, goes to the end.
fn address(
    base_url: &str,
    below: impl FnOnce(&str) -> String,
) -> Result<Url, <Url as std::str::FromStr>::Err> {
    let (base, query) = base_url.split_once('?').unwrap_or((base_url, ""));
    let mut url = Url::parse(&below(base.trim_end_matches('/')))?;
    if !query.is_empty() {
        let whole = url.query().map_or_else(|| query.to_owned(), |own| format!("{own}&{query}"));
        url.set_query(Some(&whole));
    }
    Ok(url)
}

/// Reads a document as JSON.
pub(crate) fn parse<'a, T: serde::Deserialize<'a>>(document: &'a [u8]) -> Result<T, ModelError> {
    serde_json::from_slice(document).map_err(|error| {
        let shown: String = String::from_utf8_lossy(document).chars().take(120).collect();
        ModelError::new(ModelFault::Malformed, format!("{error} in {shown:?}"))
    })
}

/// Replaces the user message that an API requires at the beginning where there is none.
pub(crate) const OPENING_TEXT: &str = "(The beginning of this conversation is not shown.)";
/// Replaces the user message that an API requires at the end where there is none.
pub(crate) const CONTINUE_TEXT: &str = "(Go on.)";

/// Prefixes a text with its agent's name, for APIs that have no field for it.
pub(crate) fn with_author<'a>(author: Option<&str>, text: &'a str) -> Cow<'a, str> {
    match author.filter(|_| !text.trim().is_empty()) {
        Some(author) => Cow::Owned(format!("[{author}] {text}")),
        None => Cow::Borrowed(text),
    }
}

/// Calls a model over HTTP.
#[derive(Debug, Clone)]
pub struct RemoteModel {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Built with the first request: a fallback model may never be asked, and reading the system's
    /// certificates takes longer than a whole turn.
    client: OnceLock<reqwest::Client>,
    url: Url,
    /// The address without anything secret, for messages.
    shown_url: String,
    headers: HeaderMap,
    endpoint: Endpoint,
    learned: LearnedQuirks,
}

impl RemoteModel {
    /// Prepares a client. Nothing is sent.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        Shared::new(endpoint).map(|shared| Self { shared: Arc::new(shared) })
    }

    /// Returns the endpoint of the model.
    pub fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }
}

impl Model for RemoteModel {
    fn id(&self) -> &ModelId {
        &self.shared.endpoint.id
    }

    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream {
        let shared = Arc::clone(&self.shared);
        Box::pin(stream::try_unfold(Progress::Start(shared, request), Progress::next))
    }
}

/// Tracks the progress of a request.
enum Progress {
    Start(Arc<Shared>, Arc<ModelRequest>),
    Open(Arc<Shared>, Box<reply::Reply>),
    Reading(Arc<Shared>, Box<reply::Reply>),
}

impl Progress {
    async fn next(self) -> Result<Option<(ModelEvent, Self)>, ModelError> {
        let (shared, mut reply) = match self {
            Self::Start(shared, request) => {
                let reply = match shared.open(&request).await {
                    Ok(reply) => reply,
                    Err(error) => return Err(shared.attribute(error)),
                };
                let answering = ModelEvent::Answering(shared.endpoint.id.clone());
                return Ok(Some((answering, Self::Open(shared, Box::new(reply)))));
            }
            Self::Open(shared, reply) | Self::Reading(shared, reply) => (shared, reply),
        };
        match reply.next_event().await {
            Ok(event) => Ok(event.map(|event| (event, Self::Reading(shared, reply)))),
            Err(error) => Err(shared.attribute(error)),
        }
    }
}

impl Shared {
    fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let dialect = endpoint.wire.dialect();
        let refused = |reason: String| {
            let error = ModelError::new(ModelFault::BadRequest, reason);
            error.with(&endpoint.id, &endpoint.base_url, endpoint.key_variable.as_deref())
        };
        let url = address(&endpoint.base_url, |base| dialect.url(base, &endpoint.id.model))
            .map_err(|error| refused(format!("base URL {:?}: {error}", endpoint.base_url)))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let fixed = dialect.headers().iter().map(|(name, value)| (*name, (*value).to_owned()));
        let own = endpoint.headers.iter().map(|(name, value)| (name.as_str(), value.clone()));
        let key = endpoint.api_key.as_ref().map(|ApiKey(key)| dialect.authorization(key));
        for (name, value) in fixed.chain(own).chain(key) {
            let header = HeaderName::try_from(name)
                .map_err(|_| refused(format!("{name:?} is not the name of a header")))?;
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| refused(format!("the value of {name} cannot be sent in a header")))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(Self {
            client: OnceLock::new(),
            shown_url: client::display_url(&url),
            url,
            headers,
            endpoint,
            learned: LearnedQuirks::default(),
        })
    }

    fn client(&self) -> Result<&reqwest::Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = HttpClientBuilder::for_configured_address()
            .build_for(&self.url)
            .map_err(|error| ModelError::new(ModelFault::BadRequest, error.to_string()))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Sends the request, and once more for everything that the server turns out not to take.
    async fn open(&self, request: &Arc<ModelRequest>) -> Result<reply::Reply, ModelError> {
        loop {
            let quirks = self.learned.quirks();
            match self.send(&quirks.applied(request), quirks).await {
                Err(error) if self.learned.learn(&error, &request.options, quirks) => {}
                opened => return opened,
            }
        }
    }

    async fn send(
        &self,
        request: &ModelRequest,
        quirks: Quirks,
    ) -> Result<reply::Reply, ModelError> {
        let dialect = self.endpoint.wire.dialect();
        let body = dialect
            .body_for(&self.endpoint, request, quirks)
            .map_err(|error| ModelError::new(ModelFault::BadRequest, error.to_string()))?;
        let mut recorder =
            self.endpoint.tape.as_ref().map(|tape| tape.begin_exchange(&self.endpoint, &body));
        let timeouts = reply::ReplyTimeouts {
            idle: self.endpoint.idle_timeout,
            deadline: Instant::now() + self.endpoint.total_timeout,
            total: self.endpoint.total_timeout,
        };
        let sending =
            self.client()?.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let response = timeouts.wait(sending.send()).await?.map_err(|error| {
            if let Some(recorder) = &mut recorder {
                recorder.record_end(ExchangeEnd::Broken);
            }
            client::request_error(&error)
        })?;
        let response = IncomingResponse::new(response, recorder);
        if !response.status().is_success() {
            return Err(reply::read_refusal(response, timeouts).await);
        }
        reply::Reply::open(response, timeouts, dialect.framing(), dialect.decoder()).await
    }

    /// Says in an error who it was.
    fn attribute(&self, error: ModelError) -> ModelError {
        self.attribute_to(error, &self.shown_url)
    }

    /// Names the model and an address in an error, without secrets: a server may echo the key it
    /// was sent.
    fn attribute_to(&self, error: ModelError, address: &str) -> ModelError {
        let endpoint = &self.endpoint;
        let key = endpoint.api_key.iter().map(|ApiKey(key)| key.as_str());
        let headers = endpoint.headers.iter().map(|(_, value)| value.as_str());
        let secrets: Vec<&str> = key.chain(headers).collect();
        error.without_secrets(&secrets).with(
            &endpoint.id,
            address,
            endpoint.key_variable.as_deref(),
        )
    }
}
