//! The providers that need no configuration.

use lango_model::Wire;

/// Holds the defaults of a provider.
#[derive(Debug)]
pub(super) struct KnownProvider {
    pub(super) id: &'static str,
    pub(super) wire: Wire,
    pub(super) base_url: &'static str,
    /// Variables that hold a key; the first that is set counts.
    pub(super) keys: &'static [&'static str],
    /// Variables that hold another base URL.
    pub(super) urls: &'static [&'static str],
    /// The model that is used when none is named: quick, and good at calling tools. Servers on
    /// this machine are asked what they have.
    pub(super) model: Option<&'static str>,
    /// Prefixes of its own models' names.
    pub(super) names: &'static [&'static str],
}

impl KnownProvider {
    /// Tells whether it is a server on this machine, which needs no key.
    pub(super) fn is_local(&self) -> bool {
        self.keys.is_empty()
    }
}

/// Lists the providers in the order of preference when several keys are set.
pub(super) const KNOWN_PROVIDERS: &[KnownProvider] = &[
    KnownProvider {
        id: "anthropic",
        wire: Wire::Anthropic,
        base_url: "https://api.anthropic.com",
        keys: &["ANTHROPIC_API_KEY"],
        urls: &["ANTHROPIC_BASE_URL"],
        model: Some("claude-sonnet-5-5"),
        names: &["claude-"],
    },
    KnownProvider {
        id: "openai",
        wire: Wire::OpenAi,
        base_url: "https://api.openai.com/v1",
        keys: &["OPENAI_API_KEY"],
        urls: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        model: Some("gpt-5-mini"),
        names: &["gpt-", "o1", "o3", "o4", "chatgpt-"],
    },
    KnownProvider {
        id: "gemini",
        wire: Wire::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        urls: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
        model: Some("gemini-3.8-flash"),
        names: &["gemini-"],
    },
    KnownProvider {
        id: "openrouter",
        wire: Wire::OpenAi,
        base_url: "https://openrouter.ai/api/v1",
        keys: &["OPENROUTER_API_KEY"],
        urls: &["OPENROUTER_BASE_URL"],
        model: Some("anthropic/claude-sonnet-5.5"),
        names: &[],
    },
    KnownProvider {
        id: "ollama",
        wire: Wire::Ollama,
        base_url: "http://127.0.0.1:11434",
        keys: &[],
        urls: &["OLLAMA_HOST"],
        model: None,
        names: &[],
    },
    KnownProvider {
        id: "lmstudio",
        wire: Wire::OpenAi,
        base_url: "http://127.0.0.1:1234/v1",
        keys: &[],
        urls: &[],
        model: None,
        names: &[],
    },
    KnownProvider {
        id: "llamacpp",
        wire: Wire::OpenAi,
        base_url: "http://127.0.0.1:8080/v1",
        keys: &[],
        urls: &[],
        model: None,
        names: &[],
    },
];

/// Tells whether a variable holds the key or the address of a known provider.
pub(crate) fn is_provider_variable(name: &str) -> bool {
    let mut variables =
        KNOWN_PROVIDERS.iter().flat_map(|known| known.keys.iter().chain(known.urls));
    variables.any(|variable| *variable == name)
}

/// Returns the names of all of them.
pub(super) fn provider_names<'a>() -> impl Iterator<Item = &'a str> {
    KNOWN_PROVIDERS.iter().map(|known| known.id)
}

/// Returns a provider by its name.
pub(super) fn find_known_provider(id: &str) -> Option<&'static KnownProvider> {
    KNOWN_PROVIDERS.iter().find(|known| known.id == id)
}
