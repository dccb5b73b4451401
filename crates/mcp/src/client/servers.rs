//! Manages all servers of a process and provides their tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use lango_tool::RegisteredTool;
use tokio::sync::watch;

use super::config::ServerConfig;
use super::folded;
use super::known_servers::{KnownServers, ToolState};
use super::pin::{self, ToolVersion};
use super::server::Server;
use super::tool::McpTool;
use super::{ClientEnvironment, ClientError, EntryState};

/// Holds every configured server. Clones share them.
#[derive(Clone)]
pub struct Servers {
    all: Arc<Vec<Arc<Server>>>,
    known: KnownServers,
    offer_changed: watch::Sender<u64>,
    /// The size of one agent's declarations above which a server's tools are folded into two.
    fold_above: usize,
}

/// Holds the tools that can be offered now, and the problems with the others.
#[derive(Debug, Default)]
pub struct ToolOffer {
    /// The tools, sorted by server and name.
    pub tools: Vec<RegisteredTool>,
    /// The problems, one line each.
    pub problems: Vec<String>,
}

impl Servers {
    /// Creates the servers without starting any.
    pub fn new(
        configs: Vec<ServerConfig>,
        known_servers: KnownServers,
        environment: ClientEnvironment,
        fold_above: usize,
    ) -> Self {
        let environment = Arc::new(environment);
        let offer_changed = watch::Sender::new(0);
        let server = |config| {
            Server::new(
                config,
                known_servers.clone(),
                Arc::clone(&environment),
                offer_changed.clone(),
            )
        };
        let all = Arc::new(configs.into_iter().map(server).collect());
        Self { all, known: known_servers, offer_changed, fold_above }
    }

    /// Returns all servers, sorted by name.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Server>> {
        self.all.iter()
    }

    /// Returns a server by name.
    pub fn get(&self, name: &str) -> Result<&Arc<Server>, ClientError> {
        let found = self.all.iter().find(|server| server.config.name.as_str() == name);
        found.ok_or_else(|| ClientError::UnknownServer(name.to_owned()))
    }

    /// Returns the servers that were seen before.
    pub fn known_servers(&self) -> &KnownServers {
        &self.known
    }

    /// Returns a receiver that is notified when the offered tools change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.offer_changed.subscribe()
    }

    /// Starts the servers that were never seen, in parallel, and lists their tools. Returns one
    /// line for each server that failed.
    pub async fn start_unseen(&self) -> Vec<String> {
        let new = self
            .all
            .iter()
            .filter(|s| s.reason_not_to_start().is_none() && s.find_stored().is_none());
        let meetings = new.map(|server| async move { server.connect().await.err() });
        join_all(meetings).await.into_iter().flatten().map(|error| error.to_string()).collect()
    }

    /// Returns the servers whose entries no person decided about as they are now.
    pub fn list_unapproved(&self) -> impl Iterator<Item = &Arc<Server>> {
        let waits = |server: &&Arc<Server>| {
            server.config.enabled
                && matches!(server.entry_state(), EntryState::New | EntryState::Changed)
        };
        self.all.iter().filter(waits)
    }

    /// Tells whether something is frozen that a person may have approved in another process.
    fn has_frozen(&self) -> bool {
        let is_frozen = |server: &Arc<Server>| {
            let known = server.find_stored().map(|known| known.tools).unwrap_or_default();
            server.entry_state() != EntryState::Approved
                || known.values().any(|tool| tool.state() == ToolState::Frozen)
        };
        self.all.iter().any(is_frozen)
    }

    /// Reloads the known servers if something is frozen, because another process may have approved it.
    /// Returns true if something may have changed.
    pub async fn reload_if_frozen(&self) -> Result<bool, ClientError> {
        if !self.has_frozen() {
            return Ok(false);
        }
        let unapproved: Vec<_> = self.list_unapproved().cloned().collect();
        self.known.load().await?;
        let is_new = |server: &&Arc<Server>| {
            server.reason_not_to_start().is_none() && server.find_stored().is_none()
        };
        for server in unapproved.iter().filter(is_new) {
            if let Err(error) = server.connect().await {
                tracing::warn!(server = %server.config.name, %error, "MCP server did not start");
            }
        }
        Ok(true)
    }

    /// Returns the approved and enabled tools.
    pub fn offer_tools(&self) -> ToolOffer {
        let mut offer = ToolOffer::default();
        let mut groups: Vec<(Arc<Server>, Vec<ToolVersion>)> = Vec::new();
        for server in self.all.iter().filter(|server| server.config.enabled) {
            if let Some(objection) = server.reason_not_to_start() {
                // A person who declined it knows.
                if server.entry_state() != EntryState::Declined {
                    offer.problems.push(objection.to_string());
                }
                continue;
            }
            groups.push((Arc::clone(server), Self::approved_tools(server, &mut offer.problems)));
        }
        let folded = self.choose_servers_to_fold(&groups);
        let mut names: BTreeMap<Arc<str>, String> = BTreeMap::new();
        for (server, versions) in groups {
            let tools: Vec<RegisteredTool> =
                versions.iter().map(|version| McpTool::register(&server, version)).collect();
            let tools = if folded.contains(&server.config.name.to_string()) {
                folded::fold_tools(&server, &versions, tools)
            } else {
                tools
            };
            let mut clashes = Vec::new();
            for tool in tools {
                let name = Arc::clone(&tool.declaration.name);
                let whose = format!("a tool of {}", server.config.name);
                if let Some(other) = names.get(&name) {
                    clashes.push(format!(
                        "{whose} is left out: {other} is called {name} already. Rename the server, \
                         or leave one out with disabled_tools"
                    ));
                } else {
                    names.insert(name, whose);
                    offer.tools.push(tool);
                }
            }
            offer.problems.extend(pin::bound_problems(clashes));
        }
        offer
    }

    /// Returns the tools of a server that may be offered.
    fn approved_tools(server: &Arc<Server>, problems: &mut Vec<String>) -> Vec<ToolVersion> {
        let name = &server.config.name;
        let Some(known) = server.find_stored() else { return Vec::new() };
        let wanted: Vec<_> =
            known.tools.values().filter(|tool| server.config.enables_tool(&tool.name)).collect();
        let frozen = wanted.iter().filter(|tool| tool.state() == ToolState::Frozen);
        let frozen: Vec<String> =
            frozen.map(|tool| lango_text::make_visible_short(&tool.name)).collect();
        if !frozen.is_empty() {
            let frozen = pin::bound_problems(frozen);
            problems.push(format!(
                "the MCP server {name} changed {}: frozen until a person approves it: \
                 lango mcp approve {name}",
                frozen.join(", ")
            ));
        }
        problems
            .extend(server.problems().into_iter().map(|p| format!("the MCP server {name}: {p}")));
        let agreed = wanted.into_iter().filter(|tool| tool.state() == ToolState::Approved);
        agreed.filter_map(|tool| tool.approved.clone()).collect()
    }

    /// Returns the servers whose tools take too much of a prompt, the largest of each agent first.
    fn choose_servers_to_fold(&self, groups: &[(Arc<Server>, Vec<ToolVersion>)]) -> Vec<String> {
        let size = |versions: &[ToolVersion]| -> usize {
            versions.iter().map(|v| v.description.len().min(2000) + v.schema.len()).sum()
        };
        let mut agents: BTreeMap<Option<String>, Vec<(usize, String)>> = BTreeMap::new();
        for (server, versions) in groups {
            let agent = server.config.agent.as_ref().map(ToString::to_string);
            let entry = (size(versions), server.config.name.to_string());
            agents.entry(agent).or_default().push(entry);
        }
        let mut folded = Vec::new();
        for mut servers in agents.into_values() {
            servers.sort();
            let mut whole: usize = servers.iter().map(|(size, _)| size).sum();
            while whole > self.fold_above
                && let Some((size, name)) = servers.pop()
            {
                whole -= size;
                folded.push(name);
            }
        }
        folded
    }

    /// Ends all connections and the programs behind them.
    pub async fn stop(&self) {
        join_all(self.all.iter().map(|server| server.stop())).await;
    }
}
