//! Which agents each caller of the server reaches: a runtime for every set of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use lango_protocol::{AgentName, Caller};
use lango_runtime::{Approver, OWNER, Runtime, Teams};
use lango_server::Callers;

use crate::config::Config;
use crate::failure::Failure;
use crate::provider::ReadyModels;
use crate::wiring::{self, Catalog, Kept};

/// A set of agents; none is everybody.
type Reach = Option<BTreeSet<AgentName>>;

/// The teams of a server.
pub(crate) struct ServedTeams {
    config: Config,
    catalog: Catalog,
    kept: Kept,
    models: Arc<ReadyModels>,
    approver: Arc<dyn Approver>,
    callers: Callers,
    exposed: Reach,
    max_rounds: Option<u32>,
    /// The runtimes so far, one for each set of agents. They share the journal and everything else
    /// that is kept. A lock that is held to look one up, or to make it.
    runtimes: Mutex<BTreeMap<Reach, Runtime>>,
}

/// What teams are made of.
pub(crate) struct ServedTeamsParts {
    pub(crate) config: Config,
    pub(crate) catalog: Catalog,
    pub(crate) kept: Kept,
    pub(crate) models: Arc<ReadyModels>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) callers: Callers,
    pub(crate) expose: Vec<AgentName>,
    pub(crate) max_rounds: Option<u32>,
}

impl ServedTeams {
    /// Checks that every agent that is to be reached exists, and makes the owner's team.
    pub(crate) fn new(parts: ServedTeamsParts) -> Result<Self, Failure> {
        let exposed: Reach =
            (!parts.expose.is_empty()).then(|| parts.expose.iter().cloned().collect());
        check_exposed(&parts.catalog, &parts.expose)?;
        let teams = Self {
            config: parts.config,
            catalog: parts.catalog,
            kept: parts.kept,
            models: parts.models,
            approver: parts.approver,
            callers: parts.callers,
            exposed,
            max_rounds: parts.max_rounds,
            runtimes: Mutex::default(),
        };
        let owners = teams.make(&teams.exposed)?;
        let reach = teams.exposed.clone();
        teams.runtimes.lock().unwrap_or_else(PoisonError::into_inner).insert(reach, owners);
        Ok(teams)
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The turns under way in all teams.
    pub(crate) fn turns_under_way(&self) -> usize {
        let runtimes = self.runtimes.lock().unwrap_or_else(PoisonError::into_inner);
        runtimes.values().map(Runtime::turns_under_way).sum()
    }

    /// Waits for what follows from the turns so far, and says what could not be done.
    pub(crate) async fn settled(&self) -> Vec<String> {
        let runtimes: Vec<Runtime> = {
            let runtimes = self.runtimes.lock().unwrap_or_else(PoisonError::into_inner);
            runtimes.values().cloned().collect()
        };
        let mut troubles = Vec::new();
        for runtime in runtimes {
            troubles.extend(runtime.settled().await);
        }
        troubles
    }

    /// The agents that a caller reaches. The outer none: it is not let in.
    pub(crate) fn reach(&self, caller: &Caller) -> Option<Reach> {
        if caller.as_str() == OWNER {
            return Some(self.exposed.clone());
        }
        let own = self.callers.known(caller)?.agents;
        Some(match (own, &self.exposed) {
            (Some(own), Some(exposed)) => Some(own.intersection(exposed).cloned().collect()),
            (Some(own), None) => Some(own),
            (None, exposed) => exposed.clone(),
        })
    }

    fn make(&self, reach: &Reach) -> Result<Runtime, Failure> {
        let approver = Arc::clone(&self.approver);
        let kept = self.kept.clone();
        match reach {
            None => Ok(wiring::runtime(&self.config, &self.catalog, kept, &self.models, approver)),
            Some(agents) => {
                let catalog = self.catalog.exposing(agents)?;
                Ok(wiring::runtime(&self.config, &catalog, kept, &self.models, approver))
            }
        }
    }
}

impl Teams for ServedTeams {
    fn team(&self, caller: &Caller) -> Option<Runtime> {
        let reach = self.reach(caller)?;
        let mut runtimes = self.runtimes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = runtimes.get(&reach) {
            return Some(runtime.clone());
        }
        // An empty set, or agents that are gone: there is nobody to talk to.
        let runtime = self.make(&reach).ok()?;
        runtimes.insert(reach, runtime.clone());
        Some(runtime)
    }
}

/// Refuses names that nobody has.
pub(crate) fn check_exposed(catalog: &Catalog, agents: &[AgentName]) -> Result<(), Failure> {
    let known: Vec<&str> =
        catalog.tree.sub_agents().iter().map(|agent| agent.name.as_str()).collect();
    match agents.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) if known.is_empty() => Err(Failure::usage(format!(
            "{name} cannot be exposed alone: there is one agent with every tool. Set \
             agent.multiAgent to true, or expose all: leave the names out"
        ))),
        Some(name) => Err(Failure::usage(format!(
            "there is no agent {name} to expose. There are: {}",
            known.join(", ")
        ))),
    }
}
