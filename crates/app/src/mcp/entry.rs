//! Converts entries of the configuration or of a project's file to servers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lango_egress::Url;
use lango_mcp::client::{
    ConfigSource, ExpandError, HttpConfig, JsonEntry, OauthConfig, ProjectEntry, SamplingBudget,
    ServerConfig, ServerName, StdioConfig, TransportConfig, expand,
};

use super::variables::{EntryVariables, is_withheld};
use crate::config::{Config, McpServerConfig};
use crate::environment::read_variable_even_empty;
use crate::home;
use crate::secret_values::{SecretValues, find_secret_name, names_secret};

/// Limits the timeouts that a user may set.
const MAX_TIMEOUT_SECONDS: u64 = 24 * 3600;

/// Says why an entry cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// A variable of the environment that it names is not set.
    #[error("the variable {0} is not set")]
    UnsetVariable(String),
    /// Something else is wrong with it.
    #[error("{0}")]
    Invalid(String),
}

impl EntryError {
    fn invalid(why: impl Into<String>) -> Self {
        Self::Invalid(why.into())
    }
}

impl From<String> for EntryError {
    fn from(why: String) -> Self {
        Self::Invalid(why)
    }
}

/// Converts one entry of the user's configuration. The error says what is wrong with it.
pub fn resolve_entry(
    name: &str,
    given: &McpServerConfig,
    secrets: &SecretValues,
) -> Result<ServerConfig, EntryError> {
    let directory = given.cwd.as_deref().map(|cwd| {
        let cwd = expand_variables(cwd, &EntryVariables::All)?;
        Ok::<_, EntryError>(home::expand_path(&cwd)?)
    });
    resolve_with(name, given, directory.transpose()?, &EntryVariables::All, secrets)
}

/// Converts an entry with these variables, to run in this directory.
fn resolve_with(
    name: &str,
    given: &McpServerConfig,
    directory: Option<PathBuf>,
    variables: &EntryVariables<'_>,
    secrets: &SecretValues,
) -> Result<ServerConfig, EntryError> {
    let name: ServerName = name.parse().map_err(|error| format!("{error}"))?;
    let transport = match (&given.command, &given.url) {
        (Some(_), Some(_)) => {
            return Err(EntryError::invalid("it has a command and a url; leave one out"));
        }
        (None, None) => return Err(EntryError::invalid("it has neither a command nor a url")),
        (Some(command), None) => TransportConfig::Stdio(StdioConfig {
            command: expand_variables(command, variables)?,
            arguments: given
                .args
                .iter()
                .map(|text| expand_variables(text, variables))
                .collect::<Result<_, _>>()?,
            environment: expand_values(name.as_str(), &given.env, variables, secrets)?,
            directory,
            sandbox: given.sandbox,
            writable: given
                .writable
                .iter()
                .map(|path| workspace_path(&expand_variables(path, variables)?))
                .collect::<Result<_, _>>()?,
            network: given.network,
        }),
        (None, Some(url)) => TransportConfig::Http(HttpConfig {
            url: parse_address(&expand_variables(url, variables)?)?,
            headers: expand_values(name.as_str(), &given.headers, variables, secrets)?,
            bearer_token: read_token(
                (name.as_str(), "bearer_token"),
                given.bearer_token.as_deref(),
                given.bearer_token_env_var.as_deref(),
                secrets,
            )?,
            oauth: OauthConfig {
                client_id: given.oauth_client_id.clone(),
                client_metadata_url: None,
                client_secret: read_token(
                    (name.as_str(), "oauth_client_secret"),
                    given.oauth_client_secret.as_deref(),
                    given.oauth_client_secret_env_var.as_deref(),
                    secrets,
                )?,
                scopes: given.oauth_scopes.clone(),
            },
        }),
    };
    let written = match (&given.command, &given.url) {
        (Some(command), _) => {
            let words: Vec<&str> =
                std::iter::once(command).chain(&given.args).map(String::as_str).collect();
            Some(words.join(" "))
        }
        // An address without variables is shown without its password.
        (None, Some(url)) => url.contains("${").then(|| url.clone()),
        (None, None) => None,
    };
    let agent = given.agent.as_deref().map(str::parse).transpose();
    let seconds = |seconds: u64| Duration::from_secs(seconds.clamp(1, MAX_TIMEOUT_SECONDS));
    Ok(ServerConfig {
        written,
        agent: agent.map_err(|error| format!("agent: {error}"))?,
        enabled: given.enabled,
        enabled_tools: given.enabled_tools.clone(),
        disabled_tools: given.disabled_tools.clone(),
        safety: given.safety.into(),
        read_only_tools: given.read_only_tools.clone(),
        startup_timeout: seconds(given.startup_timeout_sec),
        tool_timeout: seconds(given.tool_timeout_sec),
        roots: given.roots,
        sampling: SamplingBudget {
            requests: given.sampling_requests,
            tokens: given.sampling_tokens,
        },
        ..ServerConfig::new(name, transport)
    })
}

/// Converts one entry of another program's file to one of the configuration.
pub fn import_entry(entry: &JsonEntry) -> Result<McpServerConfig, EntryError> {
    if let Some(kind @ "sse") = entry.r#type.as_deref() {
        return Err(EntryError::invalid(format!(
            "it speaks {kind:?}, which the protocol has given up; ask its makers for an address \
             with streamable HTTP"
        )));
    }
    Ok(McpServerConfig {
        command: entry.command.clone(),
        args: entry.args.clone(),
        env: entry.env.clone(),
        cwd: entry.cwd.clone(),
        url: entry.url.clone(),
        headers: entry.headers.clone(),
        enabled: !entry.disabled,
        ..McpServerConfig::default()
    })
}

/// Converts one entry of a project's file. Paths in it may be relative to the project.
pub(super) fn resolve_project_entry(
    name: &str,
    entry: &JsonEntry,
    unknown: &[String],
    project: &Path,
    config: &Config,
) -> Result<ServerConfig, EntryError> {
    if let Some(key) = unknown.first() {
        let key = lango_text::make_visible_short(key);
        return Err(EntryError::invalid(format!("unknown key \"{key}\"")));
    }
    let project_entry = ProjectEntry::new(project, entry)?;
    if let Some(variable) = project_entry.variables.iter().find(|name| is_withheld(config, name)) {
        return Err(EntryError::invalid(format!(
            "it asks for the variable {}, and no project gets keys of model providers, Lango's own \
             variables or those that your configuration uses. To give it yourself: lango mcp add \
             --help",
            lango_text::make_visible_short(variable)
        )));
    }
    let given = import_entry(entry)?;
    if names_secret(&given) {
        return Err(EntryError::invalid(
            "it names a secret of the vault, and no project gets one. To give it yourself: lango mcp \
             add --help",
        ));
    }
    let variables = EntryVariables::Named(&project_entry.variables);
    let directory =
        given.cwd.as_deref().map(|cwd| expand_variables(cwd, &variables)).transpose()?;
    let directory = directory.map(|cwd| project.join(cwd));
    let resolved = resolve_with(name, &given, directory, &variables, &SecretValues::default())?;
    Ok(ServerConfig { source: ConfigSource::Project(project_entry), ..resolved })
}

fn parse_address(text: &str) -> Result<Url, EntryError> {
    let url = Url::parse(text).map_err(|error| format!("{text:?} is not an address: {error}"))?;
    let is_address = matches!(url.scheme(), "http" | "https") && url.has_host();
    if !is_address || !url.username().is_empty() || url.password().is_some() {
        return Err(EntryError::invalid(format!(
            "{text:?} is not an http(s) address without a user in it; put a token into \
             bearer_token_env_var"
        )));
    }
    Ok(url)
}

/// Expands a path that may be relative to the workspace.
fn workspace_path(text: &str) -> Result<PathBuf, EntryError> {
    let is_absolute = text.starts_with(['/', '~']);
    Ok(if is_absolute { home::expand_path(text)? } else { PathBuf::from(text) })
}

fn expand_variables(text: &str, variables: &EntryVariables<'_>) -> Result<String, EntryError> {
    expand(text, &|name| variables.read(name)).map_err(|error| match error {
        ExpandError::Unset(name) => EntryError::UnsetVariable(name),
        ExpandError::Unclosed(_) => EntryError::Invalid(error.to_string()),
    })
}

fn expand_values(
    server: &str,
    given: &BTreeMap<String, String>,
    variables: &EntryVariables<'_>,
    secrets: &SecretValues,
) -> Result<BTreeMap<String, String>, EntryError> {
    let expand = |(name, value): (&String, &String)| {
        let value = match find_secret_name(value) {
            Some(secret) => secrets.look_up(server, secret)?,
            None => expand_variables(value, variables)?,
        };
        Ok((name.clone(), value))
    };
    given.iter().map(expand).collect()
}

/// Returns the secret that a key of an entry names, or the value of a variable.
fn read_token(
    (server, key): (&str, &str),
    secret: Option<&str>,
    variable: Option<&str>,
    secrets: &SecretValues,
) -> Result<Option<String>, EntryError> {
    let Some(given) = secret else { return read_variable(variable) };
    let name = find_secret_name(given).ok_or_else(|| {
        EntryError::invalid(format!(
            "{key} is not secret:NAME. Tokens are not kept in the configuration. To move it to the \
             vault: lango secrets import-config. To store another one: lango secrets set NAME, then \
             write secret:NAME"
        ))
    })?;
    Ok(Some(secrets.look_up(server, name)?))
}

fn read_variable(name: Option<&str>) -> Result<Option<String>, EntryError> {
    let Some(name) = name else { return Ok(None) };
    let value = read_variable_even_empty(name).filter(|value| !value.is_empty());
    value.map(Some).ok_or_else(|| EntryError::UnsetVariable(name.to_owned()))
}
