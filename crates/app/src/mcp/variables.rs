//! Decides which variables of the environment an entry for an MCP server is given.

use std::collections::BTreeSet;

use crate::config::Config;
use crate::environment::read_variable_even_empty;
use crate::provider::is_provider_variable;

/// The variables that the values of an entry may name.
pub(super) enum EntryVariables<'a> {
    /// All of them, for the user's own configuration.
    All,
    /// Those that a project's entry names, which a person approves with it.
    Named(&'a BTreeSet<String>),
}

impl EntryVariables<'_> {
    /// Returns the value of a variable that may be used.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        match self {
            Self::Named(names) if !names.contains(name) => None,
            _ => read_variable_even_empty(name),
        }
    }
}

/// Tells whether no project's entry gets a variable, approved or not: keys and addresses of model
/// providers, Lango's own variables, and those that the configuration uses for something else.
pub(super) fn is_withheld(config: &Config, name: &str) -> bool {
    let is_named = |variable: &Option<String>| variable.as_deref() == Some(name);
    let by_provider = config.providers.values().any(|provider| {
        let header = |value: &String| value.strip_prefix('$') == Some(name);
        is_named(&provider.api_key_env) || provider.headers.values().any(header)
    });
    let by_server = config.mcp_servers.values().any(|server| {
        is_named(&server.bearer_token_env_var) || is_named(&server.oauth_client_secret_env_var)
    });
    name.starts_with("LANGO_")
        || is_provider_variable(name)
        || by_provider
        || by_server
        || is_named(&config.embedding.api_key_env)
        || config.a2a.remote_agents.iter().any(|agent| is_named(&agent.token_env))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{McpServerConfig, ProviderConfig};

    #[test]
    fn keys_of_providers_and_what_the_configuration_uses_are_withheld() {
        let mut config = Config::default();
        let headers = [("X-Key".to_owned(), "$GATEWAY_KEY".to_owned())].into();
        let provider =
            ProviderConfig { api_key_env: Some("OWN_KEY".into()), headers, ..Default::default() };
        config.providers.insert("own".into(), provider);
        let server = McpServerConfig {
            bearer_token_env_var: Some("HUB_TOKEN".into()),
            ..Default::default()
        };
        config.mcp_servers.insert("hub".into(), server);
        config.embedding.api_key_env = Some("EMBEDDING_KEY".into());
        for name in [
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "OPENROUTER_API_KEY",
            "OPENAI_BASE_URL",
            "LANGO_SERVER_TOKEN",
            "LANGO_DATABASE_URL",
            "OWN_KEY",
            "GATEWAY_KEY",
            "HUB_TOKEN",
            "EMBEDDING_KEY",
        ] {
            assert!(is_withheld(&config, name), "{name}");
        }
        for name in ["HOME", "GITHUB_TOKEN", "LOG_LEVEL"] {
            assert!(!is_withheld(&config, name), "{name}");
        }
    }
}
