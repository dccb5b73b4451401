//! Reads the secrets of the vault that the configuration names as `secret:NAME`.

use std::collections::BTreeMap;

use lango_egress::Url;
use lango_keystore::{Actor, EntryKind, KeyStore, KeyStoreError, SecretBytes};

use crate::AppError;
use crate::config::{Config, McpServerConfig};

/// Begins the name of a secret where a value is expected.
const SECRET_PREFIX: &str = "secret:";

/// Returns the name of the secret that a value of the configuration stands for.
pub(crate) fn find_secret_name(value: &str) -> Option<&str> {
    value.strip_prefix(SECRET_PREFIX)
}

/// Opens the secret of this name, which is recorded. One that is bound to a site goes to no other:
/// `url` is where its value is sent to, none for a program.
pub(crate) async fn open_secret(
    store: &KeyStore,
    name: &str,
    url: Option<&str>,
    purpose: &str,
) -> Result<SecretBytes, KeyStoreError> {
    let (kind, name) = (EntryKind::Secret, name.parse()?);
    let bound = store.find(kind, &name).await?.and_then(|entry| entry.attributes.origin);
    if let Some(origin) = bound {
        let there = url.and_then(|url| Url::parse(url).ok());
        if there.is_none_or(|there| there.origin().ascii_serialization() != origin) {
            return Err(KeyStoreError::OtherOrigin { name, origin });
        }
    }
    store.open_value(kind, &name, &Actor::command("lango").with_purpose(purpose)).await
}

/// Returns the origin of a site as browsers write it.
pub fn parse_origin(text: &str) -> Result<String, AppError> {
    let url = Url::parse(text).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let wrong = || AppError::usage(format!("{text:?} is no site; write it as https://github.com"));
    Ok(url.ok_or_else(wrong)?.origin().ascii_serialization())
}

/// The secrets that entries of the configuration name, or the reasons why they cannot be used.
#[derive(Debug, Clone, Default)]
pub struct SecretValues {
    /// By the server and the name.
    values: BTreeMap<(String, String), Result<SecretBytes, String>>,
    /// True if entries are only checked: then a name stands for its value.
    is_unread: bool,
}

impl SecretValues {
    /// Returns no values, for checking an entry: the names in it are taken for values.
    pub fn unread() -> Self {
        Self { is_unread: true, ..Self::default() }
    }

    /// Opens the secrets that the MCP servers of the configuration name.
    pub(crate) async fn read_for_servers(config: &Config, store: &KeyStore) -> Self {
        let mut values = BTreeMap::new();
        for (server, entry) in config.mcp_servers.iter().filter(|(_, entry)| entry.enabled) {
            for name in list_values(entry).filter_map(find_secret_name) {
                let (url, purpose) = (entry.url.as_deref(), format!("the MCP server {server}"));
                let value = open_secret(store, name, url, &purpose).await;
                let value = value.map_err(|error| error.to_string());
                values.insert((server.clone(), name.to_owned()), value);
            }
        }
        Self { values, is_unread: false }
    }

    /// Returns the value of a secret for a server.
    pub(crate) fn look_up(&self, server: &str, name: &str) -> Result<String, String> {
        match self.values.get(&(server.to_owned(), name.to_owned())) {
            Some(Ok(value)) => value
                .reveal_text()
                .map(str::to_owned)
                .ok_or_else(|| format!("the secret {name} is not text")),
            Some(Err(why)) => Err(why.clone()),
            None if self.is_unread => Ok(name.to_owned()),
            None => Err(format!("the secret {name} was not read")),
        }
    }
}

/// Tells whether an entry names a secret.
pub(crate) fn names_secret(entry: &McpServerConfig) -> bool {
    list_values(entry).any(|value| find_secret_name(value).is_some())
}

/// Returns the values of an entry that may be names of secrets.
fn list_values(entry: &McpServerConfig) -> impl Iterator<Item = &str> {
    let values = entry.env.values().chain(entry.headers.values());
    values.chain(&entry.bearer_token).chain(&entry.oauth_client_secret).map(String::as_str)
}
