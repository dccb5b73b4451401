//! Remote agents: the keys of `[a2a]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Remote agents that the team works with.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct A2aConfig {
    /// true: the agents of `a2a.remoteAgents` are in the team.
    pub enabled: bool,
    /// Seconds that a start waits for agents that do not answer, all of them together.
    pub timeout_seconds: u64,
    /// The agents, each a table with a name and the address of its card.
    pub remote_agents: Vec<RemoteAgentConfig>,
}

impl Default for A2aConfig {
    fn default() -> Self {
        Self { enabled: false, timeout_seconds: 5, remote_agents: Vec::new() }
    }
}

/// A remote agent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RemoteAgentConfig {
    /// Its name here: lower-case letters, digits and `-`.
    pub name: String,
    /// The address of its card, or only its host.
    pub agent_card_url: String,
    /// What it is for, in your words: a phrase that follows its name, such as `weather forecasts`.
    /// Without it, the orchestrator goes by the agent's own description, as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The environment variable that holds a bearer token for it. Tokens are never kept in this
    /// file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// The bearer token for it: a secret of the vault, `secret:NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The token, once it was read from the vault.
    #[serde(skip)]
    pub resolved_token: Option<lango_keystore::SecretBytes>,
    /// Places beside the card's own host that the agent may be at, such as `api.example.org`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_hosts: Vec<String>,
    /// Keys that its card has to be signed with one of: files with a JSON Web Key or a set of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub card_keys: Vec<String>,
    /// false: answers are waited for, although the card says that they can be listened to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Seconds that one task may take; 120 unless given, and never more than `budget.seconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_seconds: Option<u64>,
    /// Seconds that it may say nothing; 30 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<u64>,
}
