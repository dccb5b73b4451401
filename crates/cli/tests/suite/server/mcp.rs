//! The team as an MCP server, for clients made with the official kit.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, Implementation, ProgressNotificationParam,
    ReadResourceRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt as _};
use serde_json::{Value, json};

use super::{ECHO, Server, add_caller, turns};
use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::invocation::until;

/// A client that says yes to whatever it is asked, and remembers what it was told.
#[derive(Clone, Default)]
struct Client {
    progress: Arc<Mutex<Vec<String>>>,
    asked: Arc<Mutex<u32>>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        *self.asked.lock().unwrap() += 1;
        Ok(ElicitResult::new(ElicitationAction::Accept))
    }

    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(told.message.unwrap_or_default());
    }
}

type Connection = RunningService<RoleClient, Client>;

async fn over_http(server: &Server<'_>, token: &str) -> Connection {
    // A second call finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config =
        StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", server.address))
            .auth_header(token.to_owned());
    Client::default().serve(StreamableHttpClientTransport::from_config(config)).await.unwrap()
}

async fn over_stdio(lango: &Lango, arguments: &[&str]) -> Connection {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_lango"));
    command
        .args(["mcp", "serve"])
        .args(arguments)
        .current_dir(lango.workspace())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", lango.path("user"))
        .env("LANGO_HOME", lango.home())
        .env("LANGO_MODEL_DISCOVER", "false")
        .env("LANGO_OBSERVATIONALMEMORY_MODEL", "none")
        .env("OPENAI_BASE_URL", lango.base_url(lango_model::Wire::OpenAi));
    Client::default().serve(TokioChildProcess::new(command).unwrap()).await.unwrap()
}

async fn call(connection: &Connection, tool: &str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    connection.call_tool(request).await.unwrap()
}

fn text(result: &CallToolResult) -> String {
    result.content[0].as_text().unwrap().text.clone()
}

const ANSWERS: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "again"
say = "As I said."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_is_told_what_a_call_did() {
    let stat = ("fs_stat", "{ path = \"README.md\" }");
    let script = [ANSWERS, TO_OPERATOR, &calling("operator", &[stat])];
    let lango = Lango::playing(&script).await;
    let token = add_caller(&lango, &["laptop"]).await;
    let server = Server::start(&lango, &[]).await;
    let connection = over_http(&server, &token).await;
    let answer = call(&connection, "ask", json!({ "message": "how large is it?" })).await;
    assert_ne!(answer.is_error, Some(true), "{answer:?}");
    let told = connection.service().progress.lock().unwrap().clone();
    assert!(told.iter().any(|line| line == "operator: fs_stat ok"), "{told:?}");
    assert!(!told.iter().any(|line| line.contains("README.md")), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_team_is_asked_over_stdio_and_over_http() {
    let stat = ("fs_stat", "{ path = \"README.md\" }");
    let script = [ANSWERS, TO_OPERATOR, &calling("operator", &[stat])];
    let lango = Lango::playing(&script).await;
    let server = Server::start(&lango, &[]).await;
    for connection in [over_stdio(&lango, &[]).await, over_http(&server, &server.token).await] {
        let tools = connection.list_all_tools().await.unwrap();
        assert_eq!(tools.len(), 1, "{tools:?}");
        assert_eq!(tools[0].name, "ask");
        let answer = call(&connection, "ask", json!({ "message": "how large is it?" })).await;
        assert_ne!(answer.is_error, Some(true));
        let structured = answer.structured_content.clone().unwrap();
        assert_eq!(structured["agent"], "operator", "{structured}");
        assert_eq!(structured["outcome"], "done");
        assert!(text(&answer).contains("README.md"));
        let session = structured["session"].as_str().unwrap();
        let asked = json!({ "message": "say it again", "session": session });
        let again = call(&connection, "ask", asked).await.structured_content.unwrap();
        assert_eq!(again["session"], session);
        assert_eq!(again["answer"], "As I said.");
        let told = connection.service().progress.lock().unwrap().clone();
        let did = "operator: `README.md` is a file";
        for step in ["operator takes over", "operator calls fs_stat", did] {
            assert!(told.iter().any(|line| line.starts_with(step)), "{step}: {told:?}");
        }
        let listed = connection.list_all_resources().await.unwrap();
        let uri = format!("lango://sessions/{session}");
        assert!(listed.iter().any(|resource| resource.uri == uri), "{listed:?}");
        let read = connection.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
        let read = serde_json::to_string(&read).unwrap();
        assert!(read.contains("user: how large is it?") && read.contains("As I said."), "{read}");
        let wrong = CallToolRequestParams::new("exec_shell");
        assert!(connection.call_tool(wrong).await.is_err());
        connection.cancel().await.unwrap();
    }
    assert_eq!(turns(&lango).await, (4, 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn d10_conversations_and_connections_of_one_caller_are_not_there_for_another() {
    let lango = Lango::playing(&[ECHO]).await;
    let (one, other) = (add_caller(&lango, &["one"]).await, add_caller(&lango, &["other"]).await);
    let server = Server::start(&lango, &[]).await;
    let first = over_http(&server, &one).await;
    let answer = call(&first, "ask", json!({ "message": "hello" })).await;
    let session = answer.structured_content.unwrap()["session"].as_str().unwrap().to_owned();
    let second = over_http(&server, &other).await;
    let foreign = call(&second, "ask", json!({ "message": "x", "session": session })).await;
    assert_eq!(foreign.is_error, Some(true));
    assert!(second.list_all_resources().await.unwrap().is_empty());
    let uri = format!("lango://sessions/{session}");
    assert!(second.read_resource(ReadResourceRequestParams::new(uri)).await.is_err());
    assert_eq!(turns(&lango).await, (1, 1));

    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "x", "version": "1" } } });
    let accept = "application/json, text/event-stream";
    let request = server.of(&one, "POST", "/mcp").header("accept", accept).json(&begin);
    let mut stream = request.begin().await;
    let head = super::http::read_until(&mut stream, "\r\n\r\n").await;
    let id = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned))
        .unwrap();
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let asking = |token: &str| {
        server
            .of(token, "POST", "/mcp")
            .header("accept", accept)
            .header("mcp-session-id", id.trim())
            .json(&list)
    };
    assert_eq!(asking(&other).send().await.status, 404);
    // Closing what one does not have closes nothing.
    let request = server.of(&other, "DELETE", "/mcp").header("mcp-session-id", id.trim());
    request.send().await;
    let mut own = asking(&one).begin().await;
    super::http::read_until(&mut own, "HTTP/1.1 200").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_agents_are_called_with_what_holds_for_every_call() {
    let lango = Lango::silent().await;
    std::fs::write(lango.workspace().join("long.txt"), "0123456789\n".repeat(5000)).unwrap();
    let connection = over_stdio(&lango, &["--tools", "operator"]).await;
    let tools = connection.list_all_tools().await.unwrap();
    let hint = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        tool.annotations.as_ref().unwrap().read_only_hint
    };
    assert_eq!((hint("fs_read"), hint("exec_shell")), (Some(true), Some(false)));
    assert!(!tools.iter().any(|tool| tool.name.starts_with("browser_")));
    let read = call(&connection, "fs_read", json!({ "path": "README.md" })).await;
    assert!(text(&read).contains("Three lines."), "{read:?}");
    assert_ne!(read.is_error, Some(true));
    let outside = call(&connection, "fs_read", json!({ "path": "../home/lango.db" })).await;
    assert_eq!(outside.is_error, Some(true), "{outside:?}");
    let wrong = call(&connection, "fs_read", json!({ "way": 1 })).await;
    assert_eq!(wrong.is_error, Some(true), "{wrong:?}");
    // Two calls at once do not wait for each other's session.
    let (one, two) = tokio::join!(
        call(&connection, "fs_stat", json!({ "path": "README.md" })),
        call(&connection, "fs_stat", json!({ "path": "long.txt" })),
    );
    assert!(one.is_error != Some(true) && two.is_error != Some(true), "{one:?} {two:?}");

    // What needs an approval waits for the owner. The client is not asked, although it would say yes.
    let peer = connection.clone();
    let waiting = tokio::spawn(async move {
        let Value::Object(arguments) = json!({ "command": "touch done.txt" }) else {
            unreachable!()
        };
        let request = CallToolRequestParams::new("exec_shell").with_arguments(arguments);
        peer.call_tool(request).await
    });
    let progress = Arc::clone(&connection.service().progress);
    let waits = |line: &String| line.contains("waits for the approval of the owner");
    until("it waits", || progress.lock().unwrap().iter().any(waits)).await;
    assert!(!lango.workspace().join("done.txt").exists());
    assert_eq!(*connection.service().asked.lock().unwrap(), 0);
    let pending = lango.command(&["approvals", "list", "--json"]).run().await;
    let pending: Value = serde_json::from_str(&pending.stdout).unwrap();
    assert_eq!(pending["waiting"][0]["agent"], "operator", "{pending}");
    let id = pending["waiting"][0]["id"].as_str().unwrap();
    assert_eq!(lango.command(&["approvals", "approve", id]).run().await.code, 0);
    let done = waiting.await.unwrap().unwrap();
    assert_ne!(done.is_error, Some(true), "{done:?}");
    assert!(lango.workspace().join("done.txt").exists());
    connection.cancel().await.unwrap();
    // Every call is a turn of the journal.
    let (all, _) = turns(&lango).await;
    assert_eq!(all, 6);
    assert_eq!(lango.received().len(), 0, "no model was asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_stops_its_turn_and_so_does_a_client_that_leaves() {
    let script = super::slow(20_000, "Too late.");
    let lango = Lango::playing(&[&script]).await;
    let connection = over_stdio(&lango, &[]).await;
    let Value::Object(arguments) = json!({ "message": "slow" }) else { unreachable!() };
    let request = CallToolRequestParams::new("ask").with_arguments(arguments);
    let handle = connection
        .send_cancellable_request(
            rmcp::model::ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(
                request.clone(),
            )),
            rmcp::service::PeerRequestOptions::no_options(),
        )
        .await
        .unwrap();
    until("the model is asked", || lango.received().len() == 1).await;
    handle.cancel(Some("enough".to_owned())).await.unwrap();
    let peer = connection.clone();
    tokio::spawn(async move { peer.call_tool(request).await });
    until("the model is asked again", || lango.received().len() == 2).await;
    connection.cancel().await.unwrap();
    // Both turns have ended, in the journal too.
    let ended = async {
        loop {
            let resume = lango.command(&["sessions", "list", "--json"]).run().await;
            let listed: Value = serde_json::from_str(&resume.stdout).unwrap();
            let open = |session: &Value| session["unfinished"] == true;
            if listed.as_array().unwrap().len() == 2 && !listed.as_array().unwrap().iter().any(open)
            {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ended).await.expect("a turn goes on");
    assert_eq!(turns(&lango).await, (2, 0));
}
