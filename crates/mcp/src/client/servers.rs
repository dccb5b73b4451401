//! All servers of a process, and what their tools are for the agents.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use lango_tool::RegisteredTool;
use tokio::sync::watch;

use super::catalogue::{Catalogue, ToolState};
use super::config::ServerConfig;
use super::folded;
use super::pin::{self, ToolVersion};
use super::server::Server;
use super::tool::McpTool;
use super::{ClientError, Outside};

/// Every configured server. Clones share them.
#[derive(Clone)]
pub struct Servers {
    all: Arc<Vec<Arc<Server>>>,
    catalogue: Catalogue,
    offer_changed: watch::Sender<u64>,
    /// Bytes of declarations of one agent above which a server's tools are folded into two.
    fold_above: usize,
}

/// The tools that can be offered now, and what there is to say about the others.
#[derive(Debug, Default)]
pub struct Offer {
    /// In the order of the servers and the names of their tools.
    pub tools: Vec<RegisteredTool>,
    /// One line each.
    pub problems: Vec<String>,
}

impl Servers {
    /// Nothing is started yet.
    pub fn new(
        configs: Vec<ServerConfig>,
        catalogue: Catalogue,
        outside: Outside,
        fold_above: usize,
    ) -> Self {
        let outside = Arc::new(outside);
        let offer_changed = watch::Sender::new(0);
        let server = |config| {
            Server::new(config, catalogue.clone(), Arc::clone(&outside), offer_changed.clone())
        };
        let all = Arc::new(configs.into_iter().map(server).collect());
        Self { all, catalogue, offer_changed, fold_above }
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Server>> {
        self.all.iter()
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Result<&Arc<Server>, ClientError> {
        let found = self.all.iter().find(|server| server.config.name.as_str() == name);
        found.ok_or_else(|| ClientError::UnknownServer(name.to_owned()))
    }

    /// What is known of them.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Tells when what is offered became something else.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.offer_changed.subscribe()
    }

    /// Asks those that were never seen for their tools, all at once. One line for each that could
    /// not answer; the others work.
    pub async fn meet(&self) -> Vec<String> {
        let new = self.all.iter().filter(|s| s.objection().is_none() && s.known().is_none());
        let meetings = new.map(|server| async move { server.link().await.err() });
        join_all(meetings).await.into_iter().flatten().map(|error| error.to_string()).collect()
    }

    /// Whether something waits for a person who may have looked at it elsewhere.
    fn waits(&self) -> bool {
        let is_frozen = |server: &Arc<Server>| {
            let known = server.known().map(|known| known.tools).unwrap_or_default();
            self.catalogue.is_redefined(&server.config)
                || known.values().any(|tool| tool.state() == ToolState::Frozen)
        };
        self.all.iter().any(is_frozen)
    }

    /// Looks whether another process agreed to what is frozen here. Whether something may have
    /// changed.
    pub async fn look_again(&self) -> Result<bool, ClientError> {
        let waits = self.waits();
        if waits {
            self.catalogue.load().await?;
        }
        Ok(waits)
    }

    /// The tools that were agreed to and are wanted.
    pub fn offer(&self) -> Offer {
        let mut offer = Offer::default();
        let mut groups: Vec<(Arc<Server>, Vec<ToolVersion>)> = Vec::new();
        for server in self.all.iter().filter(|server| server.config.enabled) {
            if let Some(objection) = server.objection() {
                offer.problems.push(objection.to_string());
                continue;
            }
            groups.push((Arc::clone(server), Self::agreed(server, &mut offer.problems)));
        }
        let folded = self.folded(&groups);
        let mut taken: BTreeMap<Arc<str>, String> = BTreeMap::new();
        for (server, versions) in groups {
            let tools: Vec<RegisteredTool> =
                versions.iter().map(|version| McpTool::register(&server, version)).collect();
            let tools = if folded.contains(&server.config.name.to_string()) {
                folded::fold(&server, &versions, tools)
            } else {
                tools
            };
            let mut clashes = Vec::new();
            for tool in tools {
                let name = Arc::clone(&tool.declaration.name);
                let whose = format!("a tool of {}", server.config.name);
                if let Some(other) = taken.get(&name) {
                    clashes.push(format!(
                        "{whose} is left out: {other} is called {name} already. Rename the server, \
                         or leave one out with disabled_tools"
                    ));
                } else {
                    taken.insert(name, whose);
                    offer.tools.push(tool);
                }
            }
            offer.problems.extend(pin::bounded(clashes));
        }
        offer
    }

    /// The tools of a server that may be offered.
    fn agreed(server: &Arc<Server>, problems: &mut Vec<String>) -> Vec<ToolVersion> {
        let name = &server.config.name;
        let Some(known) = server.known() else { return Vec::new() };
        let wanted: Vec<_> =
            known.tools.values().filter(|tool| server.config.wants(&tool.name)).collect();
        let frozen = wanted.iter().filter(|tool| tool.state() == ToolState::Frozen);
        let frozen: Vec<String> =
            frozen.map(|tool| lango_tool::visible_short(&tool.name)).collect();
        if !frozen.is_empty() {
            let frozen = pin::bounded(frozen);
            problems.push(format!(
                "the MCP server {name} changed {}: frozen until somebody looks at it: \
                 lango mcp approve {name}",
                frozen.join(", ")
            ));
        }
        problems
            .extend(server.problems().into_iter().map(|p| format!("the MCP server {name}: {p}")));
        let agreed = wanted.into_iter().filter(|tool| tool.state() == ToolState::Approved);
        agreed.filter_map(|tool| tool.approved.clone()).collect()
    }

    /// The servers whose tools take too much of a prompt, the largest of each agent first.
    fn folded(&self, groups: &[(Arc<Server>, Vec<ToolVersion>)]) -> Vec<String> {
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

    /// Ends all connections, and the programs behind them.
    pub async fn stop(&self) {
        join_all(self.all.iter().map(|server| server.stop())).await;
    }
}
