//! Who is in the team, while tools and agents elsewhere come and go.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lango_a2a::remote::{Standing, team};
use lango_mcp::client::Servers;
use lango_orchestration::{
    AgentTree, Config as TreeConfig, PromptSections, RemoteAgentSpec, Topology,
};
use lango_protocol::AgentName;
use lango_runtime::{RemoteAgent, Runtime};
use lango_tool::{RegisteredTool, ToolRegistry};

use crate::failure::Failure;

/// What trees are made of, beside what comes and goes.
#[derive(Clone)]
pub(crate) struct TeamParts {
    pub(crate) own: ToolRegistry,
    pub(crate) topology: Topology,
    pub(crate) prompts: PromptSections,
    pub(crate) multi_agent: bool,
    pub(crate) max_rounds: u32,
}

impl TeamParts {
    /// All tools with these, and the agents that have them, with these agents elsewhere.
    pub(crate) fn build(
        &self,
        others: Vec<RegisteredTool>,
        remote_agents: Vec<RemoteAgentSpec>,
    ) -> Result<(ToolRegistry, AgentTree), Failure> {
        let wrong = |error: String| Failure::usage(error);
        let mut tools = self.own.clone();
        for tool in others {
            tools.add_registered(tool).map_err(|error| wrong(error.to_string()))?;
        }
        let tree = lango_orchestration::build_agent_tree(TreeConfig {
            multi_agent: self.multi_agent,
            topology: &self.topology,
            tools: &tools,
            max_delegation_rounds: self.max_rounds,
            sub_agent_prompt: None,
            remote_agents,
            prompts: &self.prompts,
        })
        .map_err(|error| wrong(error.to_string()))?;
        Ok((tools, tree))
    }
}

/// The agents elsewhere that are there now.
#[derive(Clone, Default)]
pub(crate) struct Elsewhere {
    pub(crate) specs: Vec<RemoteAgentSpec>,
    pub(crate) agents: BTreeMap<AgentName, Arc<dyn RemoteAgent>>,
}

impl Elsewhere {
    pub(crate) fn of(standings: &[Standing]) -> Self {
        let (specs, agents) = team(standings);
        Self { specs, agents }
    }
}

/// Somebody whose team changes when tools or agents come or go.
pub(crate) trait Renewed: Send + Sync {
    /// From the next turn on, this is the team.
    fn renew(
        &self,
        tools: ToolRegistry,
        tree: AgentTree,
        elsewhere: Elsewhere,
    ) -> Result<(), Failure>;

    /// Somebody is not there; said with the next turn.
    fn tell_absence(&self, warning: String);
}

impl Renewed for Runtime {
    fn renew(&self, _: ToolRegistry, tree: AgentTree, elsewhere: Elsewhere) -> Result<(), Failure> {
        self.replace_team(&tree, &elsewhere.agents);
        Ok(())
    }

    fn tell_absence(&self, warning: String) {
        Runtime::tell_absence(self, warning);
    }
}

/// Keeps a team up to date. Clones share what is known.
#[derive(Clone)]
pub(crate) struct Upkeep {
    parts: TeamParts,
    renewed: Arc<dyn Renewed>,
    servers: Option<Servers>,
    /// A lock that is held to copy or replace it.
    elsewhere: Arc<Mutex<Elsewhere>>,
}

impl Upkeep {
    /// From now on the agents have what the servers offer, whenever that changes.
    pub(crate) fn begin(
        parts: TeamParts,
        renewed: Arc<dyn Renewed>,
        servers: Option<Servers>,
        elsewhere: Elsewhere,
    ) -> Self {
        let elsewhere = Arc::new(Mutex::new(elsewhere));
        let upkeep = Self { parts, renewed, servers, elsewhere };
        if let Some(servers) = &upkeep.servers {
            let (mut changes, upkeep) = (servers.changes(), upkeep.clone());
            tokio::spawn(async move {
                while changes.changed().await.is_ok() {
                    // What cannot be built stays as it was: a name that is taken is reported at the
                    // start.
                    let _ = upkeep.renew();
                }
            });
        }
        upkeep
    }

    /// Somebody is not there, and why.
    pub(crate) fn tell_absence(&self, warning: String) {
        self.renewed.tell_absence(warning);
    }

    /// Agents elsewhere have come or gone.
    pub(crate) fn meet(&self, elsewhere: Elsewhere) -> Result<(), Failure> {
        *self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner) = elsewhere;
        self.renew()
    }

    /// Builds the team anew, from what is offered now.
    pub(crate) fn renew(&self) -> Result<(), Failure> {
        let elsewhere = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let tools = self.servers.as_ref().map(|servers| servers.offer().tools).unwrap_or_default();
        let (tools, tree) = self.parts.build(tools, elsewhere.specs.clone())?;
        self.renewed.renew(tools, tree, elsewhere)
    }
}
