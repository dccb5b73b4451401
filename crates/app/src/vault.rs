//! Opens the key store with the settings of the configuration.

use std::path::PathBuf;
use std::time::Duration;

use lango_keystore::{Actor, EntryKind, KeyStore, KeyStoreError, KeyStoreSettings, SecretBytes};
use lango_store::Database;

use crate::config::Config;
use crate::environment::read_variable;
use crate::home::expand_path;
use crate::{App, AppError, Home};

/// Names the variable with the passphrase, for processes that are started without a person.
const PASSPHRASE_VARIABLE: &str = "LANGO_VAULT_PASSPHRASE";

impl App {
    /// Opens the key store in a database. The scrubber learns every value that it stores or opens.
    pub async fn open_key_store(&self, database: Database) -> Result<KeyStore, AppError> {
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
        Ok(KeyStore::open(database, settings).await?)
    }
}

/// Begins the name of a secret where a value is expected.
const SECRET_PREFIX: &str = "secret:";

impl App {
    /// Returns the configuration with the keys of providers that are in the vault. Costs nothing if
    /// there are none.
    pub async fn config_with_keys(&self) -> Result<Config, AppError> {
        let mut config = self.config().clone();
        if config.providers.values().all(|provider| provider.api_key.is_none()) {
            return Ok(config);
        }
        let store = self.open_key_store(self.open_stores().await?.database).await?;
        for (id, provider) in &mut config.providers {
            let Some(given) = &provider.api_key else { continue };
            let Some(name) = given.strip_prefix(SECRET_PREFIX) else {
                return Err(AppError::usage(format!(
                    "providers.{id}.apiKey is not secret:NAME. Keys are not kept in the \
                     configuration: store it with lango secrets set {id}-key, then: lango config set \
                     providers.{id}.apiKey secret:{id}-key"
                )));
            };
            let name = name.parse().map_err(KeyStoreError::from)?;
            let actor = Actor::command("lango").with_purpose(format!("requests to {id}"));
            let key = store.open_value(EntryKind::Secret, &name, &actor).await?;
            provider.resolved_key = Some(key);
        }
        Ok(config)
    }
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
