//! MCP servers that bring tools: the keys of `[mcp_servers.NAME]` and `[mcp]`.

use std::collections::BTreeMap;

use lango_tool::SafetyLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of all MCP servers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct McpConfig {
    /// Bytes of descriptions and schemas of one agent's MCP tools above which a server's tools are
    /// offered as two: one that lists them, one that calls them.
    pub fold_bytes: usize,
}

impl Default for McpConfig {
    fn default() -> Self {
        Self { fold_bytes: 16 * 1024 }
    }
}

/// One MCP server: a program (`command`) or an address (`url`). Its keys are written as other
/// programs write them. `${VARIABLE}` and `${VARIABLE:-otherwise}` are replaced in values. A value of
/// `env` or `headers` can be a secret of the vault: `secret:NAME`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are switches of the file, as others name them"
)]
pub struct McpServerConfig {
    /// The program to start: a path, or a name in PATH.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, beside PATH, LANG, TZ and a HOME of its own. Nothing else of yours is passed
    /// on.
    pub env: BTreeMap<String, String>,
    /// Its working directory; the workspace when absent.
    pub cwd: Option<String>,
    /// The address, instead of a program.
    pub url: Option<String>,
    /// Headers that every request to the address carries.
    pub headers: BTreeMap<String, String>,
    /// The environment variable that holds the token for the address.
    pub bearer_token_env_var: Option<String>,
    /// The token for the address: a secret of the vault, `secret:NAME`.
    pub bearer_token: Option<String>,
    /// A client for `lango mcp login` that was registered by hand.
    pub oauth_client_id: Option<String>,
    /// The environment variable that holds the secret of that client.
    pub oauth_client_secret_env_var: Option<String>,
    /// The secret of that client: a secret of the vault, `secret:NAME`.
    pub oauth_client_secret: Option<String>,
    /// Scopes that `lango mcp login` asks for; those that the server names when empty.
    pub oauth_scopes: Vec<String>,
    /// The agent that owns its tools.
    pub agent: Option<String>,
    /// false: it is not used.
    pub enabled: bool,
    /// If there are any, the only tools that are used.
    pub enabled_tools: Vec<String>,
    /// Tools that are not used.
    pub disabled_tools: Vec<String>,
    /// The harm that its tools can do: dangerous ones are asked about. What the server itself says
    /// about that is not believed.
    pub safety: SafetyName,
    /// Tools that only read, and may run side by side.
    pub read_only_tools: Vec<String>,
    /// Seconds until it must be ready.
    pub startup_timeout_sec: u64,
    /// Seconds a call may take without a sign of progress.
    pub tool_timeout_sec: u64,
    /// false: the program is not confined by the sandbox, and has your home. It still ends with Lango.
    pub sandbox: bool,
    /// Lets a confined program reach the network.
    pub network: bool,
    /// Paths that a confined program may write to, beside its own home: `.` is the workspace, `~` your
    /// home directory.
    pub writable: Vec<String>,
    /// true: it is told which directory is worked in.
    pub roots: bool,
    /// Maximum number of its requests to the model in one call; the user is asked each time.
    pub sampling_requests: u32,
    /// Tokens that it may get from the model in one call.
    pub sampling_tokens: u32,
}

impl Default for McpServerConfig {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            url: None,
            headers: BTreeMap::new(),
            bearer_token_env_var: None,
            bearer_token: None,
            oauth_client_id: None,
            oauth_client_secret_env_var: None,
            oauth_client_secret: None,
            oauth_scopes: Vec::new(),
            agent: None,
            enabled: true,
            enabled_tools: Vec::new(),
            disabled_tools: Vec::new(),
            safety: SafetyName::Dangerous,
            read_only_tools: Vec::new(),
            startup_timeout_sec: 30,
            tool_timeout_sec: 60,
            sandbox: true,
            network: true,
            writable: Vec::new(),
            roots: false,
            sampling_requests: 0,
            sampling_tokens: 2000,
        }
    }
}

/// The harm that a tool can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SafetyName {
    /// It reads.
    Safe,
    /// It changes its own stores.
    Moderate,
    /// It acts on the world: the user is asked.
    #[default]
    Dangerous,
}

impl From<SafetyName> for SafetyLevel {
    fn from(name: SafetyName) -> Self {
        match name {
            SafetyName::Safe => Self::Safe,
            SafetyName::Moderate => Self::Moderate,
            SafetyName::Dangerous => Self::Dangerous,
        }
    }
}
