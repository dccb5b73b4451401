//! Starts a server on loopback with a real runtime, a scripted model, and callers chosen by a
//! header.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::extract::Request;
use axum::middleware::Next;
use futures_util::StreamExt as _;
use lango_a2a::server::{A2aEndpoint, A2aEndpointParts, CardAgent, CardSettings, Settings};
use lango_a2a::signature::CardSigner;
use lango_egress::{Guard, Rules};
use lango_keystore::{DerivationCost, KeyStore, KeyStoreSettings};
use lango_model::{Endpoint, ModelId, RemoteModel, ReplyOptions, Wire};
use lango_orchestration::{AgentTreeConfig, PromptSections, Topology, build_agent_tree};
use lango_protocol::Caller;
use lango_runtime::{
    AgentModel, ApprovalAnswer, ApprovalFuture, ApprovalRequest, Approver, RuleBook, Runtime,
    RuntimeParts, Scrubber,
};
use lango_scripted::{Script, ScriptedServer};
use lango_store::{Database, DatabaseLocation, Journal};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError, ToolRegistry};
use serde_json::{Value, json};

/// A script that transfers everything to the planner, and replies as the message's text asks.
pub(crate) const SCRIPT: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "small talk"
say = "Hello to you."

[[reply]]
agent = "lango-orchestrator"
user = "dangerous"
offers = "transfer_to_agent"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Do it." } }]

[[reply]]
agent = "operator"
user = "reject"
say = "[REJECT] no agent can do this"

[[reply]]
agent = "operator"
results = 0
call = [{ name = "exec_touch", arguments = { } }]

[[reply]]
agent = "operator"
say = "Done with it: {result}"

[[reply]]
agent = "lango-orchestrator"
user = "reject"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "x" } }]

[[reply]]
agent = "lango-orchestrator"
offers = "transfer_to_agent"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Answer." } }]

[[reply]]
user = "reject"
say = "[REJECT] no agent can do this"

[[reply]]
user = "broken"
error = "auth"

[[reply]]
user = "question"
say = "[ASK] Which one?"

[[reply]]
user = "slow"
delay_ms = 60000
say = "Never heard."

[[reply]]
user = "soon"
delay_ms = 700
say = "It took a moment."

[[reply]]
user = "drip"
fault = "drip"
drip_ms = 1
say = "One two three four five six seven eight nine ten. "
repeat = 5

[[reply]]
user = "data"
say = """
```json
{ "key": "value" }
```"""

[[reply]]
say = "The answer."
"#;

/// A tool that claims to change something.
pub(crate) struct Touch {
    runs: Arc<AtomicU32>,
}

#[derive(Clone, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct NoArguments {}

impl Tool for Touch {
    type Arguments = NoArguments;
    type Output = String;
    const NAME: &'static str = "exec_touch";
    const DESCRIPTION: &'static str = "Changes something.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(&self, _: NoArguments, _: ToolContext) -> Result<String, ToolError> {
        Ok(format!("run {}", self.runs.fetch_add(1, Ordering::AcqRel) + 1))
    }
}

/// Leaves every question pending in the journal, as a server does.
struct DeferringApprover;

impl Approver for DeferringApprover {
    fn ask(&self, _: ApprovalRequest) -> ApprovalFuture {
        Box::pin(std::future::pending::<ApprovalAnswer>())
    }
}

/// The options of a server.
#[derive(Default)]
pub(crate) struct ServerOptions {
    pub(crate) script: Option<String>,
    pub(crate) settings: Settings,
    pub(crate) bearer: bool,
    pub(crate) signer: Option<CardSigner>,
    /// True if webhooks on loopback may be reached.
    pub(crate) webhooks: bool,
}

/// A server under test.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) endpoint: A2aEndpoint,
    pub(crate) runtime: Runtime,
    pub(crate) model: ScriptedServer,
    pub(crate) runs: Arc<AtomicU32>,
    client: reqwest::Client,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Opens the vault of a database, as every process with it does.
pub(crate) async fn open_key_store(location: &DatabaseLocation, database: Database) -> KeyStore {
    let directory = match location {
        DatabaseLocation::Sqlite(path) => path.parent().unwrap().to_owned(),
        DatabaseLocation::Postgres(url) => {
            let name: String = url.chars().filter(char::is_ascii_alphanumeric).collect();
            std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
        }
    };
    let settings = KeyStoreSettings {
        derivation_cost: DerivationCost { memory_kib: 64, passes: 1 },
        ..KeyStoreSettings::new(directory.join("vault.key"), directory.join("run"))
    };
    KeyStore::open(database, settings).await.unwrap()
}

/// Starts a server over the database at `location`.
pub(crate) async fn serve(location: &DatabaseLocation, options: ServerOptions) -> Server {
    // Only the first test of a process installs it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runs = Arc::new(AtomicU32::new(0));
    let mut tools = ToolRegistry::new();
    tools.add(Touch { runs: Arc::clone(&runs) }).unwrap();
    let topology = Topology::standard().unwrap();
    let tree = build_agent_tree(AgentTreeConfig {
        multi_agent: true,
        topology: &topology,
        tools: &tools,
        max_delegation_rounds: 0,
        sub_agent_prompt: None,
        remote_agents: Vec::new(),
        prompts: &PromptSections::default(),
    })
    .unwrap();
    let agents = CardAgent::from_tree(&tree, Some(&topology));
    let script = options.script.as_deref().unwrap_or(SCRIPT);
    let model = ScriptedServer::start(Script::parse("test", script).unwrap()).await.unwrap();
    let id = ModelId::new("script", "scripted");
    let remote = RemoteModel::new(Endpoint::new(id, Wire::OpenAi, model.base_url())).unwrap();
    let database = Database::open(location).await.unwrap();
    let runtime = Runtime::new(RuntimeParts {
        tree,
        model: AgentModel { model: Arc::new(remote), options: ReplyOptions::default() },
        agent_models: BTreeMap::new(),
        journal: Journal::open(database.clone()).await.unwrap(),
        approver: Arc::new(DeferringApprover),
        rules: RuleBook::default(),
        context: Vec::new(),
        observers: Vec::new(),
        advisor: None,
        spend_guard: None,
        scrubber: Scrubber::default(),
        key_store: None,
        settings: lango_runtime::Settings::default(),
        workspace: "/a/place/on/this/machine".to_owned(),
        remote_agents: BTreeMap::new(),
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let allowed = if options.webhooks { vec!["127.0.0.1".to_owned()] } else { Vec::new() };
    let key_store = open_key_store(location, database.clone()).await;
    let endpoint = A2aEndpoint::open(A2aEndpointParts {
        database,
        key_store,
        teams: Arc::new(runtime.clone()),
        exposed: Arc::new(agents),
        card: CardSettings {
            name: "Lango".to_owned(),
            description: "A team under test".to_owned(),
            version: "1.2.3".to_owned(),
            base_url: url.clone(),
            provider: None,
            documentation_url: None,
            bearer: options.bearer,
        },
        signer: options.signer,
        notifications: Some(Guard::new(Rules::parse(&allowed, &[], &[]).unwrap())),
        settings: options.settings,
    })
    .await
    .unwrap();
    endpoint.resume_unfinished().await.unwrap();
    let layer = axum::middleware::from_fn(|mut request: Request, next: Next| async move {
        let name = request.headers().get("x-caller").and_then(|name| name.to_str().ok());
        let caller: Caller = name.unwrap_or("ada").parse().unwrap();
        request.extensions_mut().insert(caller);
        next.run(request).await
    });
    let router = endpoint.router().layer(layer);
    let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    Server { url, endpoint, runtime, model, runs, client, serving }
}

/// Returns a message with this text.
pub(crate) fn message(id: &str, text: &str) -> Value {
    json!({ "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] })
}

/// Returns a request with this text and a new id.
pub(crate) fn send(text: &str) -> Value {
    json!({ "message": message(&uuid::Uuid::new_v4().to_string(), text) })
}

/// Returns a request with a further message of a task.
pub(crate) fn send_to(task: &str, text: &str) -> Value {
    let mut request = send(text);
    request["message"]["taskId"] = json!(task);
    request
}

impl Server {
    pub(crate) async fn new() -> (Self, tempfile::TempDir) {
        Self::with_options(ServerOptions::default()).await
    }

    pub(crate) async fn with_options(options: ServerOptions) -> (Self, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
        (serve(&location, options).await, directory)
    }

    /// Sends a JSON-RPC request as a caller, and returns the whole answer.
    pub(crate) async fn rpc_as(&self, caller: &str, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let version = if method.contains('/') { "0.3" } else { "1.0" };
        let request = self.client.post(format!("{}/a2a", self.url)).header("x-caller", caller);
        let request =
            request.header("A2A-Version", version).header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }

    /// Returns the result of a request that must succeed.
    pub(crate) async fn rpc(&self, method: &str, params: Value) -> Value {
        let mut answer = self.rpc_as("ada", method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Returns the error code of a request that must fail.
    pub(crate) async fn rpc_error(&self, method: &str, params: Value) -> i64 {
        let answer = self.rpc_as("ada", method, params).await;
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method}: {answer}"))
    }

    /// Sends an HTTP+JSON request, and returns its status and body.
    pub(crate) async fn http_as(
        &self,
        caller: &str,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> (u16, Value) {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = self.client.request(method, format!("{}/a2a/v1/{path}", self.url));
        request = request.header("A2A-Version", "1.0").header("x-caller", caller);
        if let Some(body) = body {
            request = request.header("content-type", "application/a2a+json").body(body.to_string());
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.bytes().await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    pub(crate) async fn http(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        self.http_as("ada", method, path, body).await
    }

    /// Returns a request for what the other functions do not cover.
    pub(crate) fn raw(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    /// Opens a stream over JSON-RPC.
    pub(crate) async fn stream(&self, method: &str, params: Value) -> Events {
        self.stream_if_any(method, params).await.expect("a stream")
    }

    /// Opens a stream that may be refused.
    pub(crate) async fn stream_if_any(&self, method: &str, params: Value) -> Option<Events> {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let version = if method.contains('/') { "0.3" } else { "1.0" };
        let request = self.client.post(format!("{}/a2a", self.url)).header("A2A-Version", version);
        let request = request.header("content-type", "application/json").body(body.to_string());
        Events::if_any(request.send().await.unwrap())
    }

    /// Opens a stream over HTTP+JSON.
    pub(crate) async fn http_stream(&self, path: &str, body: Value) -> Events {
        let request = self.client.post(format!("{}/a2a/v1/{path}", self.url));
        let request =
            request.header("A2A-Version", "1.0").header("content-type", "application/json");
        Events::of(request.body(body.to_string()).send().await.unwrap())
    }

    /// Returns a task as soon as it is in this state.
    pub(crate) async fn task_in(&self, id: &str, state: &str) -> Value {
        for _ in 0..600 {
            let task = self.rpc("GetTask", json!({ "id": id })).await;
            if task["status"]["state"] == state {
                return task;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("{id} never came to be {state}");
    }
}

/// The events of a stream, one by one.
pub(crate) struct Events {
    body: futures_util::stream::BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    buffer: String,
}

impl Events {
    fn of(answer: reqwest::Response) -> Self {
        Self::if_any(answer).expect("a stream")
    }

    /// Returns none if the answer is not a stream.
    fn if_any(answer: reqwest::Response) -> Option<Self> {
        let is_stream = answer.headers()["content-type"] == "text/event-stream";
        is_stream.then(|| Self { body: answer.bytes_stream().boxed(), buffer: String::new() })
    }

    /// Returns the next event, without the envelope of JSON-RPC; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, _)) = self.buffer.split_once("\n\n") {
                let (data, length) = (event.strip_prefix("data: ").map(str::to_owned), event.len());
                self.buffer.drain(..length + 2);
                let Some(data) = data else { continue };
                let mut event: Value = serde_json::from_str(&data).unwrap();
                if event.get("jsonrpc").is_some() {
                    event = event["result"].take();
                }
                return Some(event);
            }
            let piece = self.body.next().await?.unwrap();
            self.buffer.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    pub(crate) async fn all(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }
}

/// Returns the task as a client knows it that applies every event of a stream.
pub(crate) fn seen(events: &[Value]) -> Value {
    let mut task = Value::Null;
    for event in events {
        if let Some(whole) = event.get("task") {
            task = whole.clone();
        } else if let Some(update) = event.get("statusUpdate") {
            task["status"] = update["status"].clone();
        } else if let Some(update) = event.get("artifactUpdate") {
            apply_artifact(&mut task, update);
        }
    }
    task
}

fn apply_artifact(task: &mut Value, update: &Value) {
    if task["artifacts"].is_null() {
        task["artifacts"] = json!([]);
    }
    let artifacts = task["artifacts"].as_array_mut().unwrap();
    let id = &update["artifact"]["artifactId"];
    let known = artifacts.iter_mut().find(|artifact| artifact["artifactId"] == *id);
    match known {
        None => {
            assert_eq!(update["append"], false, "something is appended to nothing: {update}");
            artifacts.push(update["artifact"].clone());
        }
        Some(known) if update["append"] == true => {
            let more = update["artifact"]["parts"][0]["text"].as_str().unwrap();
            let text = known["parts"][0]["text"].as_str().unwrap().to_owned() + more;
            known["parts"][0]["text"] = json!(text);
        }
        Some(known) => *known = update["artifact"].clone(),
    }
}
