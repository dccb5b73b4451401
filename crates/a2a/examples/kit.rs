//! A server for the protocol's test kit, until `lango serve` can be started for it:
//! `cargo run -p lango-a2a --example kit -- PORT SCRIPT [TOKEN]`.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use lango_a2a::server::{A2aDoor, CardAgent, CardSettings, DoorParts, Settings};
use lango_egress::{Guard, Rules};
use lango_model::scripted::{Script, ScriptedServer};
use lango_model::{Endpoint, ModelId, Options, RemoteModel, Wire};
use lango_orchestration::{Config, PromptSections, Topology, build_agent_tree};
use lango_protocol::Caller;
use lango_runtime::{AgentModel, NobodyToAsk, RuleBook, Runtime, RuntimeParts, Scrubber};
use lango_store::{Database, DatabaseLocation, Journal};
use lango_tool::ToolRegistry;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().unwrap().parse().unwrap();
    let script = arguments.next().unwrap();
    let legacy = arguments.next().as_deref() == Some("legacy");
    let topology = Topology::standard().unwrap();
    let tree = build_agent_tree(Config {
        multi_agent: true,
        topology: &topology,
        tools: &ToolRegistry::new(),
        max_delegation_rounds: 0,
        sub_agent_prompt: None,
        remote_agents: Vec::new(),
        prompts: &PromptSections::default(),
    })
    .unwrap();
    let agents = CardAgent::all_of(&tree, Some(&topology));
    let script = Script::parse("kit", &std::fs::read_to_string(script).unwrap()).unwrap();
    let server = ScriptedServer::start(script).await.unwrap();
    let endpoint =
        Endpoint::new(ModelId::new("script", "scripted"), Wire::OpenAi, server.base_url());
    let model = Arc::new(RemoteModel::new(endpoint).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
    let database = Database::open(&location).await.unwrap();
    let runtime = Runtime::new(RuntimeParts {
        tree,
        model: AgentModel { model, options: Options::default() },
        agent_models: BTreeMap::new(),
        journal: Journal::open(database.clone()).await.unwrap(),
        approver: Arc::new(NobodyToAsk),
        rules: RuleBook::default(),
        context: Vec::new(),
        observers: Vec::new(),
        advisor: None,
        scrubber: Scrubber::default(),
        settings: lango_runtime::Settings::default(),
        workspace: String::new(),
        remote_agents: BTreeMap::new(),
    });
    let allowed = ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
    let rules = Rules::parse(&allowed, &[], &[]).unwrap();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let mut settings =
        Settings { callers_are_known: false, speak_03: legacy, ..Settings::default() };
    if std::env::var_os("KIT_PINNED").is_some() {
        settings.input_modes.push("application/x-unsupported-tck-type".to_owned());
    }
    let door = A2aDoor::open(DoorParts {
        database,
        teams: Arc::new(runtime),
        exposed: Arc::new(agents),
        card: CardSettings {
            name: "Lango".to_owned(),
            description: "A team of agents".to_owned(),
            version: "0.1.0".to_owned(),
            base_url: base_url.clone(),
            provider: None,
            documentation_url: None,
            bearer: false,
        },
        signer: None,
        notifications: Some(Guard::new(rules)),
        settings,
    })
    .await
    .unwrap();
    let layer = axum::middleware::from_fn(|mut request: Request, next: Next| async move {
        request.extensions_mut().insert("anybody".parse::<Caller>().unwrap());
        next.run(request).await
    });
    println!("{base_url}");
    axum::serve(listener, door.router().layer(layer)).await.unwrap();
}
