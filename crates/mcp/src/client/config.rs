//! Which servers there are, and how each is reached and bounded.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use lango_protocol::AgentName;
use lango_tool::SafetyLevel;
use url::Url;

use super::ClientError;

/// The longest name of a server: names of tools begin with it.
const LONGEST_NAME: usize = 32;

/// One server, with everything that the user said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name here.
    pub name: ServerName,
    /// Where the entry comes from.
    pub source: Source,
    /// [`JsonEntry::digest`](super::JsonEntry::digest) of a project's entry; empty for the user's own.
    pub written: String,
    /// How it is reached.
    pub transport: TransportConfig,
    /// The agent that owns its tools; by the prefixes of names when absent.
    pub agent: Option<AgentName>,
    /// Whether it is used at all.
    pub enabled: bool,
    /// If there are any, the only tools that are used.
    pub enabled_tools: Vec<String>,
    /// Tools that are not used.
    pub disabled_tools: Vec<String>,
    /// How much harm its tools can do, as the user sees it.
    pub safety: SafetyLevel,
    /// Tools that only read, as the user sees it.
    pub read_only_tools: Vec<String>,
    /// How long it may take until it is ready.
    pub startup_timeout: Duration,
    /// How long a call may take without a sign of progress.
    pub tool_timeout: Duration,
    /// Whether it is told which directory is worked in.
    pub roots: bool,
    /// What it may ask of the model.
    pub sampling: SamplingBudget,
}

/// What a server may ask of the model within one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SamplingBudget {
    /// Requests; none unless the user says otherwise.
    pub requests: u32,
    /// Tokens of all answers together.
    pub tokens: u32,
}

/// Where an entry comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The user's own configuration.
    User,
    /// A file in this directory, which the user trusts.
    Project(PathBuf),
}

impl Source {
    /// What keeps the pins of one project apart from those of another.
    pub(crate) fn scope(&self) -> String {
        match self {
            Self::User => String::new(),
            Self::Project(directory) => directory.to_string_lossy().into_owned(),
        }
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransportConfig {
    /// A program on this machine, through its standard input and output.
    Stdio(StdioConfig),
    /// An address.
    Http(HttpConfig),
}

/// A program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StdioConfig {
    /// The program: a path, or a name in `PATH`.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its environment, beside the few variables that every program needs.
    pub environment: BTreeMap<String, String>,
    /// Where it runs; the workspace when absent.
    pub directory: Option<PathBuf>,
    /// Whether the sandbox confines it.
    pub sandbox: bool,
    /// What it may write to beside the usual caches; relative paths lie in the workspace.
    pub writable: Vec<PathBuf>,
    /// Whether it may reach the network, where the sandbox confines it.
    pub network: bool,
}

/// An address.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// The address.
    pub url: Url,
    /// Headers that every request carries.
    pub headers: BTreeMap<String, String>,
    /// The token that every request carries.
    pub bearer_token: Option<String>,
    /// What is known beforehand for signing in.
    pub oauth: OauthConfig,
}

/// What is known beforehand for signing in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OauthConfig {
    /// A client that was registered by hand.
    pub client_id: Option<String>,
    /// The address of a document that describes this client, for servers that take one.
    pub client_metadata_url: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// What to ask for; what the server names when empty.
    pub scopes: Vec<String>,
}

impl std::fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the values of headers and the token: they are secrets.
        f.debug_struct("HttpConfig")
            .field("url", &self.url.as_str())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The name of a server: it becomes a part of names of tools, paths and keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerName(String);

impl ServerName {
    /// The name as text.
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
            && text.len() <= LONGEST_NAME
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            && text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if is_sound {
            return Ok(Self(text.to_owned()));
        }
        Err(ClientError::Configuration {
            server: lango_tool::visible_short(text),
            reason: format!(
                "its name must be 1 to {LONGEST_NAME} letters, digits, '-' and '_', beginning with \
                 a letter or a digit"
            ),
        })
    }
}

impl ServerConfig {
    /// A server of the user's with the usual limits.
    pub fn new(name: ServerName, transport: TransportConfig) -> Self {
        Self {
            name,
            source: Source::User,
            written: String::new(),
            transport,
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

    /// Whether the user wants this tool.
    pub fn wants(&self, tool: &str) -> bool {
        let listed = |list: &[String]| list.iter().any(|name| name == tool);
        (self.enabled_tools.is_empty() || listed(&self.enabled_tools))
            && !listed(&self.disabled_tools)
    }

    /// Where it is, in one line for a person.
    pub fn place(&self) -> String {
        match &self.transport {
            TransportConfig::Stdio(program) => {
                let words = std::iter::once(&program.command).chain(&program.arguments);
                words.map(|word| lango_tool::visible(word)).collect::<Vec<_>>().join(" ")
            }
            TransportConfig::Http(address) => without_secrets(&address.url),
        }
    }

    /// What would be started or reached, as a digest: another one is another server. All that a
    /// project's entry says counts as it is written. What variables stand for in `env` and
    /// `headers` is left out, because tokens change.
    pub(crate) fn definition(&self) -> String {
        let mut parts: Vec<&str> = vec![&self.written];
        let (directory, counts);
        match &self.transport {
            TransportConfig::Stdio(program) => {
                directory = program.directory.as_ref().map(|path| path.display().to_string());
                // How many there are of each keeps arguments and names of variables apart.
                counts = format!("{} {}", program.arguments.len(), program.environment.len());
                parts.extend(["stdio", &program.command, &counts]);
                parts.extend(program.arguments.iter().map(String::as_str));
                parts.extend(program.environment.keys().map(String::as_str));
                parts.push(directory.as_deref().unwrap_or_default());
                parts.push(if program.sandbox { "confined" } else { "free" });
            }
            TransportConfig::Http(address) => {
                counts = address.headers.len().to_string();
                parts.extend(["http", address.url.as_str(), &counts]);
                parts.extend(address.headers.keys().map(String::as_str));
            }
        }
        super::pin::digest_of(&parts)
    }

    /// The values that must not be shown or recorded.
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

/// Whether a variable or a field with this name probably holds a secret.
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
    // These would be found in harmless words.
    const ALONE: [&str; 6] = ["key", "pin", "cvv", "auth", "pwd", "seed"];
    let lower = name.to_lowercase();
    ANYWHERE.into_iter().any(|word| lower.contains(word))
        || words(name).iter().any(|word| ALONE.contains(&word.as_str()))
}

/// The words of a name or a sentence in small letters: `userPin`, `user_pin` and `User PIN` are
/// the same two.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let next_is_small = characters.peek().is_some_and(|next| next.is_lowercase());
        // `apiKey` has its border before the K, and so has `APIKey`.
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

/// An address without user, password, query and fragment.
pub(crate) fn without_secrets(url: &Url) -> String {
    let mut url = url.clone();
    // Fails only for addresses that have no host, and then there is nothing to remove.
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
    fn everything_that_a_project_writes_makes_its_definition() {
        let program = |arguments: &[&str], environment: &[&str], written: &str| {
            let owned = |text: &&str| (*text).to_owned();
            let program = StdioConfig {
                command: "serve".to_owned(),
                arguments: arguments.iter().map(owned).collect(),
                environment: environment.iter().map(|n| (owned(n), String::new())).collect(),
                ..StdioConfig::default()
            };
            let name = "s".parse().unwrap();
            let written = written.to_owned();
            ServerConfig { written, ..ServerConfig::new(name, TransportConfig::Stdio(program)) }
                .definition()
        };
        let one = program(&["a"], &["B"], "{}");
        assert_eq!(one, program(&["a"], &["B"], "{}"));
        for other in [
            program(&["a", "B"], &[], "{}"),
            program(&[], &["B", "a"], "{}"),
            program(&["a"], &["B"], r#"{"env":{"B":"other"}}"#),
        ] {
            assert_ne!(one, other);
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
