//! Opens the key store with the settings of the configuration.

use std::path::PathBuf;
use std::time::Duration;

use lango_a2a::server::seal_plain_credentials;
use lango_keystore::{
    Actor, EntryAttributes, EntryKind, EntryName, KeyStore, KeyStoreError, KeyStoreSettings,
    SecretBytes,
};
use lango_mcp::client::move_token_files;
use lango_store::Database;

use crate::config::{self, Config, PlainSecret};
use crate::environment::read_variable;
use crate::home::expand_path;
use crate::mcp::token_directory;
use crate::secret_values::{find_secret_name, open_secret};
use crate::{App, AppError, Home};

/// Names the variable with the passphrase, for processes that are started without a person.
const PASSPHRASE_VARIABLE: &str = "LANGO_VAULT_PASSPHRASE";

impl App {
    /// Opens the key store in a database. The scrubber learns every value that it stores or opens.
    pub async fn open_key_store(&self, database: Database) -> Result<KeyStore, AppError> {
        let (store, notice) = self.open_key_store_with_notice(database).await?;
        if let Some(notice) = notice {
            tracing::warn!("{notice}");
        }
        Ok(store)
    }

    /// Opens the key store, and says what stays in plain text because it could not be moved into it.
    pub(crate) async fn open_key_store_with_notice(
        &self,
        database: Database,
    ) -> Result<(KeyStore, Option<String>), AppError> {
        let given = &self.config().vault;
        let key_file = match &given.key_file {
            Some(path) => expand_path(path)
                .map_err(|error| AppError::usage(format!("vault.keyFile: {error}")))?,
            None => self.home.data.join("vault.key"),
        };
        let minutes = Duration::from_secs(given.unlock_minutes.max(1).saturating_mul(60));
        let settings = KeyStoreSettings {
            unlock_time: minutes,
            passphrase: read_variable(PASSPHRASE_VARIABLE).map(SecretBytes::from),
            scrubber: self.scrubber.clone(),
            ..KeyStoreSettings::new(key_file, session_directory(&self.home))
        };
        let store = KeyStore::open(database.clone(), settings).await?;
        let notice = self.move_credentials(&database, &store).await.err().map(|error| {
            format!("credentials of an earlier version stay in plain text for now: {error}")
        });
        Ok((store, notice))
    }

    /// Lets the scrubber learn the values of the vault, for commands that store texts without a team.
    /// Returns what a user should know about a vault that cannot be used.
    pub async fn teach_secrets(&self, database: &Database) -> Result<Option<String>, AppError> {
        Ok(teach_scrubber(&self.open_key_store(database.clone()).await?).await)
    }

    /// Moves the keys and tokens that stand in the configuration's file into the vault, and puts their
    /// names in their place. All are stored before the file is changed, in one step, so that nothing is
    /// lost if this ends early: it can be done again. Returns the keys with the names of the secrets.
    pub async fn move_plain_secrets(
        &self,
        store: &KeyStore,
    ) -> Result<Vec<(String, String)>, AppError> {
        let path = &self.home.config_file;
        let mut moved = Vec::new();
        for found in config::list_plain_secrets(path)? {
            let name = store_plain_secret(store, &found).await?;
            moved.push((found, name));
        }
        if moved.is_empty() {
            return Ok(Vec::new());
        }
        config::replace_plain_secrets(path, &moved)?;
        Ok(moved.into_iter().map(|(found, name)| (found.key, name)).collect())
    }

    /// Moves what earlier versions stored in plain text into the vault: the tokens of MCP servers and
    /// the credentials of push notifications. Returns their number.
    pub async fn move_credentials(
        &self,
        database: &Database,
        store: &KeyStore,
    ) -> Result<usize, AppError> {
        let tokens = move_token_files(&token_directory(&self.home), store).await?;
        Ok(tokens + seal_plain_credentials(database, store).await?)
    }
}

impl App {
    /// Returns the configuration with the keys of providers and the tokens of remote agents that are in
    /// the vault. Costs nothing if there are none.
    pub async fn config_with_keys(&self) -> Result<Config, AppError> {
        let mut config = self.config().clone();
        let has_keys = config.providers.values().any(|provider| provider.api_key.is_some());
        let agents = &config.a2a.remote_agents;
        let has_tokens = config.a2a.enabled && agents.iter().any(|agent| agent.token.is_some());
        if !has_keys && !has_tokens {
            return Ok(config);
        }
        let store = self.open_key_store(self.open_stores().await?.database).await?;
        for (id, provider) in &mut config.providers {
            let Some(given) = &provider.api_key else { continue };
            let Some(name) = find_secret_name(given) else {
                return Err(AppError::usage(format!(
                    "providers.{id}.apiKey is not secret:NAME. Keys are not kept in the \
                     configuration. To move it to the vault: lango secrets import-config. To store \
                     another one: lango secrets set {id}-key, then lango config set \
                     providers.{id}.apiKey secret:{id}-key"
                )));
            };
            let key = open_secret(
                &store,
                name,
                provider.base_url.as_deref(),
                &format!("requests to {id}"),
            )
            .await?;
            provider.resolved_key = Some(key);
        }
        for agent in &mut config.a2a.remote_agents {
            let Some(given) = &agent.token else { continue };
            let id = &agent.name;
            let Some(name) = find_secret_name(given) else {
                return Err(AppError::usage(format!(
                    "a2a.remoteAgents, {id}: token is not secret:NAME. Tokens are not kept in the \
                     configuration. To move it to the vault: lango secrets import-config. To store \
                     another one: lango secrets set {id}-token, then write secret:{id}-token"
                )));
            };
            let (url, purpose) = (Some(agent.agent_card_url.as_str()), format!("requests to {id}"));
            match open_secret(&store, name, url, &purpose).await {
                Ok(token) => agent.resolved_token = Some(token),
                // One agent that cannot be reached does not keep the others from working.
                Err(error) => tracing::warn!(agent = %id, %error, "it gets no token"),
            }
        }
        Ok(config)
    }
}

/// Stores a value of the configuration, under a name that no other value has. Returns the name.
async fn store_plain_secret(store: &KeyStore, found: &PlainSecret) -> Result<String, AppError> {
    let (kind, actor) = (EntryKind::Secret, Actor::command("lango secrets import-config"));
    let value = SecretBytes::from(found.value.to_string());
    for number in 1_u32.. {
        let name =
            if number == 1 { found.name.clone() } else { format!("{}-{number}", found.name) };
        let name: EntryName = name.parse().map_err(KeyStoreError::from)?;
        match store.create(kind, &name, &value, EntryAttributes::default(), &actor).await {
            // What was begun before and did not end is gone on with.
            Err(KeyStoreError::Exists { .. }) => {
                if store.open_value(kind, &name, &actor).await? == value {
                    return Ok(name.to_string());
                }
            }
            stored => return Ok(stored.map(|entry| entry.name.to_string())?),
        }
    }
    Err(KeyStoreError::Changed.into())
}

/// Returns the directory of the files that share an unlocked vault: the user's runtime directory,
/// which is gone after a restart, or a directory of Lango's own.
pub(crate) fn session_directory(home: &Home) -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|path| path.is_absolute() && path.is_dir());
    runtime.map_or_else(|| home.state.join("run"), |path| path.join("lango"))
}

/// Lets the scrubber learn the values of the vault. Returns what a user should know about a vault that
/// cannot be used.
pub(crate) async fn teach_scrubber(store: &KeyStore) -> Option<String> {
    match store.teach_scrubber().await {
        Ok(_) => match store.status().await {
            Ok(status) if status.generation > 0 && !status.unlocked => {
                Some("the vault is locked; unlock it: lango vault unlock".to_owned())
            }
            _ => None,
        },
        Err(KeyStoreError::Store(error)) => {
            tracing::warn!(%error, "the vault was not read");
            None
        }
        Err(error) => Some(format!("the vault cannot be used: {error}")),
    }
}
