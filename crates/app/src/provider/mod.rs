//! Builds the runtime's models from the user's keys, servers and configuration.

mod builder;
mod choose;
mod known;
mod last_choice;
mod local;
mod recorded;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lango_embedded::{EMBEDDED, NoSurroundings, Surroundings};
use lango_model::{
    Chain, Cost, Endpoint, FactsTable, LoadedRecording, Model, RecordingWriter, RetryPolicy, Wire,
};
use lango_protocol::{AgentName, Usage};
use lango_runtime::AgentModel;
use lango_scripted::{RecordedServer, Script, ScriptedServer};

use builder::{ModelBuilder, model_options, retry_policy};
use choose::choose_named;
pub use choose::{
    ModelChoice, ModelSource, choose_model, list_server_models, missing_provider_message,
};
pub(crate) use known::is_provider_variable;
pub(crate) use last_choice::LastChoice;
pub use local::{ServerConsent, accept_server, find_local_provider, is_accepted, revoke_server};
pub use server::ModelServer;
use server::usable_server;

use crate::AppError;
use crate::config::Config;

/// Holds models that are ready, and what they need while they are used.
pub struct ReadyModels {
    /// The model of every agent that has none of its own.
    pub model: AgentModel,
    /// The models of single agents.
    pub agents: BTreeMap<AgentName, AgentModel>,
    /// Observes conversations. Without it, sentences are kept as they are.
    pub observer: Option<Arc<dyn Model>>,
    /// A model that can write text, for MCP servers that use sampling. `None` for the embedded
    /// model, which cannot.
    pub writer: Option<Arc<dyn Model>>,
    /// The chosen model.
    pub choice: ModelChoice,
    /// The prices of models.
    pub prices: PriceList,
    /// Messages for the user about the models.
    pub notices: Vec<String>,
    /// Values that must not be recorded or shown.
    pub secrets: Vec<String>,
    /// The default model of the last run, where the model was not named for this one.
    pub(crate) last_choice: Option<LastChoice>,
    /// The recording of everything.
    tape: Option<Arc<RecordingWriter>>,
    /// The server of a scripted or recorded model, which lives as long as this.
    _player: Option<PlaybackServer>,
}

/// The loopback server of a scripted or recorded model, which stops when it is dropped.
enum PlaybackServer {
    Script { _server: ScriptedServer },
    Recording { _server: RecordedServer },
}

impl ReadyModels {
    /// Remembers the default model, once the user has read the notices.
    pub(crate) fn remember_choice(&self) {
        if let Some(last) = &self.last_choice {
            last.remember();
        }
    }

    /// Fails if the recording could not be written completely.
    pub fn check_recording(&self) -> Result<(), AppError> {
        match self.tape.as_ref().and_then(|tape| tape.take_error()) {
            Some(error) => Err(AppError::Recording(error.to_string())),
            None => Ok(()),
        }
    }
}

/// Returns every configured or discovered server, for lists.
pub fn list_servers(config: &Config) -> Vec<ModelServer> {
    let mut servers = server::list_configured_servers(config);
    for local in server::list_local_servers(config).into_iter().filter(|_| config.model.discover) {
        if servers.iter().all(|server| server.id != local.id) {
            servers.push(local);
        }
    }
    servers
}

/// Holds the known prices of models.
#[derive(Debug, Clone)]
pub struct PriceList {
    facts: FactsTable,
    /// Providers whose models run locally.
    local_providers: BTreeSet<String>,
}

impl PriceList {
    /// Reads the price list, the user's own prices included.
    pub fn new(config: &Config) -> Result<Self, AppError> {
        let names = known::provider_names().chain(config.providers.keys().map(String::as_str));
        let servers = names.filter_map(|id| usable_server(config, id));
        let local_providers = servers.filter(ModelServer::runs_locally).map(|server| server.id);
        let local_providers = local_providers.chain([EMBEDDED.to_owned()]).collect();
        Ok(Self { facts: load_facts(config)?, local_providers })
    }

    /// Returns the cost of a call.
    pub fn cost(&self, provider: &str, model: &str, usage: &Usage) -> Option<Cost> {
        let provider = if self.local_providers.contains(provider) { "local" } else { provider };
        self.facts.find(provider, model).prices?.cost(usage)
    }
}

/// Returns the facts about models, the user's included.
pub fn load_facts(config: &Config) -> Result<FactsTable, AppError> {
    let own = config.models.iter().map(|(name, entry)| (name.clone(), *entry));
    FactsTable::built_in().with_entries(own).map_err(|error| AppError::usage(error.to_string()))
}

/// The purpose for which models are loaded.
#[derive(Debug, Clone, Copy)]
pub enum ModelPurpose<'a> {
    /// To examine the chosen model, without a fallback.
    Examine,
    /// To work.
    Work {
        /// The user has named one model for this run, also for agents that have their own.
        for_all: bool,
        /// A new file that everything is recorded to.
        record: Option<&'a Path>,
    },
}

/// Loads the chosen model, with its fallbacks and the agents' own models if they are wanted.
pub async fn load_models(
    config: &Config,
    choice: ModelChoice,
    purpose: ModelPurpose<'_>,
) -> Result<ReadyModels, AppError> {
    load_models_in(config, choice, purpose, Arc::new(NoSurroundings)).await
}

async fn load_models_in(
    config: &Config,
    choice: ModelChoice,
    purpose: ModelPurpose<'_>,
    surroundings: Arc<dyn Surroundings>,
) -> Result<ReadyModels, AppError> {
    let record = match purpose {
        ModelPurpose::Examine => None,
        ModelPurpose::Work { record, .. } => record,
    };
    if record.is_some() {
        recorded::check_recordable(config, &choice, purpose)?;
    }
    let tape = record.map(|path| {
        RecordingWriter::create(path).map_err(|error| {
            let path = path.display();
            AppError::usage(format!("cannot record to {path}: {error}. Name a new file"))
        })
    });
    let mut builder = ModelBuilder::new(config)?;
    builder.tape = tape.transpose()?;
    builder.surroundings = surroundings;
    builder.is_whole = record.is_some() || matches!(choice.source, ModelSource::Recording(_));
    builder.notices.extend(record.and_then(|_| recorded::router_notice(config)));
    match choice.source.clone() {
        ModelSource::Script(file) => {
            let text = std::fs::read_to_string(&file).map_err(|error| {
                AppError::usage(format!(
                    "cannot read the script {file}: {error}. To see one at work: lango demo"
                ))
            })?;
            let script =
                Script::parse(&file, &text).map_err(|error| AppError::usage(error.to_string()))?;
            play_script(builder, choice, script).await
        }
        ModelSource::Recording(file) if matches!(purpose, ModelPurpose::Examine) => {
            Err(AppError::usage(format!("{file} is a recording: there is no model to examine")))
        }
        ModelSource::Recording(file) => play_recording(builder, choice, &file).await,
        ModelSource::Server(_) | ModelSource::Embedded => {
            load_served_models(builder, choice, purpose).await
        }
    }
}

/// Says which model is used.
#[derive(Debug, Clone)]
pub enum ModelOptions {
    /// The model that is named, or else chosen from the configuration, the environment and this
    /// machine.
    Choose {
        /// The model that the user named for this run, also for agents that have their own.
        wanted: Option<String>,
        /// A new file that everything is recorded to.
        record: Option<PathBuf>,
        /// Asks the user about a server that is found on this machine.
        consent: Option<ServerConsent>,
    },
    /// A script that is part of the program.
    Script(BuiltInScript),
}

/// A script that is part of the program and plays the model.
#[derive(Debug, Clone, Copy)]
pub struct BuiltInScript {
    /// The model's name.
    pub model: &'static str,
    /// The script's name.
    pub name: &'static str,
    /// The script.
    pub text: &'static str,
    /// The reason for playing a script, for the user.
    pub why: &'static str,
}

/// Loads the models. `surroundings` tell the embedded model what names in a request can mean.
pub async fn open(
    config: &Config,
    options: ModelOptions,
    surroundings: Arc<dyn Surroundings>,
) -> Result<ReadyModels, AppError> {
    match options {
        ModelOptions::Choose { wanted, record, consent } => {
            let choice = choose_model(config, wanted.as_deref(), consent.as_ref()).await?;
            let purpose =
                ModelPurpose::Work { for_all: wanted.is_some(), record: record.as_deref() };
            load_models_in(config, choice, purpose, surroundings).await
        }
        ModelOptions::Script(script) => load_demo_model(config, script).await,
    }
}

async fn load_demo_model(
    config: &Config,
    built_in: BuiltInScript,
) -> Result<ReadyModels, AppError> {
    let script = Script::parse(built_in.name, built_in.text);
    let script = script.map_err(|error| AppError::usage(error.to_string()))?;
    let choice = ModelChoice {
        id: lango_model::ModelId::new("script", built_in.model),
        source: ModelSource::Script(built_in.name.into()),
        why: built_in.why.into(),
        listed: None,
        is_last_resort: false,
    };
    play_script(ModelBuilder::new(config)?, choice, script).await
}

/// Starts a scripted model on loopback.
async fn play_script(
    mut builder: ModelBuilder<'_>,
    choice: ModelChoice,
    script: Script,
) -> Result<ReadyModels, AppError> {
    let config = builder.config;
    let server = ScriptedServer::start_without_history(script).await?;
    let endpoint = Endpoint {
        idle_timeout: Duration::from_secs(config.model.idle_seconds.max(1)),
        ..Endpoint::new(choice.id.clone(), Wire::OpenAi, server.base_url())
    };
    let link = builder.build_link(endpoint)?;
    let model = builder.build_agent_model(Chain::new(link, Vec::new(), retry_policy(config)), None);
    let player = PlaybackServer::Script { _server: server };
    builder.into_ready_models(model, BTreeMap::new(), choice, Some(player))
}

/// Plays a recording on loopback: each agent has the models that it had.
async fn play_recording(
    mut builder: ModelBuilder<'_>,
    choice: ModelChoice,
    file: &str,
) -> Result<ReadyModels, AppError> {
    let recording = LoadedRecording::read(Path::new(file));
    let recording = recording.map_err(|error| AppError::usage(error.to_string()))?;
    let server = RecordedServer::start(recording).await?;
    let mut agents = BTreeMap::new();
    for name in server.agents() {
        let mut links = Vec::new();
        for (id, endpoint) in server.endpoints(&name) {
            let facts = builder.facts.find(&id.provider, &id.model);
            links.push(builder.build_link(Endpoint { facts, ..endpoint })?);
        }
        // Retries of a recording do not wait: what failed then fails again, at once.
        let policy = RetryPolicy { first_wait: Duration::ZERO, ..retry_policy(builder.config) };
        if let (Ok(agent), false) = (name.parse::<AgentName>(), links.is_empty()) {
            let chain = Chain::new(links.remove(0), links, policy);
            agents.insert(agent, builder.build_agent_model(chain, Some(&name)));
        }
    }
    let Some(model) = agents.values().next().cloned() else {
        return Err(AppError::usage(format!("{file} has no reply for any agent")));
    };
    let player = PlaybackServer::Recording { _server: server };
    builder.into_ready_models(model, agents, choice, Some(player))
}

async fn load_served_models(
    mut builder: ModelBuilder<'_>,
    choice: ModelChoice,
    purpose: ModelPurpose<'_>,
) -> Result<ReadyModels, AppError> {
    let config = builder.config;
    let ModelPurpose::Work { for_all, .. } = purpose else {
        let chain = builder.build_chain(&choice, &[])?;
        let model = builder.build_agent_model(chain, None);
        return builder.into_ready_models(model, BTreeMap::new(), choice, None);
    };
    let mut fallbacks = Vec::new();
    for wanted in &config.model.fallbacks {
        match choose_named(config, wanted, "model.fallbacks").await {
            Ok(fallback) if fallback.id == choice.id => {}
            Ok(fallback) if fallback.is_embedded() && builder.tape.is_some() => {
                builder.notices.push(recorded::fallback_notice(wanted));
            }
            Ok(fallback) => fallbacks.push(fallback),
            // A fallback that cannot be used does not keep the others from working.
            Err(AppError::Provider(message)) => {
                let why = message.lines().next().unwrap_or_default().to_owned();
                builder.notices.push(format!("{wanted} does not stand in: {why}"));
            }
            Err(error) => return Err(error),
        }
    }
    let chain = builder.build_chain(&choice, &fallbacks)?;
    let model = builder.build_agent_model(chain, None);
    // The embedded model cannot write, so it is no fallback for models that do.
    let mut writers = fallbacks.clone();
    writers.retain(|fallback| !fallback.is_embedded());
    let writer = if choice.is_embedded() {
        None
    } else {
        Some(Arc::new(builder.build_chain(&choice, &writers)?) as Arc<dyn Model>)
    };
    let mut agents = BTreeMap::new();
    for (name, own) in &config.agents {
        let agent: AgentName = name
            .parse()
            .map_err(|error| AppError::usage(format!("agents.{name} is not an agent: {error}")))?;
        let mut agent_model = model.clone();
        agent_model.options = model_options(config, Some(name));
        if let Some(wanted) = own.model.as_deref().filter(|_| !for_all) {
            let chosen = choose_named(config, wanted, &format!("agents.{name}.model")).await?;
            let chain = builder.build_chain(&chosen, &fallbacks)?;
            agent_model.model = builder.build_agent_model(chain, Some(name)).model;
        }
        agents.insert(agent, agent_model);
    }
    let observer = match config.observational_memory.model.as_deref() {
        Some("none") => None,
        Some(wanted) if !for_all => {
            let chosen = choose_named(config, wanted, "observationalMemory.model").await?;
            match &chosen.source {
                ModelSource::Server(_) => {
                    Some(Arc::new(builder.build_chain(&chosen, &writers)?) as Arc<dyn Model>)
                }
                ModelSource::Script(_) | ModelSource::Recording(_) | ModelSource::Embedded => None,
            }
        }
        _ => writer.clone(),
    };
    let ready = builder.into_ready_models(model, agents, choice, None)?;
    Ok(ReadyModels { observer, writer, ..ready })
}
