//! Embeds texts with a model on a server: over the APIs of OpenAI, Gemini and Ollama.

use std::time::Duration;

use lango_egress::{BackoffPolicy, BodyError, HttpClientBuilder, describe_causes, read_body};
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Response, StatusCode};
use serde::{Deserialize, Serialize};

use super::{
    EmbedError, EmbedFuture, Embedder, EmbeddingModel, EmbeddingPurpose, normalise_vector,
};

/// The API that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteWire {
    /// `POST /embeddings`, as OpenAI and most servers have it.
    OpenAi,
    /// `POST /models/NAME:batchEmbedContents`.
    Gemini,
    /// `POST /api/embed`.
    Ollama,
}

/// Embeds texts with a model on a server.
pub struct RemoteEmbedder {
    model: EmbeddingModel,
    name: String,
    wire: RemoteWire,
    base_url: String,
    key: Option<String>,
    client: Client,
}

/// The number of texts in one request; every provider accepts as many.
const BATCH_SIZE: usize = 64;

/// Limits the tries after the first one, where the server is busy or away.
const MAX_RETRY_COUNT: usize = 3;
const RETRY_WAITS: BackoffPolicy =
    BackoffPolicy::doubling(Duration::from_millis(500), Duration::from_secs(8)).with_factor(4.0);

/// Limits the wait that a server may ask for.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

const TIMEOUT: Duration = Duration::from_mins(1);

/// Limits the answer to one request. A whole batch of the longest vectors has a tenth of it.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;
const MAX_REFUSAL_BYTES: usize = 1024 * 1024;

/// Limits the part of a server's message that is shown to a person.
const MAX_REASON_CHARACTERS: usize = 300;

impl RemoteEmbedder {
    /// Makes an embedder for a model by its provider's name and its own. `base_url` goes up to and
    /// including the version, such as `https://api.openai.com/v1`.
    pub fn new(
        provider: &str,
        name: &str,
        wire: RemoteWire,
        base_url: &str,
        key: Option<String>,
    ) -> Result<Self, EmbedError> {
        let model = EmbeddingModel { name: format!("{provider}/{name}") };
        let unreachable =
            |reason: String| EmbedError::Unreachable { model: model.name.clone(), reason };
        let base_url = base_url.trim_end_matches('/').to_owned();
        let url =
            base_url.parse().map_err(|error| unreachable(format!("{base_url:?}: {error}")))?;
        let client = HttpClientBuilder::for_configured_address()
            .total_timeout(TIMEOUT)
            .build_for(&url)
            .map_err(|error| unreachable(error.to_string()))?;
        Ok(Self { model, name: name.to_owned(), wire, base_url, key, client })
    }

    async fn batch_of(
        &self,
        texts: &[String],
        purpose: EmbeddingPurpose,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut waits = RETRY_WAITS.waits();
        let mut retries = 0;
        loop {
            let (error, asked) = match self.request(texts, purpose).send().await {
                Ok(response) if response.status().is_success() => {
                    return self.read(response, texts.len()).await;
                }
                Ok(response) => {
                    let busy = response.status().is_server_error()
                        || response.status() == StatusCode::TOO_MANY_REQUESTS;
                    let asked = retry_after(&response);
                    let error = self.refused(response).await;
                    if !busy {
                        return Err(error);
                    }
                    (error, asked)
                }
                Err(error) => (self.unreachable(&error), None),
            };
            if retries == MAX_RETRY_COUNT {
                return Err(error);
            }
            retries += 1;
            let wait = waits.next_wait();
            tokio::time::sleep(asked.unwrap_or(wait)).await;
        }
    }

    fn request(&self, texts: &[String], purpose: EmbeddingPurpose) -> reqwest::RequestBuilder {
        let Self { base_url, name, .. } = self;
        let (url, body) = match self.wire {
            RemoteWire::OpenAi => (
                format!("{base_url}/embeddings"),
                serde_json::to_string(&PlainBatch { model: name, input: texts }),
            ),
            RemoteWire::Ollama => (
                format!("{base_url}/api/embed"),
                serde_json::to_string(&PlainBatch { model: name, input: texts }),
            ),
            RemoteWire::Gemini => (
                format!("{base_url}/models/{name}:batchEmbedContents"),
                serde_json::to_string(&GeminiBatch::new(name, texts, purpose)),
            ),
        };
        let request = self.client.post(url).header("content-type", "application/json");
        let request = match (&self.key, self.wire) {
            (Some(key), RemoteWire::Gemini) => request.header("x-goog-api-key", key),
            (Some(key), _) => request.bearer_auth(key),
            (None, _) => request,
        };
        // Strings always have a form in JSON.
        request.body(body.unwrap_or_default())
    }

    async fn read(&self, response: Response, count: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let unreadable =
            |reason: String| EmbedError::Unreadable { model: self.model.name.clone(), reason };
        let bytes = read_body(response, MAX_ANSWER_BYTES).await.map_err(|error| match error {
            BodyError::TooLong { .. } => unreadable(error.to_string()),
            BodyError::Broken(error) => self.unreachable(&error),
        })?;
        let parse = |error: serde_json::Error| unreadable(error.to_string());
        let mut vectors = match self.wire {
            RemoteWire::OpenAi => {
                let mut answer: OpenAiAnswer = serde_json::from_slice(&bytes).map_err(parse)?;
                answer.data.sort_by_key(|item| item.index);
                answer.data.into_iter().map(|item| item.embedding).collect()
            }
            RemoteWire::Ollama => {
                serde_json::from_slice::<OllamaAnswer>(&bytes).map_err(parse)?.embeddings
            }
            RemoteWire::Gemini => {
                let answer: GeminiAnswer = serde_json::from_slice(&bytes).map_err(parse)?;
                answer.embeddings.into_iter().map(|item| item.values).collect::<Vec<_>>()
            }
        };
        if vectors.len() != count {
            return Err(unreadable(format!("{} vectors for {count} texts", vectors.len())));
        }
        let length = vectors.first().map_or(0, Vec::len);
        for vector in &mut vectors {
            if vector.is_empty() || vector.len() != length || !vector.iter().all(|v| v.is_finite())
            {
                return Err(unreadable("a vector that is empty or not finite".to_owned()));
            }
            normalise_vector(vector);
        }
        Ok(vectors)
    }

    async fn refused(&self, response: Response) -> EmbedError {
        let status = response.status();
        // The status says enough where the reason cannot be read.
        let said = read_body(response, MAX_REFUSAL_BYTES).await.unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let said: String = said.trim().chars().take(MAX_REASON_CHARACTERS).collect();
        EmbedError::Refused { model: self.model.name.clone(), reason: format!("{status} {said}") }
    }

    fn unreachable(&self, error: &reqwest::Error) -> EmbedError {
        EmbedError::Unreachable { model: self.model.name.clone(), reason: describe_causes(error) }
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    // A date, or what is no number, counts as absent: then the usual wait holds.
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_WAIT))
}

impl Embedder for RemoteEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn batch(&self) -> usize {
        BATCH_SIZE
    }

    fn embed<'a>(&'a self, texts: &'a [String], purpose: EmbeddingPurpose) -> EmbedFuture<'a> {
        Box::pin(async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for batch in texts.chunks(BATCH_SIZE) {
                vectors.extend(self.batch_of(batch, purpose).await?);
            }
            Ok(vectors)
        })
    }
}

#[derive(Serialize)]
struct PlainBatch<'a> {
    model: &'a str,
    input: &'a [String],
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<OpenAiItem>,
}

#[derive(Deserialize)]
struct OpenAiItem {
    #[serde(default)]
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<f32>>,
}

#[derive(Serialize)]
struct GeminiBatch<'a> {
    requests: Vec<GeminiRequest<'a>>,
}

#[derive(Serialize)]
struct GeminiRequest<'a> {
    model: String,
    content: GeminiContent<'a>,
    #[serde(rename = "taskType")]
    task_type: &'static str,
}

#[derive(Serialize)]
struct GeminiContent<'a> {
    parts: [GeminiPart<'a>; 1],
}

#[derive(Serialize)]
struct GeminiPart<'a> {
    text: &'a str,
}

impl<'a> GeminiBatch<'a> {
    fn new(name: &str, texts: &'a [String], purpose: EmbeddingPurpose) -> Self {
        let task_type = match purpose {
            EmbeddingPurpose::Passage => "RETRIEVAL_DOCUMENT",
            EmbeddingPurpose::Query => "RETRIEVAL_QUERY",
        };
        let request = |text: &'a String| GeminiRequest {
            model: format!("models/{name}"),
            content: GeminiContent { parts: [GeminiPart { text }] },
            task_type,
        };
        Self { requests: texts.iter().map(request).collect() }
    }
}

#[derive(Deserialize)]
struct GeminiAnswer {
    embeddings: Vec<GeminiValues>,
}

#[derive(Deserialize)]
struct GeminiValues {
    values: Vec<f32>,
}
