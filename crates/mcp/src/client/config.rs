//! Defines the configuration of servers: how each is reached and limited.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lango_protocol::AgentName;
use lango_tool::SafetyLevel;
use url::Url;

use super::{ClientError, ProjectEntry, server_home};

/// Limits the name of a server, because tool names begin with it.
const MAX_NAME_BYTES: usize = 32;

/// Holds the configuration of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name in Lango.
    pub name: ServerName,
    /// The origin of the entry.
    pub source: ConfigSource,
    /// The transport.
    pub transport: TransportConfig,
    /// Its command or URL as it is written in its entry, with the names of variables in place of
    /// their values, which may be secret.
    pub written: Option<String>,
    /// The agent that owns its tools; if not set, the prefixes of tool names decide.
    pub agent: Option<AgentName>,
    /// True if it is used.
    pub enabled: bool,
    /// If not empty, the only tools that are used.
    pub enabled_tools: Vec<String>,
    /// The tools that are not used.
    pub disabled_tools: Vec<String>,
    /// The safety level of its tools, set by the user.
    pub safety: SafetyLevel,
    /// The tools that only read, set by the user.
    pub read_only_tools: Vec<String>,
    /// The time that it may take to start.
    pub startup_timeout: Duration,
    /// The time that a call may take without reporting progress.
    pub tool_timeout: Duration,
    /// True if the server may know the workspace.
    pub roots: bool,
    /// The budget of its requests to the model.
    pub sampling: SamplingBudget,
}

/// Limits the requests of a server to the model within one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SamplingBudget {
    /// The number of requests; 0 by default.
    pub requests: u32,
    /// The tokens of all answers together.
    pub tokens: u32,
}

/// The origin of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigSource {
    /// The user's own configuration.
    User,
    /// The file of a project, whose entries a person approves one by one.
    Project(ProjectEntry),
}

impl ConfigSource {
    /// Returns the key that separates the approvals of one project from those of another.
    pub(crate) fn scope(&self) -> String {
        match self {
            Self::User => String::new(),
            Self::Project(entry) => entry.directory.to_string_lossy().into_owned(),
        }
    }
}

/// Defines how a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransportConfig {
    /// A program on this machine, through its standard input and output.
    Stdio(StdioConfig),
    /// A URL.
    Http(HttpConfig),
}

/// Configures a server that is a local program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StdioConfig {
    /// The program: a path, or a name in `PATH`.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its environment, in addition to the few variables that every program gets.
    pub environment: BTreeMap<String, String>,
    /// The directory in which it runs; the workspace if not set.
    pub directory: Option<PathBuf>,
    /// True if the sandbox confines it.
    pub sandbox: bool,
    /// The paths that it may write to in addition to its own home; relative paths are in the
    /// workspace.
    pub writable: Vec<PathBuf>,
    /// True if it may use the network inside the sandbox.
    pub network: bool,
}

/// Configures a server that is reached over HTTP.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// The URL.
    pub url: Url,
    /// The headers of every request.
    pub headers: BTreeMap<String, String>,
    /// The bearer token of every request.
    pub bearer_token: Option<String>,
    /// The OAuth settings.
    pub oauth: OauthConfig,
}

/// Holds the OAuth settings of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OauthConfig {
    /// The id of a client that was registered manually.
    pub client_id: Option<String>,
    /// The URL of a client metadata document, for servers that support one.
    pub client_metadata_url: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// The scopes to request; if empty, those that the server names.
    pub scopes: Vec<String>,
}

impl std::fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The values of headers and the token are left out, because they are secrets.
        f.debug_struct("HttpConfig")
            .field("url", &self.url.as_str())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The name of a server, which becomes a part of tool names, paths and keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerName(String);

impl ServerName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ServerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl std::str::FromStr for ServerName {
    type Err = ClientError;

    fn from_str(text: &str) -> Result<Self, ClientError> {
        let is_sound = !text.is_empty()
            && text.len() <= MAX_NAME_BYTES
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            && text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if is_sound {
            return Ok(Self(text.to_owned()));
        }
        Err(ClientError::Configuration {
            server: lango_text::make_visible_short(text),
            reason: format!(
                "its name must be 1 to {MAX_NAME_BYTES} letters, digits, '-' and '_', beginning with \
                 a letter or a digit"
            ),
        })
    }
}

impl ServerConfig {
    /// Creates the configuration of a user's server with default limits.
    pub fn new(name: ServerName, transport: TransportConfig) -> Self {
        Self {
            name,
            source: ConfigSource::User,
            transport,
            written: None,
            agent: None,
            enabled: true,
            enabled_tools: Vec::new(),
            disabled_tools: Vec::new(),
            safety: SafetyLevel::Dangerous,
            read_only_tools: Vec::new(),
            startup_timeout: Duration::from_secs(30),
            tool_timeout: Duration::from_mins(1),
            roots: false,
            sampling: SamplingBudget::default(),
        }
    }

    /// Tells whether the configuration enables this tool.
    pub fn enables_tool(&self, tool: &str) -> bool {
        let listed = |list: &[String]| list.iter().any(|name| name == tool);
        (self.enabled_tools.is_empty() || listed(&self.enabled_tools))
            && !listed(&self.disabled_tools)
    }

    /// Returns its command or URL in one line, for a person.
    pub fn location(&self) -> String {
        if let Some(written) = &self.written {
            return lango_text::make_visible(written);
        }
        match &self.transport {
            TransportConfig::Stdio(program) => {
                let words = std::iter::once(&program.command).chain(&program.arguments);
                words.map(|word| lango_text::make_visible(word)).collect::<Vec<_>>().join(" ")
            }
            TransportConfig::Http(address) => redact_url(&address.url),
        }
    }

    /// Returns the question whether a project's entry may be used: the entry whole, and what it would
    /// get. The user's own entries need no approval.
    pub fn describe_project_entry(&self, homes: &Path) -> Option<String> {
        let ConfigSource::Project(entry) = &self.source else { return None };
        Some(entry.describe(self, &server_home(homes, self)))
    }

    /// Returns the values that must not be shown or recorded.
    pub fn secrets(&self) -> Vec<String> {
        let values: Vec<&String> = match &self.transport {
            TransportConfig::Stdio(program) => {
                let named = program.environment.iter().filter(|(name, _)| is_secret_name(name));
                named.map(|(_, value)| value).collect()
            }
            TransportConfig::Http(address) => {
                let secret = &address.oauth.client_secret;
                address.headers.values().chain(&address.bearer_token).chain(secret).collect()
            }
        };
        values.into_iter().filter(|value| value.len() >= 8).cloned().collect()
    }
}

/// Tells whether a variable or a field with this name probably holds a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    const ANYWHERE: [&str; 12] = [
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "secret",
        "token",
        "apikey",
        "credential",
        "mnemonic",
        "authorization",
        "privatekey",
        "accesskey",
    ];
    // These also occur inside harmless words.
    const ALONE: [&str; 6] = ["key", "pin", "cvv", "auth", "pwd", "seed"];
    let lower = name.to_lowercase();
    ANYWHERE.into_iter().any(|word| lower.contains(word))
        || split_into_words(name).iter().any(|word| ALONE.contains(&word.as_str()))
}

/// Splits a name or a sentence into lowercase words: `userPin`, `user_pin` and `User PIN` give the
/// same two.
pub(crate) fn split_into_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let next_is_small = characters.peek().is_some_and(|next| next.is_lowercase());
        // Both `apiKey` and `APIKey` are split before the K.
        let begins = character.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || (before.is_uppercase() && next_is_small));
        if (begins || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        before = character;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns a URL without user, password, query and fragment.
pub(crate) fn redact_url(url: &Url) -> String {
    let mut url = url.clone();
    // This fails only for URLs without a host, which have nothing to remove.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_plain() {
        for good in ["time", "my-server_2", "4u"] {
            assert!(good.parse::<ServerName>().is_ok(), "{good}");
        }
        for bad in ["", "a b", "a/b", "..", "-a", "ä", &"x".repeat(33)] {
            assert!(bad.parse::<ServerName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn names_of_secrets_are_recognised() {
        for secret in [
            "GITHUB_TOKEN",
            "apiKey",
            "API_KEY",
            "password",
            "user_pin",
            "userPin",
            "myAPIKey",
            "walletSeed",
            "x-auth",
        ] {
            assert!(is_secret_name(secret), "{secret}");
        }
        for plain in ["city", "spinner", "LOG_LEVEL", "keyboard", "monkey"] {
            assert!(!is_secret_name(plain), "{plain}");
        }
    }
}
