//! Defines the settings of the key store.

use std::path::PathBuf;
use std::time::Duration;

use lango_redaction::Scrubber;

use crate::{DerivationCost, SecretBytes};

/// Configures a key store.
#[derive(Debug, Clone)]
pub struct KeyStoreSettings {
    /// The file whose key unlocks the vault as long as it has no passphrase.
    pub key_file: PathBuf,
    /// The directory of the files that share an unlocked vault among processes.
    pub session_directory: PathBuf,
    /// How long the vault stays unlocked after a passphrase was typed.
    pub unlock_time: Duration,
    /// What a guess of the passphrase costs.
    pub derivation_cost: DerivationCost,
    /// The passphrase, where it is passed to the process at its start.
    pub passphrase: Option<SecretBytes>,
    /// Learns every value that is stored or opened.
    pub scrubber: Scrubber,
}

impl KeyStoreSettings {
    /// Returns the usual settings with these files.
    pub fn new(key_file: PathBuf, session_directory: PathBuf) -> Self {
        Self {
            key_file,
            session_directory,
            unlock_time: Duration::from_hours(8),
            derivation_cost: DerivationCost::default(),
            passphrase: None,
            scrubber: Scrubber::default(),
        }
    }
}
