//! Finds model servers on this machine that nothing names, and keeps to those that the user accepted:
//! any program can listen on a usual port.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use lango_model::ListedModel;

use super::choose::list_server_models;
use super::known::find_known_provider;
use super::server::{ModelServer, list_local_servers};
use crate::AppError;
use crate::config::{self, Config};

/// Names the list of accepted addresses in the configuration.
const ACCEPTED_SERVERS_KEY: &str = "model.acceptedServers";

/// Asks the user whether a server that was found may be used. What the user accepts, the asking
/// client remembers with [`accept_server`].
#[derive(Clone)]
pub struct ServerConsent(Arc<AskAboutServer>);

type AskAboutServer = dyn Fn(ModelServer) -> BoxFuture<'static, bool> + Send + Sync;

impl ServerConsent {
    /// Returns a consent that `ask` gives or does not give.
    pub fn new(
        ask: impl Fn(ModelServer) -> BoxFuture<'static, bool> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(ask))
    }
}

impl fmt::Debug for ServerConsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerConsent")
    }
}

/// The result of looking for servers on this machine.
pub(super) enum LocalServer {
    /// A server that the user accepted, and its models.
    Accepted(Box<ModelServer>, Vec<ListedModel>),
    /// A server that answers, and that the user has not accepted.
    NotAccepted(Box<ModelServer>),
    /// No server answers, or none is looked for.
    None,
}

/// Looks for a server on this machine: the first that answers and is accepted. Where none is, the
/// user is asked about the first that answers, if there is a way to ask.
pub(super) async fn find_local_server(
    config: &Config,
    consent: Option<&ServerConsent>,
) -> LocalServer {
    const LIST_TIMEOUT: Duration = Duration::from_millis(1500);
    if !config.model.discover {
        return LocalServer::None;
    }
    // No server runs where none answers in time.
    let asked = list_local_servers(config).into_iter().map(|server| async {
        let models = tokio::time::timeout(LIST_TIMEOUT, list_server_models(config, &server)).await;
        Some((server, models.ok()?.ok()?))
    });
    let mut answering: Vec<(ModelServer, Vec<ListedModel>)> =
        join_all(asked).await.into_iter().flatten().collect();
    if answering.is_empty() {
        return LocalServer::None;
    }
    let accepted = answering.iter().position(|(server, _)| is_accepted(config, server));
    let (server, models) = answering.swap_remove(accepted.unwrap_or(0));
    let is_allowed = match (accepted, consent) {
        (Some(_), _) => true,
        (None, Some(ServerConsent(ask))) => ask(server.clone()).await,
        (None, None) => false,
    };
    let server = Box::new(server);
    if is_allowed {
        LocalServer::Accepted(server, models)
    } else {
        LocalServer::NotAccepted(server)
    }
}

/// Tells whether the user accepted the server at its address.
pub fn is_accepted(config: &Config, server: &ModelServer) -> bool {
    config.model.accepted_servers.contains(&server.base_url)
}

/// Returns a server on this machine that has to be accepted, by the name of its provider.
pub fn find_local_provider(config: &Config, id: &str) -> Result<ModelServer, AppError> {
    let server = ModelServer::find_named(config, id)?;
    if find_known_provider(id).is_none_or(|known| !known.is_local()) {
        return Err(AppError::usage(format!(
            "{id} is used when it is named or has a key. Only servers that are found on this machine \
             have to be accepted: ollama, lmstudio, llamacpp"
        )));
    }
    Ok(server)
}

/// Remembers in the configuration file that the user accepts the server.
pub fn accept_server(file: &Path, config: &Config, server: &ModelServer) -> Result<(), AppError> {
    let mut accepted = config.model.accepted_servers.clone();
    if !accepted.contains(&server.base_url) {
        accepted.push(server.base_url.clone());
    }
    store_accepted(file, &accepted)
}

/// Removes the server from those that the user accepts. Returns whether it was one of them.
pub fn revoke_server(file: &Path, config: &Config, server: &ModelServer) -> Result<bool, AppError> {
    let mut accepted = config.model.accepted_servers.clone();
    accepted.retain(|address| *address != server.base_url);
    let was_accepted = accepted.len() < config.model.accepted_servers.len();
    if was_accepted {
        store_accepted(file, &accepted)?;
    }
    Ok(was_accepted)
}

fn store_accepted(file: &Path, accepted: &[String]) -> Result<(), AppError> {
    let quoted: Vec<String> =
        accepted.iter().map(|address| toml::Value::String(address.clone()).to_string()).collect();
    Ok(config::set_key(file, ACCEPTED_SERVERS_KEY, &format!("[{}]", quoted.join(", ")))?)
}
