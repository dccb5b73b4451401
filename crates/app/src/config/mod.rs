//! The configuration: one TOML file, overridden by `LANGO_…` variables, overridden by flags.

mod a2a;
mod automator;
mod edit;
mod keys;
mod knowledge;
mod load;
mod mcp;
mod payment;
mod plain_secrets;
mod privacy;
mod sandbox;
mod server;
mod vault;
mod web;

use std::collections::BTreeMap;
use std::path::PathBuf;

use lango_model::{ModelEntry, Wire};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use a2a::{A2aConfig, RemoteAgentConfig};
pub use automator::{
    AutomatorConfig, ChannelConfig, ChannelKindName, NotifyConfig, SecurityName, SpendConfig,
};
pub use edit::{add_to_list, check_key, remove_from_list, set_key, unset_key};
pub use keys::{config_schema, known_keys};
pub use knowledge::{
    EmbeddingConfig, EmbeddingProvider, GraphConfig, LibrarianConfig, ObservationalMemoryConfig,
    SearchConfig,
};
pub use load::{ConfigError, LoadedConfig, UnknownVariable, ValueOrigin, load_config};
pub use mcp::{McpConfig, McpServerConfig};
pub use payment::{AmountText, NetworkName, PaymentConfig, PaymentLimitsConfig};
pub use plain_secrets::{PlainSecret, list_plain_secrets, replace_plain_secrets};
pub use privacy::{PersonalDataName, PrivacyConfig};
pub use sandbox::{LevelName, PartName, SandboxConfig};
pub use server::ServerConfig;
pub use vault::VaultConfig;
pub use web::{EgressConfig, NavigatorConfig};

/// Everything that can be configured. Every field has a default that works.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Config {
    /// The team.
    pub agent: AgentConfig,
    /// The model the agents use.
    pub model: ModelConfig,
    /// Single agents, by name.
    pub agents: BTreeMap<String, AgentOverride>,
    /// Servers that models are reached through, by a name of your choice.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Facts about models that the built-in table does not have, or has wrong.
    pub models: BTreeMap<String, ModelEntry>,
    /// Retries of model calls.
    pub retry: RetryConfig,
    /// Limits of one turn.
    pub budget: BudgetConfig,
    /// Trusted directories.
    pub trust: TrustConfig,
    /// Approvals of dangerous calls.
    pub approvals: ApprovalsConfig,
    /// Confinement of commands.
    pub sandbox: SandboxConfig,
    /// Outbound network policy.
    pub egress: EgressConfig,
    /// The navigator's browser.
    pub navigator: NavigatorConfig,
    /// Secrets and keys.
    pub vault: VaultConfig,
    /// Personal data in requests to models.
    pub privacy: PrivacyConfig,
    /// Search of texts by their meaning.
    pub embedding: EmbeddingConfig,
    /// Relations between things.
    pub graph: GraphConfig,
    /// Knowledge and questions of the librarian.
    pub librarian: LibrarianConfig,
    /// Jobs and background tasks.
    pub automator: AutomatorConfig,
    /// Searching the web.
    pub search: SearchConfig,
    /// MCP servers that bring tools, by a name of your choice.
    #[serde(rename = "mcp_servers")]
    pub mcp_servers: BTreeMap<String, McpServerConfig>,
    /// Settings of all MCP servers.
    pub mcp: McpConfig,
    /// Memory of the user and of past conversations.
    pub observational_memory: ObservationalMemoryConfig,
    /// Remote agents that the team works with.
    pub a2a: A2aConfig,
    /// Programs and agents that talk to the team through `lango serve`.
    pub server: ServerConfig,
    /// Payments in USDC.
    pub payment: PaymentConfig,
    /// The database.
    pub database: DatabaseConfig,
    /// How the database keeps what it acknowledged.
    pub store: StoreConfig,
    /// Earlier turns shown to a model.
    pub history: HistoryConfig,
    /// Limits of tools.
    pub tools: ToolsConfig,
}

/// The team.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AgentConfig {
    /// true: an orchestrator with specialists; false: one agent with every tool.
    pub multi_agent: bool,
    /// `standard`, `compact`, or a directory of AGENT.md files.
    pub topology: String,
    /// Transfers in one turn; 0 means 5.
    pub max_delegation_rounds: u32,
    /// The model that makes the orchestrator's choice.
    pub router: RouterName,
    /// A directory with one AGENT.md file for each extra or changed agent.
    pub agents_dir: Option<PathBuf>,
    /// A directory with prompt sections: AGENTS.md, SAFETY.md, `CONVERSATION_RULES.md`,
    /// `TOOL_USAGE.md`, and agents/NAME/ for single agents.
    pub prompts_dir: Option<PathBuf>,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            multi_agent: true,
            topology: "standard".to_owned(),
            max_delegation_rounds: 0,
            router: RouterName::default(),
            agents_dir: None,
            prompts_dir: None,
        }
    }
}

/// The model that makes the orchestrator's choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RouterName {
    /// Its model, always.
    #[default]
    Model,
    /// The embedded model where it is sure, which takes milliseconds; else its model.
    Auto,
}

/// Settings that differ for one agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AgentOverride {
    /// PROVIDER/NAME of its model.
    pub model: Option<String>,
    /// Upper limit of its replies in tokens.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u32>,
    /// Between 0 and 2.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// If there are any, the only hosts that this agent may reach, such as `example.org` and
    /// `*.example.org`.
    pub hosts: Vec<String>,
}

/// The model the agents use.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ModelConfig {
    /// The provider: a name under `providers`, or one of openai, anthropic, gemini, openrouter,
    /// ollama, lmstudio, llamacpp, embedded. Without it, the keys in the environment decide, then
    /// servers on this machine; where there are none, the embedded model answers.
    pub provider: Option<String>,
    /// The model's name for the provider.
    pub name: Option<String>,
    /// Models that stand in when the first cannot answer, as PROVIDER/NAME, in order.
    pub fallbacks: Vec<String>,
    /// Look for a server on this machine (Ollama, LM Studio, llama.cpp) when nothing else is set.
    pub discover: bool,
    /// Addresses of servers on this machine that may be used when they are found. `lango models
    /// accept` adds one, `lango models revoke` removes it.
    pub accepted_servers: Vec<String>,
    /// Seconds a model may send nothing.
    #[schemars(range(min = 1))]
    pub idle_seconds: u64,
    /// Seconds a whole reply may take.
    #[schemars(range(min = 1))]
    pub total_seconds: u64,
    /// Upper limit of a reply in tokens; the provider's own when absent.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u32>,
    /// Between 0 and 2; the provider's own when absent.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            provider: None,
            name: None,
            fallbacks: Vec::new(),
            discover: true,
            accepted_servers: Vec::new(),
            idle_seconds: 120,
            total_seconds: 600,
            max_output_tokens: None,
            temperature: None,
        }
    }
}

/// A server that models are reached through.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProviderConfig {
    /// The wire it speaks: openai unless given.
    pub r#type: Option<Wire>,
    /// Up to and including the version, such as `http://127.0.0.1:1234/v1`.
    pub base_url: Option<String>,
    /// The environment variable that holds its key. Keys are never kept in this file.
    pub api_key_env: Option<String>,
    /// `secret:NAME`, the secret of the vault that is its key, in place of a variable.
    pub api_key: Option<String>,
    /// The key itself, once the vault was asked for it.
    #[serde(skip)]
    pub resolved_key: Option<lango_keystore::SecretBytes>,
    /// Headers that every request to it carries. A value that begins with `$` is the name of a
    /// variable that holds it.
    pub headers: BTreeMap<String, String>,
}

/// Retries of model calls.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RetryConfig {
    /// Tries with one model before the next of `model.fallbacks` is asked.
    #[schemars(range(min = 1))]
    pub tries: u32,
    /// The wait before the second try; it doubles from there.
    pub first_wait_milliseconds: u64,
    /// The longest wait, also when the provider asks for more.
    pub longest_wait_seconds: u64,
}

impl Default for RetryConfig {
    fn default() -> Self {
        let policy = lango_model::RetryPolicy::default();
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(0);
        Self {
            tries: policy.tries,
            first_wait_milliseconds: millis(policy.first_wait),
            longest_wait_seconds: policy.longest_wait.as_secs(),
        }
    }
}

/// Limits of one turn.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct BudgetConfig {
    /// Requests to a model.
    #[schemars(range(min = 1))]
    pub model_calls: u32,
    /// Calls of tools.
    #[schemars(range(min = 1))]
    pub tool_calls: u32,
    /// Input and output tokens.
    #[schemars(range(min = 1))]
    pub tokens: u64,
    /// Wall time.
    #[schemars(range(min = 1))]
    pub seconds: u64,
}

impl Default for BudgetConfig {
    fn default() -> Self {
        let limits = lango_protocol::BudgetLimits::default();
        Self {
            model_calls: limits.model_calls,
            tool_calls: limits.tool_calls,
            tokens: limits.tokens,
            seconds: limits.seconds,
        }
    }
}

/// Trusted directories.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TrustConfig {
    /// Their skills in `.agents/skills` are offered. Set by `lango trust`; a directory above is not
    /// enough.
    pub directories: Vec<String>,
}

/// Approvals of dangerous calls.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ApprovalsConfig {
    /// The decision about calls that no rule decides.
    pub policy: PolicyName,
    /// Seconds that a question waits for an answer.
    #[schemars(range(min = 1))]
    pub expire_seconds: u64,
    /// Rules for calls that run without asking, are always asked about, or never run. Deny wins
    /// over ask, ask over allow.
    pub rules: Vec<RuleConfig>,
}

impl Default for ApprovalsConfig {
    fn default() -> Self {
        Self { policy: PolicyName::default(), expire_seconds: 3600, rules: Vec::new() }
    }
}

/// The decision about calls that no rule decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// Those that act on the world are asked about.
    #[default]
    #[serde(alias = "dangerous")]
    AskDangerous,
    /// Everything that is not read-only is asked about.
    #[serde(alias = "all")]
    AskAll,
    /// The user is not asked; what acts on the world and is not allowed by a rule does not run.
    NeverAskDeny,
}

/// One rule. What it does not name, it does not look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleConfig {
    /// The effect of the rule.
    pub effect: EffectName,
    /// The tool; `*` stands for any characters.
    pub tool: Option<String>,
    /// The agent that calls.
    pub agent: Option<String>,
    /// The workspace, or a directory it lies in; `~` is the home directory.
    pub directory: Option<String>,
    /// The directory that commands run in, or one above; only the workspace itself when absent.
    /// For rules that allow.
    pub cwd: Option<String>,
    /// The words of a command, a path or an address. `*` stands for any characters in a word, and
    /// as the last word for any further words. Every call of the tool when absent.
    pub words: Option<Vec<String>>,
    /// Take `*` in the words for a plain character.
    #[serde(default)]
    pub exact: bool,
    /// Rights of commands beyond the sandbox: `git`, `network`, `write:DIRECTORY`. A rule that allows
    /// covers no others, one that denies or asks covers commands that ask for any of them.
    #[serde(default)]
    pub rights: Vec<String>,
}

/// The effect of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EffectName {
    /// It runs unasked.
    Allow,
    /// A person is asked.
    Ask,
    /// It never runs.
    Deny,
}

/// The database.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DatabaseConfig {
    /// `postgres://…`, or a path of an `SQLite` file; lango.db in the data directory when absent.
    pub url: Option<String>,
}

/// How the database keeps what it acknowledged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StoreConfig {
    /// `full`: an answer, an accepted task or an approval is on the disk before it is acknowledged.
    /// `normal`: a loss of power may undo the newest ones; effects are on the disk in any case.
    pub durability: StoreDurability,
}

/// The values of `store.durability`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoreDurability {
    /// What was acknowledged survives a loss of power.
    #[default]
    Full,
    /// What was acknowledged survives a crash of the program.
    Normal,
}

/// Earlier turns shown to a model.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HistoryConfig {
    /// At most so many turns.
    pub turns: u32,
    /// At most about so many tokens.
    #[schemars(range(min = 1))]
    pub tokens: u64,
}

impl Default for HistoryConfig {
    fn default() -> Self {
        let settings = lango_runtime::Settings::default();
        Self { turns: settings.history_turns, tokens: settings.history_tokens }
    }
}

/// Limits of tools.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ToolsConfig {
    /// Bytes of an output shown to a model; the rest is kept behind a reference.
    pub output_bytes: usize,
    /// Read-only calls that run at the same time.
    #[schemars(range(min = 1))]
    pub parallel_calls: usize,
}

impl Default for ToolsConfig {
    fn default() -> Self {
        let settings = lango_runtime::Settings::default();
        Self { output_bytes: settings.output_bytes, parallel_calls: settings.parallel_calls }
    }
}
