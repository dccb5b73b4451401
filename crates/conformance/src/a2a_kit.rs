//! The agent that the A2A protocol's test kit wants to find: a team whose model is a script, which
//! chooses a reply by the beginning of a message's id.
//!
//! The kit sends most of its requests without credentials, posts its webhooks to this machine, and
//! allows no members of 0.3 in the card.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use lango_a2a::server::{A2aEndpoint, A2aEndpointParts, CardAgent, CardSettings, Settings};
use lango_egress::{Guard, Rules};
use lango_keystore::{KeyStore, KeyStoreSettings};
use lango_model::{Endpoint, ModelId, RemoteModel, ReplyOptions, Wire};
use lango_orchestration::{AgentTreeConfig, PromptSections, Topology, build_agent_tree};
use lango_runtime::{AgentModel, RuleBook, Runtime, RuntimeParts, Scrubber, UnattendedApprover};
use lango_scripted::{Script, ScriptedServer};
use lango_store::{Database, DatabaseLocation, Journal};
use lango_tool::ToolRegistry;
use tokio_util::sync::CancellationToken;

use crate::serve::{listen, serve};

/// The replies that the kit expects of the agent.
const SCRIPT: &str = include_str!("a2a_kit.toml");
/// The media type that the kit sends as one that no agent supports.
const UNSUPPORTED_MEDIA_TYPE: &str = "application/x-unsupported-tck-type";

/// Serves the team at a port of this machine, until a signal ends it.
pub async fn serve_a2a_kit(port: u16) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
    let database = Database::open(&location).await?;
    let model =
        ScriptedServer::start_without_history(Script::parse("a2a_kit.toml", SCRIPT)?).await?;
    let (runtime, agents) = team(&database, &model).await?;
    let listener = listen(port).await?;
    let files = (directory.path().join("vault.key"), directory.path().join("run"));
    let vault = KeyStoreSettings::new(files.0, files.1);
    let endpoint = A2aEndpoint::open(A2aEndpointParts {
        database: database.clone(),
        key_store: KeyStore::open(database.clone(), vault).await?,
        teams: Arc::new(runtime),
        exposed: Arc::new(agents),
        card: CardSettings {
            name: "Lango".to_owned(),
            description: "A team of agents for the test kit".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            base_url: format!("http://{}", listener.address()),
            provider: None,
            documentation_url: None,
            bearer: false,
        },
        signer: None,
        notifications: Some(Guard::new(local_webhooks()?)),
        settings: settings(),
    })
    .await?;
    let closing = CancellationToken::new();
    let (closed, streams) = (closing.clone(), endpoint.clone());
    tokio::spawn(async move {
        closed.cancelled().await;
        streams.close().await;
    });
    serve(listener, database, endpoint.router(), closing).await
}

fn settings() -> Settings {
    let mut settings =
        Settings { callers_are_known: false, speak_03: false, ..Settings::default() };
    settings.input_modes.push(UNSUPPORTED_MEDIA_TYPE.to_owned());
    settings
}

/// Lets notifications reach this machine.
fn local_webhooks() -> Result<Rules> {
    let local = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
    Ok(Rules::parse(&local, &[], &[])?)
}

/// Builds the standard team without tools.
async fn team(database: &Database, model: &ScriptedServer) -> Result<(Runtime, Vec<CardAgent>)> {
    let topology = Topology::standard()?;
    let tree = build_agent_tree(AgentTreeConfig {
        multi_agent: true,
        topology: &topology,
        tools: &ToolRegistry::new(),
        max_delegation_rounds: 0,
        sub_agent_prompt: None,
        remote_agents: Vec::new(),
        prompts: &PromptSections::default(),
    })?;
    let agents = CardAgent::from_tree(&tree, Some(&topology));
    let id = ModelId::new("script", "scripted");
    let model = RemoteModel::new(Endpoint::new(id, Wire::OpenAi, model.base_url()))?;
    let runtime = Runtime::new(RuntimeParts {
        tree,
        model: AgentModel { model: Arc::new(model), options: ReplyOptions::default() },
        agent_models: BTreeMap::new(),
        journal: Journal::open(database.clone()).await?,
        approver: Arc::new(UnattendedApprover),
        rules: RuleBook::default(),
        context: Vec::new(),
        observers: Vec::new(),
        advisor: None,
        spend_guard: None,
        scrubber: Scrubber::default(),
        key_store: None,
        settings: lango_runtime::Settings::default(),
        workspace: String::new(),
        remote_agents: BTreeMap::new(),
    });
    Ok((runtime, agents))
}
