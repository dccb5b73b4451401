//! Identifies a model of a provider.

use std::fmt;

/// Identifies a model as the user names it: `PROVIDER/NAME`, such as `openai/gpt-5-mini`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelId {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The model's name for the provider.
    pub model: String,
}

impl ModelId {
    /// Puts the two together.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self { provider: provider.into(), model: model.into() }
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.model.is_empty() {
            return f.write_str(&self.provider);
        }
        write!(f, "{}/{}", self.provider, self.model)
    }
}
