//! The vault: the keys of `[vault]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The vault: secrets and keys.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct VaultConfig {
    /// The vault is one of the agents. Commands such as `lango secrets` work in any case.
    pub enabled: bool,
    /// Minutes that the vault stays unlocked after its passphrase was typed.
    pub unlock_minutes: u64,
    /// The file whose key unlocks the vault as long as it has no passphrase; vault.key in the data
    /// directory when absent.
    pub key_file: Option<String>,
}

impl Default for VaultConfig {
    fn default() -> Self {
        Self { enabled: true, unlock_minutes: 480, key_file: None }
    }
}
