//! Decides which agents each API client of the server reaches. Every set of agents has its own
//! runtime.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lango_a2a::server::{CardAgent, ExposedAgents};
use lango_mcp::server::{OfferedTool, OfferedTools};
use lango_orchestration::AgentTree;
use lango_protocol::{AgentName, Caller};
use lango_runtime::{Approver, OWNER, Runtime, Teams};
use lango_server::Callers;
use lango_tool::ToolRegistry;
use parking_lot::{Mutex, MutexGuard};

use crate::runtime::RuntimeFactory;
use crate::team::{RemoteTeam, Roster, TeamListener};
use crate::{AppError, Notice};

/// A set of agents; `None` stands for all agents.
type ReachableAgents = Option<BTreeSet<AgentName>>;

/// The teams of a server.
pub struct ServedTeams {
    factory: RuntimeFactory,
    notice: Notice,
    approver: Arc<dyn Approver>,
    callers: Callers,
    exposed: ReachableAgents,
    /// Agents whose tools are offered directly.
    offering: BTreeSet<AgentName>,
    /// The current teams. The lock is held to look up or make a runtime; making one only copies,
    /// and never blocks.
    state: Mutex<TeamsState>,
}

struct TeamsState {
    /// The whole team, of which each caller has its part.
    roster: Roster,
    /// The remote agents that are available.
    remote_team: RemoteTeam,
    /// The runtimes so far, one for each set of agents. They share the journal and all other
    /// stores.
    runtimes: BTreeMap<ReachableAgents, Runtime>,
}

/// Holds what teams are made of.
pub(crate) struct ServedTeamsParts {
    pub(crate) roster: Roster,
    pub(crate) factory: RuntimeFactory,
    pub(crate) notice: Notice,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) callers: Callers,
    pub(crate) expose: Vec<AgentName>,
    pub(crate) tools: Vec<AgentName>,
}

impl ServedTeams {
    /// Checks that every exposed agent exists, and makes the owner's team.
    pub(crate) fn new(parts: ServedTeamsParts) -> Result<Self, AppError> {
        check_agents(&parts.roster, &parts.expose)?;
        check_agents(&parts.roster, &parts.tools)?;
        let exposed: ReachableAgents =
            (!parts.expose.is_empty()).then(|| parts.expose.into_iter().collect());
        let runtimes = BTreeMap::new();
        let remote_team = parts.roster.remote_team();
        let teams = Self {
            factory: parts.factory,
            notice: parts.notice,
            approver: parts.approver,
            callers: parts.callers,
            exposed,
            offering: parts.tools.into_iter().collect(),
            state: Mutex::new(TeamsState { roster: parts.roster, remote_team, runtimes }),
        };
        let mut state = teams.state();
        let owners = teams.build_runtime(&state, &teams.exposed)?;
        state.runtimes.insert(teams.exposed.clone(), owners);
        drop(state);
        Ok(teams)
    }

    fn state(&self) -> MutexGuard<'_, TeamsState> {
        self.state.lock()
    }

    /// Returns the whole team, as it is now.
    pub(crate) fn roster(&self) -> Roster {
        self.state().roster.clone()
    }

    /// Returns the agents that the team's card describes to a caller, or to the public.
    fn list_card_agents(&self, caller: Option<&Caller>) -> Vec<CardAgent> {
        let reach = match caller {
            None => Some(self.exposed.clone()),
            Some(caller) => self.find_reachable_agents(caller),
        };
        let Some(reach) = reach else { return Vec::new() };
        let state = self.state();
        let mut agents = CardAgent::from_tree(&state.roster.tree, Some(state.roster.topology()));
        if let Some(reach) = reach {
            agents.retain(|agent| reach.contains(agent.name.as_str()));
        }
        agents
    }

    /// Returns the number of running turns in all teams.
    pub fn count_running_turns(&self) -> usize {
        let state = self.state();
        state.runtimes.values().map(Runtime::turns_under_way).sum()
    }

    /// Stops the running turns of an API client that has no access any more.
    pub fn revoke_turns(&self, caller: &Caller, reason: &str) {
        let runtimes: Vec<Runtime> = self.state().runtimes.values().cloned().collect();
        let stopped: usize =
            runtimes.iter().map(|runtime| runtime.revoke_turns(caller, reason)).sum();
        tracing::info!(%caller, stopped, "the turns of a client were stopped");
    }

    /// Waits for the work that follows the turns so far, and returns what could not be done.
    pub async fn wait_for_observers(&self) -> Vec<String> {
        let runtimes: Vec<Runtime> = self.state().runtimes.values().cloned().collect();
        let mut errors = Vec::new();
        for runtime in runtimes {
            errors.extend(runtime.wait_for_observers().await);
        }
        errors
    }

    /// Returns the agents that a caller reaches. The outer `None` means that it has no access.
    fn find_reachable_agents(&self, caller: &Caller) -> Option<ReachableAgents> {
        if caller.as_str() == OWNER {
            return Some(self.exposed.clone());
        }
        let own = self.callers.find_cached(caller)?.agents;
        Some(match (own, &self.exposed) {
            (Some(own), Some(exposed)) => Some(own.intersection(exposed).cloned().collect()),
            (Some(own), None) => Some(own),
            (None, exposed) => exposed.clone(),
        })
    }

    /// Makes a runtime for a set of agents, as they are now.
    fn build_runtime(
        &self,
        state: &TeamsState,
        reach: &ReachableAgents,
    ) -> Result<Runtime, AppError> {
        let roster = match reach {
            None => state.roster.clone(),
            Some(agents) => state.roster.restrict_to(agents, &state.remote_team)?,
        };
        let runtime = self.factory.build_runtime(&roster, Arc::clone(&self.approver));
        // Remote agents may have come or gone since the start.
        runtime.replace_team(&roster.tree, &state.remote_team.agents);
        Ok(runtime)
    }

    /// Tells whether a caller may call tools of this agent directly.
    fn may_call_directly(&self, caller: &Caller, agent: &AgentName) -> bool {
        let reached = match self.find_reachable_agents(caller) {
            None => false,
            Some(None) => true,
            Some(Some(agents)) => agents.contains(agent),
        };
        reached && self.offering.contains(agent)
    }
}

impl Teams for ServedTeams {
    fn team(&self, caller: &Caller) -> Option<Runtime> {
        let reach = self.find_reachable_agents(caller)?;
        let owner_stores =
            self.callers.find_cached(caller).map(|record| record.reads_owner).unwrap_or_default();
        let mut state = self.state();
        if let Some(runtime) = state.runtimes.get(&reach) {
            return Some(runtime.clone().with_owner_stores(owner_stores));
        }
        // The set is empty, or its agents are gone: there is no agent to talk to.
        let made = self.build_runtime(&state, &reach);
        let runtime =
            made.inspect_err(|error| tracing::warn!(%error, "a client has no team")).ok()?;
        state.runtimes.insert(reach, runtime.clone());
        Some(runtime.with_owner_stores(owner_stores))
    }
}

impl TeamListener for ServedTeams {
    fn renew(
        &self,
        tools: ToolRegistry,
        tree: AgentTree,
        remote_team: RemoteTeam,
    ) -> Result<(), AppError> {
        let mut state = self.state();
        (state.roster.tools, state.roster.tree) = (tools, tree);
        state.remote_team = remote_team;
        for (reach, runtime) in &state.runtimes {
            let tree = match reach {
                None => state.roster.tree.clone(),
                Some(agents) => state.roster.restrict_to(agents, &state.remote_team)?.tree,
            };
            runtime.replace_team(&tree, &state.remote_team.agents);
        }
        Ok(())
    }

    fn tell_absence(&self, warning: String) {
        // Only the owner is told: callers need not know which agents the owner works with.
        (self.notice)(&warning);
    }
}

impl ExposedAgents for ServedTeams {
    fn exposed(&self, caller: Option<&Caller>) -> Vec<CardAgent> {
        self.list_card_agents(caller)
    }
}

impl OfferedTools for ServedTeams {
    fn tools(&self, caller: &Caller) -> Vec<OfferedTool> {
        let state = self.state();
        let agents = state.roster.tree.sub_agents().iter();
        agents
            .filter(|agent| self.may_call_directly(caller, &agent.name))
            .flat_map(|agent| {
                let owned = agent.tools().iter().cloned();
                owned.map(|tool| OfferedTool { agent: agent.name.clone(), tool })
            })
            .collect()
    }
}

/// Refuses names of agents that do not exist.
pub fn check_agents(roster: &Roster, agents: &[AgentName]) -> Result<(), AppError> {
    let known: Vec<&str> =
        roster.tree.sub_agents().iter().map(|agent| agent.name.as_str()).collect();
    match agents.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) if known.is_empty() => Err(AppError::usage(format!(
            "{name} cannot be named alone: there is one agent with every tool. Set \
             agent.multiAgent to true, or leave the names out"
        ))),
        Some(name) => Err(AppError::usage(format!(
            "there is no agent {name}. There are: {}",
            known.join(", ")
        ))),
    }
}
