//! The OpenAI chat-completions wire, for OpenAI itself and every server that speaks it.

mod chunk;
mod reply;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};

use crate::{Model, ModelError, ModelRequest, ModelStream, StreamFuture};

/// Where and how to reach a server.
#[derive(Debug, Clone)]
pub struct OpenAiConfig {
    /// Up to and including the version, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Sent as a bearer token.
    pub api_key: Option<ApiKey>,
    /// The model's name for the server.
    pub model: String,
    /// How long the server may send nothing.
    pub idle_timeout: Duration,
    /// Upper limit of the model's output tokens; the server's own when absent.
    pub max_output_tokens: Option<u32>,
    /// Between 0 and 2; the server's own when absent.
    pub temperature: Option<f32>,
}

/// A key. Never printed.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// A model behind the chat-completions wire.
#[derive(Debug, Clone)]
pub struct OpenAi {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    client: reqwest::Client,
    endpoint: Url,
    authorization: Option<HeaderValue>,
    config: OpenAiConfig,
}

impl OpenAi {
    /// Prepares a client. Nothing is sent.
    pub fn new(config: OpenAiConfig) -> Result<Self, ModelError> {
        let bad = |reason: String| ModelError::BadRequest { reason };
        let text = format!("{}/chat/completions", config.base_url.trim_end_matches('/'));
        let endpoint = Url::parse(&text)
            .map_err(|error| bad(format!("base URL {:?}: {error}", config.base_url)))?;
        let authorization = match &config.api_key {
            None => None,
            Some(ApiKey(key)) => {
                let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
                    .map_err(|_| bad("the API key contains characters no header can".into()))?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let client = client_for(&endpoint).map_err(|error| bad(describe(&error)))?;
        Ok(Self { shared: Arc::new(Shared { client, endpoint, authorization, config }) })
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.shared.config.model
    }

    fn stream(&self, request: ModelRequest) -> StreamFuture {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { shared.open(request).await })
    }
}

impl Shared {
    async fn open(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let body = wire::body(&self.config, &request)?;
        drop(request);
        let mut builder = self.client.post(self.endpoint.clone());
        builder = builder.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(value) = &self.authorization {
            builder = builder.header(AUTHORIZATION, value.clone());
        }
        let idle = self.config.idle_timeout;
        let response = tokio::time::timeout(idle, builder.body(body).send())
            .await
            .map_err(|_| ModelError::Silent { seconds: idle.as_secs() })?
            .map_err(|error| self.unreachable(&error))?;
        if !response.status().is_success() {
            return Err(refused(response, idle).await);
        }
        reply::read(response, idle).await
    }

    fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        let mut endpoint = self.endpoint.clone();
        // A user may have put credentials into the URL; they are not for messages.
        let _ = endpoint.set_username("");
        let _ = endpoint.set_password(None);
        endpoint.set_query(None);
        ModelError::Unreachable { endpoint: endpoint.to_string(), reason: describe(error) }
    }
}

/// A client for one endpoint. A plain-text endpoint gets no certificate store, because loading
/// the system's costs more CPU than a whole turn; a loopback one never goes through a proxy.
fn client_for(endpoint: &Url) -> Result<reqwest::Client, reqwest::Error> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(10))
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .user_agent(concat!("lango/", env!("CARGO_PKG_VERSION")));
    if endpoint.scheme() == "http" {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map(|tls| {
                tls.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
            });
        if let Ok(tls) = tls {
            builder = builder.tls_backend_preconfigured(tls);
        }
    }
    if endpoint.host_str().is_some_and(is_loopback) {
        builder = builder.no_proxy();
    }
    builder.build()
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

async fn refused(mut response: reqwest::Response, idle: Duration) -> ModelError {
    const LIMIT: usize = 64 * 1024;
    let status = response.status().as_u16();
    let retry_after = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        .map(Duration::from_secs);
    let mut body = Vec::new();
    while let Ok(Ok(Some(chunk))) = tokio::time::timeout(idle, response.chunk()).await {
        body.extend_from_slice(&chunk[..chunk.len().min(LIMIT - body.len())]);
        if body.len() >= LIMIT {
            break;
        }
    }
    ModelError::from_status(status, &String::from_utf8_lossy(&body), retry_after)
}

/// The innermost cause, which is the one that says something.
fn describe(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
