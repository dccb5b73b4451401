//! Builds models.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use lango_embedded::{EmbeddedModel, NoSurroundings, RoutedModel, Surroundings};
use lango_model::{
    Chain, ChainLink, Endpoint, FactsTable, Model, ModelFacts, ProviderHealth, RecordingWriter,
    RemoteModel, ReplyOptions, RetryPolicy,
};
use lango_protocol::AgentName;
use lango_runtime::AgentModel;

use super::choose::{ModelChoice, ModelSource};
use super::server::ModelServer;
use super::{PlaybackServer, PriceList, ReadyModels, load_facts};
use crate::AppError;
use crate::config::{Config, RouterName};

pub(super) fn model_options(config: &Config, agent: Option<&str>) -> ReplyOptions {
    let own = agent.and_then(|name| config.agents.get(name));
    let temperature = own.and_then(|own| own.temperature).or(config.model.temperature);
    ReplyOptions {
        max_output_tokens: own
            .and_then(|own| own.max_output_tokens)
            .or(config.model.max_output_tokens),
        temperature: temperature.map(to_f32),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a temperature has a few digits")]
fn to_f32(temperature: f64) -> f32 {
    temperature as f32
}

pub(super) fn retry_policy(config: &Config) -> RetryPolicy {
    RetryPolicy {
        tries: config.retry.tries.max(1),
        first_wait: Duration::from_millis(config.retry.first_wait_milliseconds),
        longest_wait: Duration::from_secs(config.retry.longest_wait_seconds),
    }
}

/// Builds models, so that those of one provider share its health.
pub(super) struct ModelBuilder<'a> {
    pub(super) config: &'a Config,
    pub(super) facts: FactsTable,
    health: HashMap<String, Arc<ProviderHealth>>,
    secrets: Vec<String>,
    pub(super) notices: Vec<String>,
    pub(super) tape: Option<Arc<RecordingWriter>>,
    /// Every decision is made by the named model, because it is recorded or replayed.
    pub(super) is_whole: bool,
    /// What the embedded model knows about the machine.
    pub(super) surroundings: Arc<dyn Surroundings>,
}

impl<'a> ModelBuilder<'a> {
    pub(super) fn new(config: &'a Config) -> Result<Self, AppError> {
        Ok(Self {
            config,
            facts: load_facts(config)?,
            health: HashMap::new(),
            secrets: Vec::new(),
            notices: Vec::new(),
            tape: None,
            is_whole: false,
            surroundings: Arc::new(NoSurroundings),
        })
    }

    pub(super) fn build_agent_model(&self, chain: Chain, agent: Option<&str>) -> AgentModel {
        let model: Arc<dyn Model> = match self.config.agent.router {
            RouterName::Auto if !self.is_whole => Arc::new(RoutedModel::new(Arc::new(chain))),
            RouterName::Model | RouterName::Auto => Arc::new(chain),
        };
        AgentModel { model, options: model_options(self.config, agent) }
    }

    pub(super) fn into_ready_models(
        self,
        model: AgentModel,
        agents: BTreeMap<AgentName, AgentModel>,
        choice: ModelChoice,
        player: Option<PlaybackServer>,
    ) -> Result<ReadyModels, AppError> {
        let prices = PriceList::new(self.config)?;
        let Self { secrets, notices, tape, .. } = self;
        let writer = (!choice.is_embedded()).then(|| Arc::clone(&model.model));
        Ok(ReadyModels {
            model,
            agents,
            observer: None,
            writer,
            choice,
            prices,
            notices,
            secrets,
            last_choice: None,
            tape,
            _player: player,
        })
    }

    pub(super) fn build_chain(
        &mut self,
        first: &ModelChoice,
        fallbacks: &[ModelChoice],
    ) -> Result<Chain, AppError> {
        let Some(first_link) = self.link_choice(first)? else {
            return Err(AppError::usage(format!("{} is no model to work with", first.id)));
        };
        let mut links = Vec::new();
        for fallback in fallbacks.iter().filter(|fallback| fallback.id != first.id) {
            links.extend(self.link_choice(fallback)?);
        }
        Ok(Chain::new(first_link, links, retry_policy(self.config)))
    }

    /// Returns the link to the chosen model, or `None` if it is played from a file.
    fn link_choice(&mut self, choice: &ModelChoice) -> Result<Option<ChainLink>, AppError> {
        match &choice.source {
            ModelSource::Server(server) => self.link_server(server, choice).map(Some),
            ModelSource::Embedded => Ok(Some(ChainLink {
                model: Arc::new(EmbeddedModel::with_surroundings(Arc::clone(&self.surroundings))),
                facts: ModelFacts::default(),
                health: Arc::default(),
            })),
            ModelSource::Script(_) | ModelSource::Recording(_) => Ok(None),
        }
    }

    fn link_server(
        &mut self,
        server: &ModelServer,
        choice: &ModelChoice,
    ) -> Result<ChainLink, AppError> {
        let mut facts: ModelFacts = self.facts.find(&choice.id.provider, &choice.id.model);
        // The server's own facts count more than the table.
        if let Some(listed) = &choice.listed {
            facts.window = listed.window.or(facts.window);
            facts.images = listed.images.or(facts.images);
        }
        for secret in server.secrets() {
            if let Some(tape) = &self.tape {
                tape.add_secret(&secret);
            }
            self.secrets.push(secret);
        }
        self.build_link(server.endpoint(self.config, &choice.id.model, facts))
    }

    pub(super) fn build_link(&mut self, endpoint: Endpoint) -> Result<ChainLink, AppError> {
        let endpoint = Endpoint { tape: self.tape.clone(), ..endpoint };
        let health = self.health.entry(endpoint.id.provider.clone()).or_default();
        let (facts, health) = (endpoint.facts, Arc::clone(health));
        let model =
            RemoteModel::new(endpoint).map_err(|error| AppError::provider(error.to_string()))?;
        Ok(ChainLink { model: Arc::new(model), facts, health })
    }
}
