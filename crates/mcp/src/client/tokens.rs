//! Stores the tokens of servers in the vault, and moves those there that an earlier version wrote to
//! files.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use lango_keystore::{
    Actor, EntryAttributes, EntryKind, EntryName, KeyStore, KeyStoreError, SecretBytes,
};
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use serde::{Deserialize, Serialize};

use super::config::{HttpConfig, ServerConfig};
use super::{ClientError, pin};

const KIND: EntryKind = EntryKind::Credential;

/// The tokens of one server, an entry of the vault.
#[derive(Debug, Clone)]
pub(crate) struct StoredTokens {
    store: KeyStore,
    name: EntryName,
    /// The server, for the record of uses.
    server: String,
    /// The URL that they belong to; they are not sent to another one.
    resource: String,
}

/// The content of a file that an earlier version wrote.
#[derive(Serialize, Deserialize)]
struct TokenRecord {
    resource: String,
    credentials: StoredCredentials,
}

impl StoredTokens {
    pub(crate) fn new(
        config: &ServerConfig,
        address: &HttpConfig,
        store: &KeyStore,
    ) -> Result<Self, KeyStoreError> {
        // A project's server must not get the tokens of the user's own with the same name.
        let scope = match config.source.scope() {
            none if none.is_empty() => String::new(),
            scope => format!("-{}", &pin::digest_parts(&[&scope])[..12]),
        };
        let name = entry_name(&format!("{}{scope}", config.name))?;
        let (store, server) = (store.clone(), config.name.to_string());
        Ok(Self { store, name, server, resource: address.url.to_string() })
    }

    /// Tells whether there are tokens for this URL.
    pub(crate) async fn exist(&self) -> Result<bool, KeyStoreError> {
        let found = self.store.find(KIND, &self.name).await?;
        let belongs = |given: Option<String>| given.as_deref() == Some(self.resource.as_str());
        Ok(found.is_some_and(|entry| belongs(entry.attributes.resource)))
    }

    /// Opens the tokens for a connection, which is recorded. Damaged ones count as missing: the server
    /// then asks for a login, which writes them anew.
    pub(crate) async fn open(&self) -> Result<Option<StoredCredentials>, ClientError> {
        let unusable = |source| ClientError::Tokens { server: self.server.clone(), source };
        if !self.exist().await.map_err(unusable)? {
            return Ok(None);
        }
        let value = match self.store.open_value(KIND, &self.name, &self.actor()).await {
            Err(error @ KeyStoreError::Damaged { .. }) => {
                tracing::warn!(%error, "stored tokens of an MCP server cannot be read");
                return Ok(None);
            }
            value => value.map_err(unusable)?,
        };
        Ok(parse(&value))
    }

    async fn read(&self) -> Result<Option<StoredCredentials>, KeyStoreError> {
        if !self.exist().await? {
            return Ok(None);
        }
        match self.store.read_credential(&self.name).await {
            Ok(value) => Ok(parse(&value)),
            Err(KeyStoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn write(&self, credentials: &StoredCredentials) -> Result<(), KeyStoreError> {
        let attributes = attributes(&self.resource);
        let value = serialize(credentials)?;
        self.store.put(KIND, &self.name, &value, attributes, &self.actor()).await.map(drop)
    }

    pub(crate) async fn remove(&self) -> Result<bool, KeyStoreError> {
        self.store.delete(KIND, &self.name, &self.actor()).await
    }

    fn actor(&self) -> Actor {
        Actor::command("lango").with_purpose(format!("requests to the MCP server {}", self.server))
    }
}

fn entry_name(server: &str) -> Result<EntryName, KeyStoreError> {
    Ok(format!("mcp/{server}").parse()?)
}

fn attributes(resource: &str) -> EntryAttributes {
    EntryAttributes { resource: Some(resource.to_owned()), ..EntryAttributes::default() }
}

fn serialize(credentials: &StoredCredentials) -> Result<SecretBytes, KeyStoreError> {
    let text = serde_json::to_vec(credentials).map_err(|_| KeyStoreError::TooLarge)?;
    Ok(SecretBytes::new(text))
}

fn parse(value: &SecretBytes) -> Option<StoredCredentials> {
    serde_json::from_slice(value.reveal()).ok()
}

#[async_trait]
impl CredentialStore for StoredTokens {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.read().await.map_err(auth_error)
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.write(&credentials).await.map_err(auth_error)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.remove().await.map(drop).map_err(auth_error)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn auth_error(error: KeyStoreError) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

/// Moves the tokens that an earlier version wrote to files into the vault. A file is overwritten and
/// deleted after its tokens are stored; one that cannot be read stays. Returns the number of files.
pub async fn move_token_files(directory: &Path, store: &KeyStore) -> Result<usize, KeyStoreError> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Ok(0) };
    let mut count = 0;
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_file = path.extension().is_some_and(|extension| extension == "json");
        let Some(server) = path.file_stem().and_then(|name| name.to_str()).filter(|_| is_file)
        else {
            continue;
        };
        // An error of the parser may quote a token.
        let record = std::fs::read(&path).ok();
        let record = record.and_then(|text| serde_json::from_slice::<TokenRecord>(&text).ok());
        let (Some(record), Ok(name)) = (record, entry_name(server)) else {
            tracing::warn!(path = %path.display(), "stored tokens cannot be read; sign in again");
            continue;
        };
        let before = store.find(KIND, &name).await?;
        if before.is_none_or(|entry| entry.updated_at.as_microseconds() < modified_at(&path)) {
            let (value, attributes) =
                (serialize(&record.credentials)?, attributes(&record.resource));
            let actor = Actor::command("lango").with_purpose("move tokens into the vault");
            store.put(KIND, &name, &value, attributes, &actor).await?;
        }
        match erase_file(&path) {
            Ok(()) => count += 1,
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(path = %path.display(), %error, "cannot be deleted"),
        }
    }
    Ok(count)
}

/// Returns the time at which a file was written, in microseconds since the epoch.
fn modified_at(path: &Path) -> i64 {
    let modified = std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let age = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    age.and_then(|age| i64::try_from(age.as_micros()).ok()).unwrap_or(i64::MAX)
}

/// Overwrites a file, and deletes it.
fn erase_file(path: &Path) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).open(path)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or_default();
    file.write_all(&vec![0; length])?;
    file.sync_all()?;
    std::fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use lango_keystore::{DerivationCost, KeyStoreSettings};
    use lango_store::DatabaseLocation;

    use super::*;

    const RECORD: &str =
        r#"{"resource":"https://a/","credentials":{"client_id":"old","token_response":null}}"#;

    async fn open_store(directory: &Path) -> KeyStore {
        let location = DatabaseLocation::Sqlite(directory.join("lango.db"));
        let database = lango_store::testing::open(&location).await;
        let settings = KeyStoreSettings {
            derivation_cost: DerivationCost { memory_kib: 64, passes: 1 },
            ..KeyStoreSettings::new(directory.join("vault.key"), directory.join("run"))
        };
        KeyStore::open(database, settings).await.unwrap()
    }

    #[tokio::test]
    async fn a_locked_vault_leaves_files_alone_and_newer_tokens_win() {
        let directory = tempfile::tempdir().unwrap();
        let store = open_store(directory.path()).await;
        let actor = Actor::command("test");
        let passphrase = SecretBytes::from("a long passphrase".to_owned());
        store.set_passphrase(None, &passphrase, &actor).await.unwrap();
        store.lock(&actor).await.unwrap();
        let tokens = directory.path().join("mcp");
        std::fs::create_dir(&tokens).unwrap();
        let file = tokens.join("hub.json");
        std::fs::write(&file, RECORD).unwrap();
        let refused = move_token_files(&tokens, &store).await.unwrap_err();
        assert!(refused.to_string().contains("lango vault unlock"), "{refused}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), RECORD);
        store.unlock(&passphrase, None, &actor).await.unwrap();
        assert_eq!(move_token_files(&tokens, &store).await.unwrap(), 1);
        assert!(!file.exists());
        let name = entry_name("hub").unwrap();
        let client =
            async || parse(&store.read_credential(&name).await.unwrap()).unwrap().client_id;
        assert_eq!(client().await, "old");
        // A file from before the last login is not newer than it.
        std::fs::write(&file, RECORD.replace("old", "older")).unwrap();
        let past = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
        let opened = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
        opened.set_modified(past).unwrap();
        assert_eq!(move_token_files(&tokens, &store).await.unwrap(), 1);
        assert_eq!(client().await, "old");
    }
}
