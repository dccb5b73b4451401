//! Models, from what a user has to what the runtime needs.

mod choose;
mod known;
mod recorded;
mod server;
mod workshop;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lango_model::scripted::{RecordedServer, Script, ScriptedServer};
use lango_model::{
    Chain, Cost, EMBEDDED, Endpoint, FactsTable, Model, Recording, RetryPolicy, Tape, Wire,
};
use lango_protocol::{AgentName, Usage};
use lango_runtime::AgentModel;

use choose::named;
pub(crate) use choose::{Choice, Source, choose, list, nothing_set_up};
pub(crate) use server::Server;
use workshop::{Workshop, options, policy};

use crate::config::Config;
use crate::failure::{self, Failure};

/// Models that are ready, with what they need to stay so.
pub(crate) struct ReadyModels {
    /// Of every agent that has none of its own.
    pub(crate) model: AgentModel,
    /// Of single agents.
    pub(crate) agents: BTreeMap<AgentName, AgentModel>,
    /// Who observes conversations. None: nobody, and sentences are kept as they are.
    pub(crate) observer: Option<Arc<dyn Model>>,
    /// Who can write a text, for others to borrow. None: the model in the box, which cannot.
    pub(crate) writer: Option<Arc<dyn Model>>,
    pub(crate) choice: Choice,
    pub(crate) prices: PriceList,
    /// What the user should know about the models.
    pub(crate) notices: Vec<String>,
    /// Values that must not be recorded or shown.
    pub(crate) secrets: Vec<String>,
    /// Where everything is recorded.
    tape: Option<Arc<Tape>>,
    /// The server of a model that is played, which lives as long as this.
    _player: Option<Player>,
}

/// A model that is played on loopback. Kept, so that it goes on.
enum Player {
    Script { _server: ScriptedServer },
    Recording { _server: RecordedServer },
}

impl ReadyModels {
    /// Says what of the recording could not be written.
    pub(crate) fn check_recording(&self) -> Result<(), Failure> {
        match self.tape.as_ref().and_then(|tape| tape.trouble()) {
            Some(error) => Err(Failure {
                code: failure::TURN_FAILED,
                message: format!("the recording is not complete: {error}"),
            }),
            None => Ok(()),
        }
    }
}

/// Every configured or found server, for lists.
pub(crate) fn servers(config: &Config) -> Vec<Server> {
    let mut servers = server::set_up(config);
    for local in server::local(config).into_iter().filter(|_| config.model.discover) {
        if servers.iter().all(|server| server.id != local.id) {
            servers.push(local);
        }
    }
    servers
}

/// What models cost, as far as it is known.
#[derive(Debug, Clone)]
pub(crate) struct PriceList {
    facts: FactsTable,
    /// Providers whose models run at home.
    at_home: BTreeSet<String>,
}

impl PriceList {
    pub(crate) fn new(config: &Config) -> Result<Self, Failure> {
        let names = known::names().chain(config.providers.keys().map(String::as_str));
        let servers = names.filter_map(|id| Server::named(config, id).ok());
        let at_home = servers.filter(Server::is_at_home).map(|server| server.id);
        let at_home = at_home.chain([EMBEDDED.to_owned()]).collect();
        Ok(Self { facts: facts(config)?, at_home })
    }

    /// What a call cost.
    pub(crate) fn cost(&self, provider: &str, model: &str, usage: &Usage) -> Option<Cost> {
        let provider = if self.at_home.contains(provider) { "local" } else { provider };
        self.facts.find(provider, model).prices?.cost(usage)
    }
}

/// The facts about models, the user's included.
pub(crate) fn facts(config: &Config) -> Result<FactsTable, Failure> {
    let own = config.models.iter().map(|(name, entry)| (name.clone(), *entry));
    FactsTable::built_in().extended(own).map_err(|error| Failure::usage(error.to_string()))
}

/// For what models are made ready.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose<'a> {
    /// To find out about the one that was chosen: nobody stands in for it.
    Examine,
    /// To work. `for_all`: the user has named one model for this run, also for agents that have
    /// their own.
    Work { for_all: bool, record: Option<&'a Path> },
}

/// Makes the chosen model ready, with its stand-ins and the agents' own where they are wanted.
pub(crate) async fn prepare(
    config: &Config,
    choice: Choice,
    purpose: Purpose<'_>,
) -> Result<ReadyModels, Failure> {
    let record = match purpose {
        Purpose::Examine => None,
        Purpose::Work { record, .. } => record,
    };
    if record.is_some() {
        recorded::check(config, &choice, purpose)?;
    }
    let tape = record.map(|path| {
        Tape::create(path).map_err(|error| {
            let path = path.display();
            Failure::usage(format!("cannot record to {path}: {error}. Name a new file"))
        })
    });
    let mut workshop = Workshop::new(config)?;
    workshop.tape = tape.transpose()?;
    workshop.is_whole = record.is_some() || matches!(choice.source, Source::Recording(_));
    workshop.notices.extend(record.and_then(|_| recorded::router_off(config)));
    match choice.source.clone() {
        Source::Script(file) => {
            let text = std::fs::read_to_string(&file).map_err(|error| {
                Failure::usage(format!(
                    "cannot read the script {file}: {error}. To see one at work: lango demo"
                ))
            })?;
            let script =
                Script::parse(&file, &text).map_err(|error| Failure::usage(error.to_string()))?;
            play(workshop, choice, script).await
        }
        Source::Recording(file) if matches!(purpose, Purpose::Examine) => {
            Err(Failure::usage(format!("{file} is a recording: there is no model to examine")))
        }
        Source::Recording(file) => replay(workshop, choice, &file).await,
        Source::Server(_) | Source::Embedded => serve(workshop, choice, purpose).await,
    }
}

/// The script of a demonstration, which is part of the program.
pub(crate) async fn demonstrate(
    config: &Config,
    choice: Choice,
    script: Script,
) -> Result<ReadyModels, Failure> {
    play(Workshop::new(config)?, choice, script).await
}

/// The same for a script without a story.
pub(crate) async fn demonstrate_text(
    config: &Config,
    script: &'static str,
) -> Result<ReadyModels, Failure> {
    let script = Script::parse("built-in", script).map_err(|e| Failure::usage(e.to_string()))?;
    let choice = Choice {
        id: lango_model::ModelId::new("script", "scripted"),
        source: Source::Script("built-in".into()),
        why: "a script plays the model".into(),
        listed: None,
        is_last_resort: false,
    };
    demonstrate(config, choice, script).await
}

/// A scripted model, started on loopback.
async fn play(
    mut workshop: Workshop<'_>,
    choice: Choice,
    script: Script,
) -> Result<ReadyModels, Failure> {
    let config = workshop.config;
    let server = ScriptedServer::start_forgetful(script).await?;
    let endpoint = Endpoint {
        idle_timeout: Duration::from_secs(config.model.idle_seconds.max(1)),
        ..Endpoint::new(choice.id.clone(), Wire::OpenAi, server.base_url())
    };
    let link = workshop.link(endpoint)?;
    let model = workshop.agent_model(Chain::new(link, Vec::new(), policy(config)), None);
    let player = Player::Script { _server: server };
    workshop.ready(model, BTreeMap::new(), choice, Some(player))
}

/// A recording, played on loopback: each agent has the models that it had.
async fn replay(
    mut workshop: Workshop<'_>,
    choice: Choice,
    file: &str,
) -> Result<ReadyModels, Failure> {
    let recording = Recording::read(Path::new(file));
    let recording = recording.map_err(|error| Failure::usage(error.to_string()))?;
    let server = RecordedServer::start(recording).await?;
    let mut agents = BTreeMap::new();
    for name in server.agents() {
        let mut links = Vec::new();
        for (id, endpoint) in server.endpoints(&name) {
            let facts = workshop.facts.find(&id.provider, &id.model);
            links.push(workshop.link(Endpoint { facts, ..endpoint })?);
        }
        // A recording is not waited for: what failed then fails again, at once.
        let policy = RetryPolicy { first_wait: Duration::ZERO, ..policy(workshop.config) };
        if let (Ok(agent), false) = (name.parse::<AgentName>(), links.is_empty()) {
            let chain = Chain::new(links.remove(0), links, policy);
            agents.insert(agent, workshop.agent_model(chain, Some(&name)));
        }
    }
    let Some(model) = agents.values().next().cloned() else {
        return Err(Failure::usage(format!("{file} has no reply for any agent")));
    };
    let player = Player::Recording { _server: server };
    workshop.ready(model, agents, choice, Some(player))
}

async fn serve(
    mut workshop: Workshop<'_>,
    choice: Choice,
    purpose: Purpose<'_>,
) -> Result<ReadyModels, Failure> {
    let config = workshop.config;
    let Purpose::Work { for_all, .. } = purpose else {
        let chain = workshop.chain(&choice, &[])?;
        let model = workshop.agent_model(chain, None);
        return workshop.ready(model, BTreeMap::new(), choice, None);
    };
    let mut fallbacks = Vec::new();
    for wanted in &config.model.fallbacks {
        match named(config, wanted, "model.fallbacks").await {
            Ok(fallback) if fallback.id == choice.id => {}
            Ok(fallback) if fallback.is_embedded() && workshop.tape.is_some() => {
                workshop.notices.push(recorded::left_out(wanted));
            }
            Ok(fallback) => fallbacks.push(fallback),
            // One that cannot be asked does not keep the others from working.
            Err(failure) if failure.code == failure::PROVIDER_FAILED => {
                let why = failure.message.lines().next().unwrap_or_default().to_owned();
                workshop.notices.push(format!("{wanted} does not stand in: {why}"));
            }
            Err(failure) => return Err(failure),
        }
    }
    let chain = workshop.chain(&choice, &fallbacks)?;
    let model = workshop.agent_model(chain, None);
    // The one in the box cannot write, and so it does not stand in for those who do.
    let mut writers = fallbacks.clone();
    writers.retain(|fallback| !fallback.is_embedded());
    let writer = if choice.is_embedded() {
        None
    } else {
        Some(Arc::new(workshop.chain(&choice, &writers)?) as Arc<dyn Model>)
    };
    let mut agents = BTreeMap::new();
    for (name, own) in &config.agents {
        let agent: AgentName = name
            .parse()
            .map_err(|error| Failure::usage(format!("agents.{name} is not an agent: {error}")))?;
        let mut agent_model = model.clone();
        agent_model.options = options(config, Some(name));
        if let Some(wanted) = own.model.as_deref().filter(|_| !for_all) {
            let chosen = named(config, wanted, &format!("agents.{name}.model")).await?;
            let chain = workshop.chain(&chosen, &fallbacks)?;
            agent_model.model = workshop.agent_model(chain, Some(name)).model;
        }
        agents.insert(agent, agent_model);
    }
    let observer = match config.observational_memory.model.as_deref() {
        Some("none") => None,
        Some(wanted) if !for_all => {
            let chosen = named(config, wanted, "observationalMemory.model").await?;
            match &chosen.source {
                Source::Server(_) => {
                    Some(Arc::new(workshop.chain(&chosen, &writers)?) as Arc<dyn Model>)
                }
                Source::Script(_) | Source::Recording(_) | Source::Embedded => None,
            }
        }
        _ => writer.clone(),
    };
    let ready = workshop.ready(model, agents, choice, None)?;
    Ok(ReadyModels { observer, writer, ..ready })
}
