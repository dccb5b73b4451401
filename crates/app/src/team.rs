//! Holds the members of the team, while tools and remote agents come and go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lango_a2a::remote::{RemoteStatus, team};
use lango_mcp::client::Servers;
use lango_orchestration::{
    AgentTree, AgentTreeConfig as TreeConfig, RemoteAgentSpec, RootAgent, Topology,
};
use lango_protocol::{AgentName, ForeignText};
use lango_runtime::{RemoteAgent, Runtime};
use lango_tool::{RegisteredTool, ToolRegistry};
use parking_lot::Mutex;

use crate::AppError;
use crate::definition::TeamDefinition;
use crate::remotes::RemoteAgents;

/// Holds the constant parts of a team, without the tools and agents that come and go.
#[derive(Clone)]
pub(crate) struct TeamParts {
    pub(crate) own: ToolRegistry,
    pub(crate) definition: TeamDefinition,
}

impl TeamParts {
    /// Builds the registry with these tools added, and the agent tree with these remote agents.
    pub(crate) fn build(
        &self,
        others: Vec<RegisteredTool>,
        remote_agents: Vec<RemoteAgentSpec>,
    ) -> Result<(ToolRegistry, AgentTree), AppError> {
        let mut tools = self.own.clone();
        for tool in others {
            tools.add_registered(tool)?;
        }
        let tree = lango_orchestration::build_agent_tree(TreeConfig {
            multi_agent: self.definition.multi_agent,
            topology: &self.definition.topology,
            tools: &tools,
            max_delegation_rounds: self.definition.max_rounds,
            sub_agent_prompt: None,
            remote_agents,
            prompts: &self.definition.prompts,
        })?;
        Ok((tools, tree))
    }
}

/// The agents and tools of a team. Clones share the agents' stores.
#[derive(Clone)]
pub struct Roster {
    /// All tools.
    pub tools: ToolRegistry,
    /// The agents that have them.
    pub tree: AgentTree,
    /// The parts for rebuilding the tree when tools or agents come or go.
    pub(crate) parts: TeamParts,
    /// The remote agents, if any are configured.
    pub remotes: Option<RemoteAgents>,
}

impl Roster {
    /// Builds the team of its own tools, those of MCP servers, and the available remote agents.
    pub(crate) fn build(
        definition: TeamDefinition,
        own: Vec<RegisteredTool>,
        others: Vec<RegisteredTool>,
        remotes: Option<RemoteAgents>,
    ) -> Result<Self, AppError> {
        let mut registry = ToolRegistry::new();
        for tool in own {
            registry.add_registered(tool)?;
        }
        let parts = TeamParts { own: registry, definition };
        let specs =
            remotes.as_ref().map(|remotes| remotes.available_team().specs).unwrap_or_default();
        let (tools, tree) = parts.build(others, specs)?;
        Ok(Self { tools, tree, parts, remotes })
    }

    /// Returns the topology that defines the team's agents.
    pub fn topology(&self) -> &Topology {
        &self.parts.definition.topology
    }

    /// Returns the tools that no agent can use.
    pub fn list_unmatched_tools(&self) -> Vec<String> {
        match &self.tree.root {
            RootAgent::Team(team) => {
                team.unmatched.iter().map(|tool| tool.name().to_owned()).collect()
            }
            RootAgent::Single(_) => Vec::new(),
        }
    }

    /// Returns the names of all agents, with those of remote agents that are not available now.
    pub(crate) fn list_agent_names(&self) -> BTreeSet<String> {
        let remotes = self.remotes.iter().flat_map(|remotes| &remotes.statuses);
        let own = self.tree.sub_agents().iter().map(|agent| &agent.name);
        let names = own.chain(remotes.map(|remote| &remote.name)).chain([self.tree.root_name()]);
        names.map(ToString::to_string).collect()
    }

    /// Refuses a name for a remote agent that the team cannot have.
    pub fn check_remote_name(&self, name: &AgentName) -> Result<(), AppError> {
        let spec = RemoteAgentSpec {
            name: name.clone(),
            description: None,
            card_description: ForeignText::default(),
            card_skills: Vec::new(),
        };
        self.parts.build(Vec::new(), vec![spec]).map(drop)
    }

    /// Returns the remote agents that are available.
    pub(crate) fn remote_team(&self) -> RemoteTeam {
        self.remotes.as_ref().map(RemoteAgents::available_team).unwrap_or_default()
    }

    /// Returns the team with only these agents. Each keeps the tools that it has in the whole team,
    /// and no agent gets the tools of those left out.
    pub(crate) fn restrict_to(
        &self,
        agents: &BTreeSet<AgentName>,
        remote_team: &RemoteTeam,
    ) -> Result<Self, AppError> {
        let reached = self.tree.sub_agents().iter().filter(|agent| agents.contains(&agent.name));
        let owned: BTreeSet<&str> =
            reached.flat_map(|agent| agent.tools().iter().map(|tool| tool.name())).collect();
        let specs = remote_team.specs.iter().filter(|spec| agents.contains(&spec.name));
        let specs: Vec<RemoteAgentSpec> = specs.cloned().collect();
        let own = self.tools.only(|name| owned.contains(name));
        let topology = self.topology().clone().only(agents)?;
        let definition = TeamDefinition { topology, ..self.parts.definition.clone() };
        let parts = TeamParts { own, definition };
        // Questions of remote agents are shown only to callers that reach them.
        let remotes = self.remotes.clone().filter(|_| !specs.is_empty());
        let (tools, tree) = parts.build(Vec::new(), specs)?;
        Ok(Self { tools, tree, parts, remotes })
    }
}

/// Holds the remote agents that are available now.
#[derive(Clone, Default)]
pub(crate) struct RemoteTeam {
    pub(crate) specs: Vec<RemoteAgentSpec>,
    pub(crate) agents: BTreeMap<AgentName, Arc<dyn RemoteAgent>>,
}

impl RemoteTeam {
    pub(crate) fn from_statuses(statuses: &[RemoteStatus]) -> Self {
        let (specs, agents) = team(statuses);
        Self { specs, agents }
    }
}

/// Is told when tools or agents come or go. Implemented by a runtime, and by the teams of a server.
pub(crate) trait TeamListener: Send + Sync {
    /// Replaces the team from the next turn on.
    fn renew(
        &self,
        tools: ToolRegistry,
        tree: AgentTree,
        remote_team: RemoteTeam,
    ) -> Result<(), AppError>;

    /// Reports with the next turn that an agent is not available.
    fn tell_absence(&self, warning: String);
}

impl TeamListener for Runtime {
    fn renew(
        &self,
        _: ToolRegistry,
        tree: AgentTree,
        remote_team: RemoteTeam,
    ) -> Result<(), AppError> {
        self.replace_team(&tree, &remote_team.agents);
        Ok(())
    }

    fn tell_absence(&self, warning: String) {
        Runtime::tell_absence(self, warning);
    }
}

/// Watches a team, and rebuilds it when tools or agents come or go. Clones share their state.
#[derive(Clone)]
pub(crate) struct TeamWatcher {
    parts: TeamParts,
    listener: Arc<dyn TeamListener>,
    servers: Option<Servers>,
    /// The available remote agents. The lock is held to copy or replace them.
    remote_team: Arc<Mutex<RemoteTeam>>,
}

impl TeamWatcher {
    /// Starts to watch: from now on the agents get what the servers offer, whenever that changes.
    pub(crate) fn start(
        roster: &Roster,
        listener: Arc<dyn TeamListener>,
        servers: Option<Servers>,
    ) -> Self {
        let remote_team = Arc::new(Mutex::new(roster.remote_team()));
        let watcher = Self { parts: roster.parts.clone(), listener, servers, remote_team };
        if let Some(servers) = &watcher.servers {
            let (mut changes, watcher) = (servers.changes(), watcher.clone());
            tokio::spawn(async move {
                while changes.changed().await.is_ok() {
                    // A team that cannot be built stays as it was: a name conflict is reported at
                    // the start.
                    if let Err(error) = watcher.rebuild_team() {
                        tracing::warn!(%error, "the team could not be rebuilt");
                    }
                }
            });
        }
        watcher
    }

    /// Reports that an agent is not available, and why.
    pub(crate) fn announce_absence(&self, warning: String) {
        self.listener.tell_absence(warning);
    }

    /// Replaces the available remote agents.
    pub(crate) fn replace_remotes(&self, remote_team: RemoteTeam) -> Result<(), AppError> {
        *self.remote_team.lock() = remote_team;
        self.rebuild_team()
    }

    /// Rebuilds the team from what is offered now.
    pub(crate) fn rebuild_team(&self) -> Result<(), AppError> {
        let remote_team = self.remote_team.lock().clone();
        let tools =
            self.servers.as_ref().map(|servers| servers.offer_tools().tools).unwrap_or_default();
        let (tools, tree) = self.parts.build(tools, remote_team.specs.clone())?;
        self.listener.renew(tools, tree, remote_team)
    }

    /// Loads approvals of MCP servers' tools that were given in another process.
    pub(crate) async fn load_approvals(&self) -> Result<(), AppError> {
        match &self.servers {
            Some(servers) if servers.reload_if_frozen().await? => self.rebuild_team(),
            _ => Ok(()),
        }
    }

    /// Returns the MCP servers, if any are configured.
    pub(crate) fn servers(&self) -> Option<&Servers> {
        self.servers.as_ref()
    }
}
