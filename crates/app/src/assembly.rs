//! Opens everything: the database first, then every agent with its handle, then the team.

use std::path::PathBuf;
use std::sync::Arc;

use lango_automator::JobBook;
use lango_keystore::SecretHandles;
use lango_mcp::client::{NoPerson, Person, Servers};
use lango_operator::Processes;
use lango_runtime::{AgentParts, ContextSource, RuleBook};
use lango_tool::RegisteredTool;
use lango_vault::{NoPrompt, ValuePrompt, VaultResources};

use crate::agents::OpenAgents;
use crate::approvals::open_rule_book;
use crate::definition::{TeamDefinition, TeamOptions};
use crate::mcp::{self, McpTools};
use crate::provider::{self, LastChoice, ModelOptions, ReadyModels};
use crate::remotes::RemoteAgents;
use crate::runtime::{RuntimeFactory, context_sources};
use crate::team::Roster;
use crate::{App, AppError, Stores, secrets, vault};

/// Holds what a client wants to open.
pub struct OpenOptions {
    /// The team.
    pub team: TeamOptions,
    /// The choice of the models.
    pub models: ModelOptions,
    /// Answers the questions that MCP servers ask the user.
    pub person: Arc<dyn Person>,
    /// Asks the user for the values of secrets.
    pub value_prompt: Arc<dyn ValuePrompt>,
    /// Leaves out approval rules, MCP servers and remote agents, as a demonstration does.
    pub isolated: bool,
}

impl OpenOptions {
    /// Returns options for a client that cannot ask a user.
    pub fn new(team: TeamOptions, models: ModelOptions) -> Self {
        let (person, value_prompt) = (Arc::new(NoPerson), Arc::new(NoPrompt));
        Self { team, models, person, value_prompt, isolated: false }
    }
}

/// Holds what a client wants to inspect. No model is asked, and no MCP server is started.
#[derive(Debug, Clone, Default)]
pub struct InspectOptions {
    /// The team.
    pub team: TeamOptions,
    /// Includes the tools of MCP servers that were connected before.
    pub mcp_tools: bool,
    /// Checks which remote agents are available.
    pub remote_agents: bool,
}

/// Holds everything that turns run on.
pub struct Assembly {
    /// The agents and tools.
    pub roster: Roster,
    pub(crate) factory: RuntimeFactory,
    pub(crate) stores: Stores,
    pub(crate) processes: Processes,
    pub(crate) jobs: Option<JobBook>,
    pub(crate) servers: Option<Servers>,
    /// Messages about MCP servers that are not used, or only partly.
    pub(crate) notices: Vec<String>,
}

/// Holds the agents and tools, for clients that only inspect them.
pub struct Inspection {
    /// The agents and tools.
    pub roster: Roster,
    /// The directory that they work in.
    pub workspace: PathBuf,
    /// The database and the journal.
    pub stores: Stores,
    agents: Vec<AgentParts>,
}

impl App {
    /// Opens everything that turns run on. Mistakes in the configuration and an unavailable model
    /// are found before the database is opened.
    pub async fn open(&self, options: OpenOptions) -> Result<Assembly, AppError> {
        let OpenOptions { team, models, person, value_prompt, isolated } = options;
        let definition = TeamDefinition::load(self, &team)?;
        definition.check_agent_settings(self.config())?;
        let config = &self.config_with_keys().await?;
        let is_default = matches!(&models, ModelOptions::Choose { wanted: None, .. });
        let mut models = provider::open(config, models, definition.agents.surroundings()).await?;
        if is_default {
            let last = LastChoice::read(&self.home, &models.choice.id);
            models.notices.extend(last.describe_change());
            models.last_choice = Some(last);
        }
        let stores = self.open_stores().await?;
        let observer = models.observer.clone();
        let database = &stores.database;
        let (store, plain_notice) = self.open_key_store_with_notice(database.clone()).await?;
        let vault_notice = vault::teach_scrubber(&store).await;
        let handles = SecretHandles::default();
        let resources = VaultResources { store: store.clone(), handles, prompt: value_prompt };
        let agents = definition.agents.clone().open(self, &stores, observer, resources).await?;
        let (remotes, rules, mcp) = if isolated {
            (None, RuleBook::default(), McpTools::default())
        } else {
            let remotes = RemoteAgents::check_configured(config, database).await?;
            let rules = open_rule_book(config, database.clone()).await?;
            let workspace = &definition.workspace;
            let means = (database, &store);
            (remotes, rules, mcp::start_servers(self, workspace, means, person, &models).await?)
        };
        let workspace = definition.workspace.clone();
        let OpenAgents { mut parts, processes, jobs } = agents;
        let roster = Roster::build(definition, take_tools(&mut parts), mcp.tools, remotes)?;
        if let Some(jobs) = &jobs {
            let tools = roster.tools.iter();
            let levels = tools.map(|tool| (tool.name().to_owned(), tool.level())).collect();
            jobs.set_team(levels, roster.list_agent_names());
        }
        let mut secrets = secrets::collect_secrets(config, &models);
        secrets.extend(mcp.secrets);
        let privacy = config.privacy.build_filter();
        let privacy =
            privacy.map_err(|error| AppError::usage(format!("privacy.patterns: {error}")))?;
        let factory = RuntimeFactory {
            privacy: privacy.map(Arc::new),
            config: config.clone(),
            models: Arc::new(models),
            journal: stores.journal.clone(),
            rules,
            agents: parts,
            workspace,
            secrets,
            scrubber: self.scrubber.clone(),
            key_store: store,
        };
        let McpTools { servers, mut notices, .. } = mcp;
        notices.extend(vault_notice);
        notices.extend(plain_notice);
        Ok(Assembly { roster, factory, stores, processes, jobs, servers, notices })
    }

    /// Tells whether the team has an agent of this name, or would have it if it could be reached.
    pub async fn has_agent(&self, name: &str) -> Result<bool, AppError> {
        let roster = self.inspect(InspectOptions::default()).await?.roster;
        let mut remote = self.config().a2a.remote_agents.iter();
        Ok(roster.list_agent_names().contains(name) || remote.any(|agent| agent.name == name))
    }

    /// Opens the agents and tools for clients that only inspect them.
    pub async fn inspect(&self, options: InspectOptions) -> Result<Inspection, AppError> {
        let config = self.config();
        let definition = TeamDefinition::load(self, &options.team)?;
        let stores = self.open_stores().await?;
        let store = self.open_key_store(stores.database.clone()).await?;
        let (handles, prompt) = (SecretHandles::default(), Arc::new(NoPrompt));
        let resources = VaultResources { store: store.clone(), handles, prompt };
        let OpenAgents { parts: mut agents, .. } =
            definition.agents.clone().open(self, &stores, None, resources).await?;
        let remotes = if options.remote_agents {
            RemoteAgents::check_configured(config, &stores.database).await?
        } else {
            None
        };
        let workspace = definition.workspace.clone();
        let others = if options.mcp_tools {
            mcp::list_known_tools(self, &workspace, (&stores.database, &store)).await?
        } else {
            Vec::new()
        };
        let roster = Roster::build(definition, take_tools(&mut agents), others, remotes)?;
        Ok(Inspection { roster, workspace, stores, agents })
    }
}

impl Assembly {
    /// Returns the models of the agents.
    pub fn models(&self) -> &Arc<ReadyModels> {
        &self.factory.models
    }
}

impl Inspection {
    /// Returns the sources of what agents are told besides their instructions.
    pub fn context_sources(&self) -> Vec<Box<dyn ContextSource>> {
        context_sources(&self.agents, &self.roster, &self.workspace)
    }
}

/// Takes the tools out of the parts: a registry holds them from now on.
fn take_tools(agents: &mut [AgentParts]) -> Vec<RegisteredTool> {
    agents.iter_mut().flat_map(|agent| std::mem::take(&mut agent.tools)).collect()
}
