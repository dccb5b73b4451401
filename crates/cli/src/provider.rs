//! Which model answers, and why that one.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use lango_model::Model;
use lango_model::openai::{ApiKey, OpenAi, OpenAiConfig};
use lango_model::scripted::{Script, ScriptedServer};

use crate::config::{Config, ProviderConfig, ProviderType};
use crate::failure::Failure;

const OPENAI_URL: &str = "https://api.openai.com/v1";
/// Small, quick, and good at calling tools.
const DEFAULT_MODEL: &str = "gpt-5-mini";

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) provider: String,
    pub(crate) base_url: String,
    pub(crate) model: String,
    /// The variable that holds the key, if one is sent.
    pub(crate) key_variable: Option<String>,
    /// For the user: why this one.
    pub(crate) why: String,
    /// A script file that is served instead of a real model.
    pub(crate) script: Option<String>,
}

/// A model that is ready, with what it needs to stay so.
pub(crate) struct ReadyModel {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) choice: Choice,
    /// Values that must not be recorded or shown.
    pub(crate) secrets: Vec<String>,
    /// The scripted model's server, which lives as long as this.
    _server: Option<ScriptedServer>,
}

/// Variables of the environment, set and not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Decides which model answers. Asks nobody.
pub(crate) fn choose(config: &Config, wanted: Option<&str>) -> Result<Choice, Failure> {
    if let Some(file) = wanted.and_then(|wanted| wanted.strip_prefix("script:")) {
        return Ok(Choice {
            provider: "script".into(),
            base_url: String::new(),
            model: "scripted".into(),
            key_variable: None,
            why: format!("the script {file}"),
            script: Some(file.to_owned()),
        });
    }
    // PROVIDER/NAME, where the provider is known; many models have a slash in their own name.
    let (provider_id, wanted) = match wanted.and_then(|wanted| wanted.split_once('/')) {
        Some((id, name)) if id == "openai" || config.providers.contains_key(id) => {
            (id.to_owned(), Some(name))
        }
        _ => (config.model.provider.clone(), wanted),
    };
    let configured = config.providers.get(&provider_id);
    if configured.is_none() && provider_id != "openai" {
        let known: Vec<&str> = config.providers.keys().map(String::as_str).collect();
        return Err(Failure::usage(format!(
            "model.provider is {provider_id:?}, and there is no [providers.{provider_id}]. Known: \
             openai{}{}. Set it with: lango config set providers.{provider_id}.baseUrl URL",
            if known.is_empty() { "" } else { ", " },
            known.join(", ")
        )));
    }
    let provider = configured.cloned().unwrap_or_default();
    let ProviderConfig { r#type: ProviderType::OpenAi, base_url, api_key_env } = provider;
    let from_environment = variable("OPENAI_BASE_URL").or_else(|| variable("OPENAI_API_BASE"));
    let is_openai = provider_id == "openai";
    let (base_url, mut why) = match (base_url, from_environment) {
        (Some(url), _) => (url, format!("providers.{provider_id}")),
        (None, Some(url)) if is_openai => (url, "OPENAI_BASE_URL".to_owned()),
        (None, _) if is_openai => (OPENAI_URL.to_owned(), "OPENAI_API_KEY".to_owned()),
        (None, _) => {
            return Err(Failure::usage(format!(
                "providers.{provider_id} has no baseUrl. Set it with: \
                 lango config set providers.{provider_id}.baseUrl URL"
            )));
        }
    };
    let key_variable = api_key_env.or_else(|| is_openai.then(|| "OPENAI_API_KEY".to_owned()));
    let key_variable = key_variable.filter(|name| variable(name).is_some());
    if base_url == OPENAI_URL && key_variable.is_none() {
        return Err(Failure::provider(
            "no model is set up: OPENAI_API_KEY is not set, and no other server is configured.\n\
             - for OpenAI:            export OPENAI_API_KEY=…\n\
             - for a local server:    export OPENAI_BASE_URL=http://127.0.0.1:1234/v1\n\
             - to see it work first:  lango demo",
        ));
    }
    let configured_name = config.model.name.as_deref();
    if let Some(name) = wanted {
        why = format!("--model {name}, {why}");
    }
    let model = wanted.or(configured_name).unwrap_or(DEFAULT_MODEL).to_owned();
    Ok(Choice { provider: provider_id, base_url, model, key_variable, why, script: None })
}

/// Makes the chosen model ready. A scripted one is started on loopback.
pub(crate) async fn prepare(config: &Config, choice: Choice) -> Result<ReadyModel, Failure> {
    let script = match &choice.script {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                Failure::usage(format!(
                    "cannot read the script {file}: {error}. To see one at work: lango demo"
                ))
            })?;
            Some(Script::parse(file, &text).map_err(|error| Failure::usage(error.to_string()))?)
        }
        None => None,
    };
    prepare_with(config, choice, script).await
}

/// The same, with the script at hand.
pub(crate) async fn prepare_with(
    config: &Config,
    choice: Choice,
    script: Option<Script>,
) -> Result<ReadyModel, Failure> {
    let server = match script {
        Some(script) => Some(ScriptedServer::start_forgetful(script).await?),
        None => None,
    };
    let key = choice.key_variable.as_deref().and_then(variable);
    let model = OpenAi::new(OpenAiConfig {
        base_url: server.as_ref().map_or_else(|| choice.base_url.clone(), ScriptedServer::base_url),
        api_key: key.clone().map(ApiKey::new),
        model: choice.model.clone(),
        idle_timeout: Duration::from_secs(config.model.idle_seconds.max(1)),
        max_output_tokens: config.model.max_output_tokens,
        temperature: config.model.temperature,
    })
    .map_err(|error| Failure::provider(error.to_string()))?;
    Ok(ReadyModel {
        model: Arc::new(model),
        choice,
        secrets: key.into_iter().collect(),
        _server: server,
    })
}
