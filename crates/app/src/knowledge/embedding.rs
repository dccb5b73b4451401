//! Selects the embedder, which turns texts into vectors.

use std::sync::Arc;

use lango_retrieval::{Embedder, LocalEmbedder, RemoteEmbedder, RemoteWire};

use crate::config::{Config, EmbeddingProvider};
use crate::environment::{read_variable, read_variable_even_empty};

/// Says what turns texts into vectors, or why nothing does.
pub enum EmbeddingChoice {
    /// The embedder is set up.
    Ready(Arc<dyn Embedder>),
    /// Texts are found by their words alone, for this reason.
    Absent(String),
}

impl EmbeddingChoice {
    /// Returns the embedder, if there is one.
    pub fn embedder(&self) -> Option<Arc<dyn Embedder>> {
        match self {
            Self::Ready(embedder) => Some(Arc::clone(embedder)),
            Self::Absent(_) => None,
        }
    }
}

/// Holds the defaults of an embedding provider.
struct EmbeddingDefaults {
    provider: &'static str,
    wire: RemoteWire,
    model: &'static str,
    base_url: &'static str,
    keys: &'static [&'static str],
}

const OPENAI: EmbeddingDefaults = EmbeddingDefaults {
    provider: "openai",
    wire: RemoteWire::OpenAi,
    model: "text-embedding-3-small",
    base_url: "https://api.openai.com/v1",
    keys: &["OPENAI_API_KEY"],
};

const GEMINI: EmbeddingDefaults = EmbeddingDefaults {
    provider: "gemini",
    wire: RemoteWire::Gemini,
    model: "gemini-embedding-001",
    base_url: "https://generativelanguage.googleapis.com/v1beta",
    keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
};

const OLLAMA: EmbeddingDefaults = EmbeddingDefaults {
    provider: "ollama",
    wire: RemoteWire::Ollama,
    model: "nomic-embed-text",
    base_url: "http://127.0.0.1:11434",
    keys: &[],
};

/// Returns the embedder that the configuration asks for. Sends no request.
pub fn choose_embedding(config: &Config) -> EmbeddingChoice {
    let defaults = match config.embedding.provider {
        EmbeddingProvider::Local => return EmbeddingChoice::Ready(Arc::new(LocalEmbedder::new())),
        EmbeddingProvider::None => {
            return EmbeddingChoice::Absent(
                "embedding.provider is none, so texts are found by their words alone".to_owned(),
            );
        }
        EmbeddingProvider::OpenAi => &OPENAI,
        EmbeddingProvider::Gemini => &GEMINI,
        EmbeddingProvider::Ollama => &OLLAMA,
    };
    let settings = &config.embedding;
    let variables: Vec<&str> = match &settings.api_key_env {
        Some(variable) => vec![variable.as_str()],
        None => defaults.keys.to_vec(),
    };
    let key = variables.iter().find_map(|name| read_variable(name));
    if key.is_none() && !variables.is_empty() {
        return EmbeddingChoice::Absent(format!(
            "embedding.provider is {}, but {} is not set, so texts are found by their words alone",
            defaults.provider,
            variables.join(" or ")
        ));
    }
    let model = settings.model.as_deref().unwrap_or(defaults.model);
    let base_url = settings.base_url.as_deref().unwrap_or(defaults.base_url);
    match RemoteEmbedder::new(defaults.provider, model, defaults.wire, base_url, key) {
        Ok(embedder) => EmbeddingChoice::Ready(Arc::new(embedder)),
        Err(error) => EmbeddingChoice::Absent(error.to_string()),
    }
}

/// Returns the key of the embedding provider, which must not be recorded or shown.
pub(crate) fn secrets(config: &Config) -> Vec<String> {
    let name = config.embedding.api_key_env.as_ref();
    name.and_then(|name| read_variable_even_empty(name)).into_iter().collect()
}
