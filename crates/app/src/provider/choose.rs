//! Chooses the model that answers, and says why.

use lango_embedded::EMBEDDED;
use lango_model::{ListedModel, ModelError, ModelFacts, ModelId, list_models};

use super::known::KNOWN_PROVIDERS;
use super::local::{LocalServer, ServerConsent, find_local_server};
use super::server::{ModelServer, list_configured_servers, usable_server};
use crate::AppError;
use crate::config::Config;

/// Says why only the embedded model is available, and what to do about it.
pub fn missing_provider_message(config: &Config) -> String {
    let servers = if config.model.discover {
        "no server runs here"
    } else {
        "no server is looked for (model.discover is false)"
    };
    format!("no key is set and {servers}; to connect a bigger one: lango models --help")
}

/// Says why a server that was found is not used, and how to use it.
fn not_accepted_message(server: &ModelServer) -> String {
    let ModelServer { id, base_url, .. } = server;
    format!(
        "no key is set, and what answers at {base_url} is not used before you accept it: \
         lango models accept {id}"
    )
}

/// The chosen model.
#[derive(Debug, Clone)]
pub struct ModelChoice {
    /// The provider and the model.
    pub id: ModelId,
    /// The source of the model.
    pub source: ModelSource,
    /// The reason for the choice, for the user.
    pub why: String,
    /// The server's facts about it, if the server was asked.
    pub listed: Option<ListedModel>,
    /// Says that the model was not named and nothing else is set up.
    pub is_last_resort: bool,
}

/// The source of a model.
#[derive(Debug, Clone)]
pub enum ModelSource {
    /// A server.
    Server(Box<ModelServer>),
    /// A script file that is served instead of a real model.
    Script(String),
    /// A recording that is played again.
    Recording(String),
    /// The embedded model.
    Embedded,
}

impl ModelChoice {
    /// Chooses the embedded model.
    fn embedded(why: impl Into<String>) -> Self {
        let id = ModelId::new(EMBEDDED, "");
        let (source, why) = (ModelSource::Embedded, why.into());
        Self { id, source, why, listed: None, is_last_resort: false }
    }

    /// Chooses the embedded model because nothing else is set up.
    fn last_resort(reason: &str) -> Self {
        let why = format!("the small embedded model, because {reason}");
        Self { is_last_resort: true, ..Self::embedded(why) }
    }

    /// Tells whether it is the embedded model.
    pub fn is_embedded(&self) -> bool {
        matches!(self.source, ModelSource::Embedded)
    }
}

/// Decides which model answers. Servers are asked only if no name was given. A server that is found
/// on this machine is used if the user accepted it, or accepts it now, where `consent` can ask.
pub async fn choose_model(
    config: &Config,
    wanted: Option<&str>,
    consent: Option<&ServerConsent>,
) -> Result<ModelChoice, AppError> {
    let file = |prefix: &str| wanted.and_then(|wanted| wanted.strip_prefix(prefix));
    if let Some(file) = file("script:") {
        return Ok(ModelChoice {
            id: ModelId::new("script", "scripted"),
            why: format!("the script {file}"),
            source: ModelSource::Script(file.to_owned()),
            listed: None,
            is_last_resort: false,
        });
    }
    if let Some(file) = file("replay:") {
        return Ok(ModelChoice {
            id: ModelId::new("replay", "recorded"),
            why: format!("the recording {file}"),
            source: ModelSource::Recording(file.to_owned()),
            listed: None,
            is_last_resort: false,
        });
    }
    if config.providers.contains_key(EMBEDDED) {
        return Err(AppError::usage(
            "providers.embedded is set, and embedded is the embedded model: it has no address. \
             Give the provider another name in the file that this shows: lango config path",
        ));
    }
    if wanted == Some(EMBEDDED) {
        return Ok(ModelChoice::embedded("--model"));
    }
    let configured = config.model.name.as_deref();
    let provider = config.model.provider.as_deref();
    if wanted.is_none() {
        match (provider, configured) {
            (Some(EMBEDDED), _) => return Ok(ModelChoice::embedded("model.provider")),
            (None, Some(EMBEDDED)) => return Ok(ModelChoice::embedded("model.name")),
            _ => {}
        }
    }
    // The embedded model has no server, so another name means a model of a provider.
    match (wanted, provider.filter(|provider| *provider != EMBEDDED)) {
        (Some(wanted), provider) => {
            let (server, name) = resolve_model(config, wanted, provider, consent).await?;
            let why = format!("--model, {}", server.why);
            complete_choice(config, server, name, why).await
        }
        (None, Some(provider)) => {
            let server = ModelServer::find_named(config, provider)?;
            complete_choice(config, server, configured.map(str::to_owned), "model.provider".into())
                .await
        }
        (None, None) => match configured {
            Some(name) => {
                let (server, name) = resolve_model(config, name, None, consent).await?;
                let why = format!("model.name, {}", server.why);
                complete_choice(config, server, name, why).await
            }
            None => choose_automatically(config, consent).await,
        },
    }
}

/// Chooses the model that the configuration names under `key`: `PROVIDER/NAME` or `PROVIDER`.
pub(super) async fn choose_named(
    config: &Config,
    wanted: &str,
    key: &str,
) -> Result<ModelChoice, AppError> {
    if wanted == EMBEDDED {
        return Ok(ModelChoice::embedded(key));
    }
    let (id, name) = wanted.split_once('/').unwrap_or((wanted, ""));
    if id == EMBEDDED {
        return Err(unknown_embedded_name_error(&format!("{key} is {wanted:?}")));
    }
    let server = ModelServer::find_named(config, id).map_err(|error| {
        AppError::usage(format!("{key} is {wanted:?}, which is not PROVIDER/NAME: {error}"))
    })?;
    complete_choice(config, server, Some(name.to_owned()), key.to_owned()).await
}

/// Returns the server and the name that a user means. Many models have a slash in their own name.
async fn resolve_model(
    config: &Config,
    wanted: &str,
    provider: Option<&str>,
    consent: Option<&ServerConsent>,
) -> Result<(ModelServer, Option<String>), AppError> {
    let (id, name) = wanted.split_once('/').map_or((wanted, None), |(id, name)| (id, Some(name)));
    if id == EMBEDDED {
        return Err(unknown_embedded_name_error(&format!("{wanted:?} was asked for")));
    }
    let configured = config.providers.contains_key(id) || provider == Some(id);
    let known = KNOWN_PROVIDERS.iter().any(|known| known.id == id);
    // `openai/gpt-…` is also a name at OpenRouter, and there when that is the provider.
    let is_routed = name.is_some() && provider == Some("openrouter");
    if configured || (known && !is_routed) {
        return Ok((ModelServer::find_named(config, id)?, name.map(str::to_owned)));
    }
    if let Some(provider) = provider {
        return Ok((ModelServer::find_named(config, provider)?, Some(wanted.to_owned())));
    }
    let begins = |names: &&[&str]| names.iter().any(|name| wanted.starts_with(name));
    let own = KNOWN_PROVIDERS.iter().find(|known| begins(&known.names));
    if let Some(server) = own.and_then(|known| usable_server(config, known.id))
        && (!server.lacks_key() || list_configured_servers(config).is_empty())
    {
        return Ok((server, Some(wanted.to_owned())));
    }
    if let Some(server) = list_configured_servers(config).into_iter().next() {
        return Ok((server, Some(wanted.to_owned())));
    }
    match find_local_server(config, consent).await {
        LocalServer::Accepted(server, _) => Ok((*server, Some(wanted.to_owned()))),
        LocalServer::NotAccepted(server) => Err(AppError::provider(format!(
            "no provider here has the model {wanted:?}: {}",
            not_accepted_message(&server)
        ))),
        LocalServer::None => Err(no_provider_error(wanted)),
    }
}

async fn choose_automatically(
    config: &Config,
    consent: Option<&ServerConsent>,
) -> Result<ModelChoice, AppError> {
    if let Some(server) = list_configured_servers(config).into_iter().next() {
        let why = server.why.clone();
        return complete_choice(config, server, None, why).await;
    }
    let (server, models) = match find_local_server(config, consent).await {
        LocalServer::Accepted(server, models) => (server, models),
        LocalServer::NotAccepted(server) => {
            return Ok(ModelChoice::last_resort(&not_accepted_message(&server)));
        }
        LocalServer::None => {
            return Ok(ModelChoice::last_resort(&missing_provider_message(config)));
        }
    };
    let why = format!("found at {}", server.base_url);
    match find_best_model(models, None) {
        Some(model) => Ok(build_choice(*server, model, why)),
        None => Err(no_models_error(&server)),
    }
}

/// Fills in the model's name, and refuses a choice that cannot work.
async fn complete_choice(
    config: &Config,
    server: ModelServer,
    name: Option<String>,
    why: String,
) -> Result<ModelChoice, AppError> {
    if server.lacks_key() {
        let variable = server.key_variable.as_deref().unwrap_or("its key");
        return Err(AppError::provider(format!(
            "{} needs a key, and {variable} is not set.\n\
             - with a key:            export {variable}=…\n\
             - another provider:      lango run --model PROVIDER/NAME …\n\
             - to see it work first:  lango demo",
            server.id
        )));
    }
    let only_named = |name: &str| ListedModel { name: name.to_owned(), ..ListedModel::default() };
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        return Ok(build_choice(server, only_named(&name), why));
    }
    let usual = server.usual_model();
    if let (Some(usual), true) = (usual, server.is_usual()) {
        return Ok(build_choice(server, only_named(usual), why));
    }
    match (list_server_models(config, &server).await, usual) {
        (Ok(models), usual) => match find_best_model(models, usual) {
            Some(model) => Ok(build_choice(server, model, why)),
            None => Err(no_models_error(&server)),
        },
        // A server that cannot list may still answer.
        (Err(_), Some(usual)) => Ok(build_choice(server, only_named(usual), why)),
        (Err(error), None) => Err(AppError::provider(error.to_string())),
    }
}

fn build_choice(server: ModelServer, model: ListedModel, why: String) -> ModelChoice {
    let id = ModelId::new(&server.id, &model.name);
    let source = ModelSource::Server(Box::new(server));
    ModelChoice { id, source, why, listed: Some(model), is_last_resort: false }
}

/// Lists the models of a server.
pub async fn list_server_models(
    config: &Config,
    server: &ModelServer,
) -> Result<Vec<ListedModel>, ModelError> {
    list_models(&server.endpoint(config, "", ModelFacts::default())).await
}

/// Returns the model of a list that suits agents best.
fn find_best_model(models: Vec<ListedModel>, usual: Option<&str>) -> Option<ListedModel> {
    let talks = |model: &ListedModel| {
        let name = model.name.to_lowercase();
        !["embed", "rerank", "whisper", "tts"].iter().any(|other| name.contains(other))
    };
    let rank = |model: &ListedModel| match model.tools {
        _ if Some(model.name.as_str()) == usual => 0,
        Some(true) => 1,
        None => 2,
        Some(false) => 3,
    };
    // Among equals, the first that the server lists wins.
    models.into_iter().filter(talks).min_by_key(rank)
}

fn no_models_error(server: &ModelServer) -> AppError {
    AppError::provider(format!(
        "{} at {} has no model that can talk. Load one there, or name another: \
         lango run --model PROVIDER/NAME …",
        server.id, server.base_url
    ))
}

/// Refuses `embedded/…`: there is only one embedded model.
fn unknown_embedded_name_error(what: &str) -> AppError {
    AppError::usage(format!(
        "{what}, and there is only one embedded model. Its name has nothing after it: \
         --model embedded"
    ))
}

/// Returns the error that no provider has the named model.
fn no_provider_error(wanted: &str) -> AppError {
    AppError::provider(format!(
        "no provider here has the model {wanted:?}: there is no key in the environment, and no server on \
         this machine.\n\
         - with a key:            export ANTHROPIC_API_KEY=… (or OPENAI_, GEMINI_, OPENROUTER_)\n\
         - with a local server:   start Ollama, LM Studio or llama.cpp, or\n\
         \u{20}                        export OPENAI_BASE_URL=http://127.0.0.1:1234/v1\n\
         - without any:           lango run --model embedded …, the small embedded model"
    ))
}
