//! The server of `lango serve`: the keys of `[server]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The server of `lango serve`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ServerConfig {
    /// The address to listen on. Only this machine reaches 127.0.0.1.
    pub host: String,
    /// The port; 0 is any that is free.
    pub port: u16,
    /// A file with your own token, readable by you alone. The variable `LANGO_SERVER_TOKEN` comes
    /// first; without both, a token is made at the first start and printed once.
    pub token_file: Option<String>,
    /// The agents that callers reach. All of them when empty.
    pub expose: Vec<String>,
    /// Agents whose tools programs that speak MCP may call themselves, beside asking the team. None
    /// when empty.
    pub tools: Vec<String>,
    /// The name on the card that other agents read.
    pub name: String,
    /// The description of the team on its card.
    pub description: String,
    /// The address that others reach this server by, where it is another one, such as behind a
    /// proxy.
    pub base_url: Option<String>,
    /// A file with the key that signs the card; made if it is not there. Not signed when absent.
    pub card_key: Option<String>,
    /// Names that the server answers to, beside localhost and its own address.
    pub allowed_hosts: Vec<String>,
    /// Web pages that may use the server, such as `https://chat.example.org`.
    pub allowed_origins: Vec<String>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 8787,
            token_file: None,
            expose: Vec::new(),
            tools: Vec::new(),
            name: "Lango".to_owned(),
            description: "A team of agents on their owner's machine".to_owned(),
            base_url: None,
            card_key: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
        }
    }
}
