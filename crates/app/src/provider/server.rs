//! Finds servers of models in the configuration, the environment, and on this machine.

use lango_keystore::SecretBytes;
use lango_model::{ApiKey, Endpoint, ModelFacts, ModelId, Wire};

use super::known::{KNOWN_PROVIDERS, KnownProvider, find_known_provider};
use crate::AppError;
use crate::config::{Config, ProviderConfig};
use crate::environment::read_variable;

/// A server that models are reached through.
#[derive(Debug, Clone)]
pub struct ModelServer {
    /// Its name in the configuration.
    pub id: String,
    /// The wire format it speaks.
    pub wire: Wire,
    /// Its address.
    pub base_url: String,
    /// The variable that holds the key; set in the environment or not.
    pub key_variable: Option<String>,
    /// The key from the vault.
    stored_key: Option<SecretBytes>,
    headers: Vec<(String, String)>,
    /// Values of headers that come from the environment.
    secrets: Vec<String>,
    /// The variable or the key that names it.
    pub why: String,
    known: Option<&'static KnownProvider>,
}

fn find_first_set(names: &[&'static str]) -> Option<(&'static str, String)> {
    names.iter().find_map(|name| read_variable(name).map(|value| (*name, value)))
}

impl ModelServer {
    /// Returns a server by its name. No request is sent.
    pub fn find_named(config: &Config, id: &str) -> Result<Self, AppError> {
        let (configured, known) = (config.providers.get(id), find_known_provider(id));
        if configured.is_none() && known.is_none() {
            return Err(unknown_provider_error(config, id));
        }
        let ProviderConfig { r#type, base_url, api_key_env, headers, resolved_key, .. } =
            configured.cloned().unwrap_or_default();
        let from_environment = known.and_then(|known| find_first_set(known.urls));
        let (base_url, mut why) = match (base_url, from_environment, known) {
            (Some(url), _, _) => (url, format!("providers.{id}")),
            (None, Some((name, url)), _) => (with_scheme(&url), name.to_owned()),
            (None, None, Some(known)) => (known.base_url.to_owned(), id.to_owned()),
            (None, None, None) => {
                return Err(AppError::usage(format!(
                    "providers.{id} has no baseUrl. Set it with: \
                     lango config set providers.{id}.baseUrl URL"
                )));
            }
        };
        let usual_key = || {
            let keys = known.map_or(&[][..], |known| known.keys);
            find_first_set(keys).map(|(name, _)| name).or_else(|| keys.first().copied())
        };
        let key_variable = api_key_env.or_else(|| usual_key().map(str::to_owned));
        if why == id
            && let Some(name) = key_variable.as_deref().filter(|name| read_variable(name).is_some())
        {
            name.clone_into(&mut why);
        }
        let wire = r#type.or(known.map(|known| known.wire)).unwrap_or_default();
        let mut secrets = Vec::new();
        let headers = headers.into_iter().map(|(name, value)| {
            let Some(named) = value.strip_prefix('$') else { return Ok((name, value)) };
            let value = read_variable(named).ok_or_else(|| {
                let key = format!("providers.{id}.headers.{name}");
                AppError::usage(format!("{key} is ${named}, and {named} is not set"))
            })?;
            secrets.push(value.clone());
            Ok((name, value))
        });
        let headers = headers.collect::<Result<_, AppError>>()?;
        let (id, stored_key) = (id.to_owned(), resolved_key);
        Ok(Self { id, wire, base_url, key_variable, stored_key, headers, secrets, why, known })
    }

    /// Returns everything that must not be shown or recorded.
    pub fn secrets(&self) -> impl Iterator<Item = String> {
        self.secrets.iter().cloned().chain(self.key())
    }

    /// Tells whether it runs models locally, where prices do not apply.
    pub fn runs_locally(&self) -> bool {
        let host = self.base_url.split_once("://").map_or("", |(_, rest)| rest);
        let home = ["127.", "localhost", "[::1]", "0.0.0.0"];
        self.wire == Wire::Ollama || home.iter().any(|home| host.starts_with(home))
    }

    /// Returns the key itself.
    pub fn key(&self) -> Option<String> {
        let stored = self.stored_key.as_ref().and_then(|key| key.reveal_text());
        let stored = stored.map(str::to_owned);
        stored.or_else(|| self.key_variable.as_deref().and_then(read_variable))
    }

    /// Tells whether neither the configuration nor the environment names it: it is only a default
    /// address.
    pub fn is_guess(&self) -> bool {
        self.why == self.id
    }

    /// Tells whether a key is needed and missing.
    pub fn lacks_key(&self) -> bool {
        let usual = self.known.is_some_and(|known| !known.is_local() && self.is_usual());
        usual && self.key().is_none()
    }

    /// Tells whether it is reached at the provider's own address.
    pub(super) fn is_usual(&self) -> bool {
        self.known.is_some_and(|known| known.base_url == self.base_url)
    }

    /// Returns the model that is used when none is named.
    pub(super) fn usual_model(&self) -> Option<&'static str> {
        self.known.and_then(|known| known.model)
    }

    /// Returns the endpoint of one of its models.
    pub fn endpoint(&self, config: &Config, model: &str, mut facts: ModelFacts) -> Endpoint {
        if self.wire == Wire::Ollama {
            // It allocates as large a context window as it is asked for, which has to fit in
            // memory.
            facts.window = Some(facts.window.unwrap_or(16_384).min(32_768));
        }
        let seconds = |seconds: u64| std::time::Duration::from_secs(seconds.max(1));
        let key = self.key();
        Endpoint {
            api_key: key.as_ref().map(ApiKey::new),
            key_variable: self.key_variable.clone().filter(|_| key.is_some() || self.lacks_key()),
            headers: self.headers.clone(),
            idle_timeout: seconds(config.model.idle_seconds),
            total_timeout: seconds(config.model.total_seconds),
            facts,
            ..Endpoint::new(ModelId::new(&self.id, model), self.wire, &self.base_url)
        }
    }
}

/// Returns the servers that the environment and the configuration name, the preferred one first: a
/// base URL in the environment, then keys, then the configuration.
pub(super) fn list_configured_servers(config: &Config) -> Vec<ModelServer> {
    let named = |id: &str| usable_server(config, id);
    let by_url = KNOWN_PROVIDERS.iter().filter(|known| find_first_set(known.urls).is_some());
    let by_key = KNOWN_PROVIDERS.iter().filter(|known| find_first_set(known.keys).is_some());
    let configured = config.providers.keys().map(String::as_str);
    let ids = by_url.chain(by_key).map(|known| known.id).chain(configured);
    let mut servers: Vec<ModelServer> = Vec::new();
    for server in ids.filter_map(named) {
        if !server.lacks_key() && servers.iter().all(|other| other.id != server.id) {
            servers.push(server);
        }
    }
    servers
}

/// Returns the servers that usually run on this machine.
pub(super) fn list_local_servers(config: &Config) -> Vec<ModelServer> {
    let local = KNOWN_PROVIDERS.iter().filter(|known| known.is_local());
    local.filter_map(|known| usable_server(config, known.id)).collect()
}

/// Returns a server by its name, or none if its configuration is incomplete. Asking for it by name
/// says why.
pub(super) fn usable_server(config: &Config, id: &str) -> Option<ModelServer> {
    ModelServer::find_named(config, id)
        .inspect_err(|error| tracing::debug!(id, %error, "a provider cannot be used"))
        .ok()
}

/// Adds a scheme to an address: `OLLAMA_HOST` is often `127.0.0.1:11434`, and sometimes says where
/// the server listens.
fn with_scheme(url: &str) -> String {
    let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    url.replace("://0.0.0.0", "://127.0.0.1")
}

fn unknown_provider_error(config: &Config, id: &str) -> AppError {
    let usual = KNOWN_PROVIDERS.iter().map(|known| known.id);
    let mut names: Vec<&str> = usual.chain(config.providers.keys().map(String::as_str)).collect();
    names.dedup();
    AppError::usage(format!(
        "there is no provider {id:?}. Known: {}. To add it: \
         lango config set providers.{id}.baseUrl URL",
        names.join(", ")
    ))
}
