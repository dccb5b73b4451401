//! Starts a server with a single agent and a model that always gives the same answer.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lango_model::{Endpoint, ModelId, RemoteModel, ReplyOptions, Wire};
use lango_orchestration::{AgentTreeConfig, PromptSections, Topology, build_agent_tree};
use lango_runtime::{
    AgentModel, RuleBook, Runtime, RuntimeParts, Scrubber, Settings, UnattendedApprover,
};
use lango_scripted::{Script, ScriptedServer};
use lango_server::{
    AccessControl, AccessParts, Callers, Endpoints, HostGate, Listener, OpenAiEndpoint,
    OpenAiParts, combine_routes,
};
use lango_store::testing::open;
use lango_store::{DatabaseLocation, Journal};
use lango_tool::ToolRegistry;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

pub(crate) struct TestServer {
    pub(crate) callers: Callers,
    pub(crate) journal: Journal,
    pub(crate) owner: String,
    pub(crate) model: ScriptedServer,
    address: SocketAddr,
    stop: CancellationToken,
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl TestServer {
    pub(crate) async fn start(location: &DatabaseLocation) -> Self {
        let script = Script::parse("test", "[[reply]]\nsay = \"Yes.\"\n").unwrap();
        let model = ScriptedServer::start(script).await.unwrap();
        let id = ModelId::new("script", "scripted");
        let endpoint = Endpoint::new(id, Wire::OpenAi, model.base_url());
        let remote_model = Arc::new(RemoteModel::new(endpoint).unwrap());
        let topology = Topology::standard().unwrap();
        let tree = build_agent_tree(AgentTreeConfig {
            multi_agent: true,
            topology: &topology,
            tools: &ToolRegistry::new(),
            max_delegation_rounds: 0,
            sub_agent_prompt: None,
            remote_agents: Vec::new(),
            prompts: &PromptSections::default(),
        })
        .unwrap();
        let database = open(location).await;
        let journal = Journal::open(database.clone()).await.unwrap();
        let runtime = Runtime::new(RuntimeParts {
            tree,
            model: AgentModel { model: remote_model, options: ReplyOptions::default() },
            agent_models: BTreeMap::new(),
            journal: journal.clone(),
            approver: Arc::new(UnattendedApprover),
            rules: RuleBook::default(),
            context: Vec::new(),
            observers: Vec::new(),
            advisor: None,
            spend_guard: None,
            scrubber: Scrubber::default(),
            key_store: None,
            settings: Settings::default(),
            workspace: String::new(),
            remote_agents: BTreeMap::new(),
        });
        let callers = Callers::open(database.clone()).await.unwrap();
        let owner = callers.create_owner_token(true).await.unwrap().unwrap().reveal().to_owned();
        let access = AccessControl::new(AccessParts {
            gate: HostGate::default(),
            callers: callers.clone(),
            owner_token: None,
            open: false,
            notice: Arc::new(|_| ()),
        });
        let closing = CancellationToken::new();
        let openai = OpenAiEndpoint::open(OpenAiParts {
            teams: Arc::new(runtime),
            database: database.clone(),
            journal: journal.clone(),
            closing: closing.clone(),
        });
        let endpoints = Endpoints {
            openai: Some(openai.await.unwrap()),
            others: Vec::new(),
            database,
            version: "1",
            running: Arc::new(|| 0),
        };
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.address();
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let routes = combine_routes(Arc::new(access.unwrap()), endpoints);
        tokio::spawn(listener.serve(routes, stopped, closing, Duration::ZERO, || false));
        Self { callers, journal, owner, model, address, stop }
    }

    /// Sends a request. Returns the status, the session and the body.
    pub(crate) async fn send(
        &self,
        token: &str,
        line: &str,
        headers: &str,
        body: &Value,
    ) -> (u16, String, Value) {
        let body = body.to_string();
        let request = format!(
            "{line} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\
             {headers}connection: close\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let session = head.lines().find_map(|line| line.strip_prefix("x-lango-session: "));
        let json = serde_json::from_str(body).unwrap_or_default();
        (status, session.unwrap_or_default().to_owned(), json)
    }

    /// Requests a chat completion.
    pub(crate) async fn chat(
        &self,
        token: &str,
        headers: &str,
        messages: &[(&str, &str)],
    ) -> (u16, String, Value) {
        let messages: Vec<Value> = messages
            .iter()
            .map(|(role, text)| serde_json::json!({ "role": role, "content": text }))
            .collect();
        let body = serde_json::json!({ "model": "lango", "messages": messages });
        self.send(token, "POST /v1/chat/completions", headers, &body).await
    }
}
