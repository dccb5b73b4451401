//! Measures what a turn with a remote agent costs here. The agent and the model are processes of
//! their own, so that their work is not counted.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::future::join_all;
use lango_a2a::remote::{Directory, RemoteConfig, RemoteLimits, card_url, team};
use lango_egress::Rules;
use lango_model::ReplyOptions;
use lango_orchestration::{AgentTreeConfig, PromptSections, Topology, build_agent_tree};
use lango_protocol::{MessageOrigin, SessionId};
use lango_runtime::{
    AgentModel, RuleBook, Runtime, RuntimeParts, Scrubber, Settings, TurnRequest,
    UnattendedApprover,
};
use lango_scripted::{Script, ScriptedServer};
use lango_store::{Database, DatabaseLocation, Journal};
use lango_tool::ToolRegistry;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::worker::{chain, cpu, per, since};
use crate::{REPEATS, figures, finish, until_input_ends, with_server};

const SESSIONS: u32 = 64;
const TURNS_EACH: u32 = 25;
const WARM_UP: u32 = 2;

/// The three kinds of turns, told apart by what the user says.
const SCRIPT: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "remote"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "weather", task = "Say how it is." } }]
[[reply]]
agent = "lango-orchestrator"
user = "plan"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Say how it is." } }]
[[reply]]
say = "It is cold and clear, with some wind from the east, and it will stay like this until tomorrow."
"#;

/// The figures, as a table.
pub(crate) fn measure() -> Result<()> {
    with_server("serve-remote-model", |own, model| {
        with_server("serve-remote-agent", |_, agent| measure_with(own, model, agent))
    })
}

fn measure_with(own: &Path, model: &str, agent: &str) -> Result<()> {
    let mut figures: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for _ in 0..REPEATS {
        for kind in ["hello", "plan", "remote"] {
            let arguments = ["remote-worker", kind, model, agent];
            let output = Command::new(own).args(arguments).output()?;
            if !output.status.success() {
                bail!("{kind}: {}", String::from_utf8_lossy(&output.stderr));
            }
            let figure: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
            figures.entry(kind).or_default().push(figure);
        }
    }
    let of = |kind: &str| figures.get(kind).cloned().context("a figure is missing");
    let (direct, local, remote) = (of("hello")?, of("plan")?, of("remote")?);
    let added = remote.iter().zip(&direct).map(|(remote, direct)| remote - direct).collect();
    let mut table = figures::Table::default();
    table.add("turn that is answered at once, 64 at once, CPU-ms", None, direct);
    table.add("turn with an agent of this process, 64 at once, CPU-ms", None, local);
    table.add("turn with a remote agent, 64 at once, CPU-ms", None, remote);
    table.add("what the remote agent adds, CPU-ms", Some(1.0), added);
    finish(&table)
}

/// Measures one kind of turn and prints one number.
pub(crate) async fn work(kind: &str, model: &str, agent: &str) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
    let database = Database::open(&location).await?;
    let config = RemoteConfig {
        name: "weather".parse()?,
        description: None,
        card_url: card_url(agent)?,
        token: None,
        token_env: None,
        allow_hosts: Vec::new(),
        card_keys: Vec::new(),
        rules: Rules::default(),
        streaming: true,
        limits: RemoteLimits::default(),
        token_secret: None,
    };
    let timeout = Duration::from_secs(5);
    let remote_directory = Directory::open(database.clone(), vec![config], timeout).await?;
    let statuses = remote_directory.check_agents().await;
    if let Some(warning) = statuses.iter().find_map(lango_a2a::remote::RemoteStatus::warning) {
        bail!("{warning}");
    }
    let (specs, remote_agents) = team(&statuses);
    let tree = build_agent_tree(AgentTreeConfig {
        multi_agent: true,
        topology: &Topology::standard()?,
        tools: &ToolRegistry::new(),
        max_delegation_rounds: 0,
        sub_agent_prompt: None,
        remote_agents: specs,
        prompts: &PromptSections::default(),
    })?;
    let runtime = Runtime::new(RuntimeParts {
        tree,
        model: AgentModel { model: Arc::new(chain(model)?), options: ReplyOptions::default() },
        agent_models: BTreeMap::new(),
        journal: Journal::open(database).await?,
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
        remote_agents,
    });
    all(&runtime, kind, WARM_UP).await?;
    let before = cpu();
    all(&runtime, kind, TURNS_EACH).await?;
    let figure = per(since(before), SESSIONS * TURNS_EACH);
    writeln!(std::io::stdout(), "{figure}")?;
    Ok(())
}

/// So many turns in each of 64 conversations, all conversations at once.
async fn all(runtime: &Runtime, kind: &str, turns: u32) -> Result<()> {
    let conversations = (0..SESSIONS).map(|number| async move {
        let session: SessionId = format!("{kind}-{number}-{turns}").parse()?;
        for _ in 0..turns {
            let request = TurnRequest::new(session.clone(), kind, MessageOrigin::Library);
            let outcome = runtime.start_turn(request).wait_for_outcome().await?;
            let agents = if kind == "hello" { 1 } else { 2 };
            if !outcome.is_done() || outcome.work.agents.len() != agents {
                bail!("not the turn that should be measured: {outcome:?}");
            }
        }
        Ok(())
    });
    join_all(conversations).await.into_iter().collect()
}

/// Serves the model until the other end of standard input closes.
pub(crate) async fn serve_model() -> Result<()> {
    let server = ScriptedServer::start_without_history(Script::parse("remote", SCRIPT)?).await?;
    until_input_ends(&server.base_url()).await
}

/// Serves an agent that has its answer ready, until the other end of standard input closes.
pub(crate) async fn serve_agent() -> Result<()> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = format!("http://{}", listener.local_addr()?);
    let card = card(&address);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let card = card.clone();
            tokio::spawn(async move {
                // A caller that goes away has what it wanted.
                let _ = answer(stream, &card).await;
            });
        }
    });
    until_input_ends(&address).await
}

fn card(address: &str) -> String {
    format!(
        r#"{{"name":"weather","description":"Knows the weather.","version":"1.0","supportedInterfaces":[{{"url":"{address}/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}],"capabilities":{{"streaming":true}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{{"id":"weather","name":"weather","description":"The weather anywhere.","tags":["weather"]}}]}}"#
    )
}

/// The requests of one connection, one after the other.
async fn answer(mut stream: tokio::net::TcpStream, card: &str) -> Result<()> {
    let mut buffer = Vec::new();
    loop {
        let head = loop {
            if let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        };
        let header = String::from_utf8_lossy(&buffer[..head]).to_lowercase();
        let length = header
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .map_or(Ok(0), |length| length.trim().parse::<usize>())?;
        while buffer.len() < head + length {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        let request: serde_json::Value =
            serde_json::from_slice(&buffer[head..head + length]).unwrap_or_default();
        buffer.drain(..head + length);
        let (kind, body) = if length == 0 {
            ("application/json", card.to_owned())
        } else {
            ("text/event-stream", events(&request))
        };
        let response = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(response.as_bytes()).await?;
    }
}

/// A task from its beginning to its end.
fn events(request: &serde_json::Value) -> String {
    let id = &request["id"];
    let message = &request["params"]["message"];
    let task = format!("task-{}", message["messageId"].as_str().unwrap_or_default());
    let context = message["contextId"].as_str().unwrap_or("context");
    let ids = format!(r#""taskId":"{task}","contextId":"{context}""#);
    let words = "It is cold and clear, with some wind from the east.";
    let results = [
        format!(
            r#"{{"task":{{"id":"{task}","contextId":"{context}","status":{{"state":"TASK_STATE_WORKING"}}}}}}"#
        ),
        format!(
            r#"{{"artifactUpdate":{{{ids},"artifact":{{"artifactId":"a","parts":[{{"text":"{words}"}}]}},"lastChunk":true}}}}"#
        ),
        format!(r#"{{"statusUpdate":{{{ids},"status":{{"state":"TASK_STATE_COMPLETED"}}}}}}"#),
    ];
    let event = |result: &String| {
        format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n\n")
    };
    results.iter().map(event).collect()
}
