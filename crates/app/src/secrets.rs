//! Collects the values that must not be recorded or shown.

use crate::config::Config;
use crate::provider::ReadyModels;
use crate::{knowledge, remotes};

/// Returns the secrets of the models and of the configuration.
pub(crate) fn collect_secrets(config: &Config, models: &ReadyModels) -> Vec<String> {
    let secrets = models.secrets.iter().cloned().chain(database_password(config));
    secrets.chain(knowledge::secrets(config)).chain(remotes::remote_tokens(config)).collect()
}

/// Returns the database URL if it contains a password: then all of it is a secret.
fn database_password(config: &Config) -> Option<String> {
    config.database.url.clone().filter(|url| url.contains('@'))
}
