//! Knowledge and memory: the keys of `[embedding]`, `[graph]`, `[librarian]`, `[search]` and
//! `[observationalMemory]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Search of texts by their meaning.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct EmbeddingConfig {
    /// local: the model that is part of lango, without a network. none: texts are found by their
    /// words alone.
    pub provider: EmbeddingProvider,
    /// The model's name for the provider; one that suits it when absent.
    pub model: Option<String>,
    /// Up to and including the version, such as `https://api.openai.com/v1`; the provider's own
    /// when absent.
    pub base_url: Option<String>,
    /// The environment variable that holds the key; the provider's usual one when absent.
    pub api_key_env: Option<String>,
}

/// The provider of vectors of texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EmbeddingProvider {
    /// The model that is part of lango.
    #[default]
    Local,
    /// OpenAI, or a server that speaks its wire.
    OpenAi,
    /// Google's Gemini.
    Gemini,
    /// Ollama.
    Ollama,
    /// None: texts are found by their words alone.
    None,
}

/// Relations between things.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct GraphConfig {
    /// Enables the graph.
    pub enabled: bool,
}

impl Default for GraphConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// Knowledge and questions of the librarian.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LibrarianConfig {
    /// Enables documents, knowledge, lessons and open questions.
    pub enabled: bool,
    /// Estimated tokens of knowledge that enter a prompt; 0 for none.
    pub knowledge_token_budget: u64,
    /// Open questions at a time; 0 for none.
    pub max_pending_inquiries: u32,
    /// Turns between two open questions.
    pub inquiry_cooldown_turns: u32,
    /// Days after which an open question is dropped.
    pub inquiry_expiry_days: u32,
    /// The largest file that is ingested, in bytes.
    pub max_file_bytes: u64,
}

impl Default for LibrarianConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            knowledge_token_budget: 800,
            max_pending_inquiries: 3,
            inquiry_cooldown_turns: 3,
            inquiry_expiry_days: 14,
            max_file_bytes: 32 * 1024 * 1024,
        }
    }
}

/// Searching the web.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SearchConfig {
    /// A `SearXNG` server that answers in JSON, such as `https://searx.example.org`. Without it the
    /// web cannot be searched.
    pub url: Option<String>,
}

/// Memory of the user and of past conversations.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ObservationalMemoryConfig {
    /// Enables memories.
    pub enabled: bool,
    /// PROVIDER/NAME of the model that makes observations; may be a small one. `none`: sentences
    /// of the conversation are kept as they are. The agents' model when absent.
    pub model: Option<String>,
    /// Estimated tokens of conversation that are observed at a time.
    pub message_token_threshold: u64,
    /// Estimated tokens of observations that are condensed at a time.
    pub observation_token_threshold: u64,
    /// Estimated tokens of memory that enter a prompt; 0 for none.
    pub memory_token_budget: u64,
    /// Tokens that observing may cost in a day.
    pub tokens_per_day: u64,
}

impl Default for ObservationalMemoryConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            model: None,
            message_token_threshold: 1000,
            observation_token_threshold: 2000,
            memory_token_budget: 1000,
            tokens_per_day: 200_000,
        }
    }
}
