//! Lists the APIs and their dialects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Dialect;
use crate::{anthropic, gemini, ollama, openai};

/// The protocol a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// Chat completions, as OpenAI and most other servers speak them.
    #[default]
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's own `/api/chat`.
    Ollama,
}

impl Wire {
    /// Lists every API.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// Returns the name that configurations, scripts and recordings use.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// Returns how the wire is spoken.
    pub(super) fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::OpenAi => &openai::OpenAi,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Gemini => &gemini::Gemini,
            Self::Ollama => &ollama::Ollama,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn all_wires_are_listed_under_the_names_that_configurations_use() {
        let schema = schemars::schema_for!(Wire).to_value();
        let variants = schema["oneOf"].as_array().unwrap().iter();
        let names: Vec<&str> = variants.map(|variant| variant["const"].as_str().unwrap()).collect();
        assert_eq!(names, Wire::ALL.map(Wire::name));
        for wire in Wire::ALL {
            assert_eq!(serde_json::to_value(wire).unwrap(), Value::from(wire.name()));
        }
    }
}
