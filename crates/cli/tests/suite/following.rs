//! A turn can be followed by anybody, from any point, and nothing is lost or repeated.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lango_model::{Endpoint, ModelId, RemoteModel, ReplyOptions, Wire};
use lango_orchestration::{AgentTree, AgentTreeConfig, PromptSections, Topology, build_agent_tree};
use lango_protocol::{AgentName, Event, EventBody, MessageOrigin, OutcomeStatus, SessionId};
use lango_runtime::{
    AgentModel, RuleBook, Runtime, RuntimeParts, Scrubber, Settings, TurnRequest, TurnSubscription,
    UnattendedApprover,
};
use lango_scripted::{Script, ScriptedServer};
use lango_store::{Database, DatabaseLocation, Journal};
use lango_tool::ToolRegistry;
use tempfile::TempDir;

/// The planner is slow enough to be watched.
const SCRIPT: &str = r#"
[[reply]]
agent = "lango-orchestrator"
offers = "transfer_to_agent"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Plan." } }]
[[reply]]
agent = "planner"
delay_ms = 300
say = "one two three four five six seven eight nine ten "
repeat = 20
[[reply]]
say = "alone"
"#;

pub(crate) struct WatchedRuntime {
    pub(crate) runtime: Runtime,
    pub(crate) server: ScriptedServer,
    pub(crate) directory: TempDir,
}

fn tree(multi_agent: bool) -> AgentTree {
    build_agent_tree(AgentTreeConfig {
        multi_agent,
        topology: &Topology::standard().unwrap(),
        tools: &ToolRegistry::new(),
        max_delegation_rounds: 0,
        sub_agent_prompt: None,
        remote_agents: Vec::new(),
        prompts: &PromptSections::default(),
    })
    .unwrap()
}

pub(crate) async fn runtime_in(directory: &TempDir, server: &ScriptedServer) -> Runtime {
    let id = ModelId::new("script", "scripted");
    let model = RemoteModel::new(Endpoint::new(id, Wire::OpenAi, server.base_url())).unwrap();
    let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
    let database = Database::open(&location).await.unwrap();
    Runtime::new(RuntimeParts {
        tree: tree(true),
        model: AgentModel { model: Arc::new(model), options: ReplyOptions::default() },
        agent_models: BTreeMap::new(),
        journal: Journal::open(database).await.unwrap(),
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
    })
}

pub(crate) async fn watched() -> WatchedRuntime {
    let server = ScriptedServer::start(Script::parse("test", SCRIPT).unwrap()).await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let runtime = runtime_in(&directory, &server).await;
    WatchedRuntime { runtime, server, directory }
}

async fn all(mut following: TurnSubscription) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(event) = following.next_event().await.unwrap() {
        events.push(event);
    }
    events
}

pub(crate) fn recorded(events: &[Event]) -> Vec<Event> {
    events.iter().filter(|event| event.body.is_durable()).cloned().collect()
}

fn spoken(events: &[Event]) -> String {
    let piece = |event: &Event| match &event.body {
        EventBody::TextDelta { text, .. } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(piece).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_follower_gets_every_event_once() {
    let watched = watched().await;
    let session = SessionId::generate();
    let request = TurnRequest::new(session.clone(), "plan it", MessageOrigin::Library);
    let turn = request.turn;
    let handle = watched.runtime.start_turn(request);
    let early = tokio::spawn(all(watched.runtime.follow(session.clone(), turn, 0)));
    let later: Vec<_> = (0..4_u64)
        .map(|after| {
            let runtime = watched.runtime.clone();
            let session = session.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(100 * after)).await;
                (after, all(runtime.follow(session, turn, after)).await)
            })
        })
        .collect();
    assert!(handle.wait_for_outcome().await.unwrap().is_done());
    let journal = watched.runtime.journal().read_turn_events(&session, turn).await.unwrap();
    let early = early.await.unwrap();
    assert_eq!(recorded(&early), journal);
    let said = "one two three four five six seven eight nine ten ".repeat(20);
    assert_eq!(spoken(&early), said);
    for follower in later {
        let (after, events) = follower.await.unwrap();
        let expected: Vec<_> = journal.iter().filter(|e| e.seq > after).cloned().collect();
        assert_eq!(recorded(&events), expected, "after {after}");
        assert!(said.ends_with(&spoken(&events)), "after {after}: {:?}", spoken(&events));
    }
    // Long after it, and in another process.
    assert_eq!(all(watched.runtime.follow(session.clone(), turn, 2)).await, journal[2..]);
    let other_process = runtime_in(&watched.directory, &watched.server).await;
    assert_eq!(all(other_process.follow(session, turn, 0)).await, journal);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_stopped_by_its_name() {
    let watched = watched().await;
    let session = SessionId::generate();
    let request = TurnRequest::new(session.clone(), "plan it", MessageOrigin::Library);
    let turn = request.turn;
    let handle = watched.runtime.start_turn(request);
    let mut following = watched.runtime.follow(session.clone(), turn, 0);
    while let Some(event) = following.next_event().await.unwrap() {
        if matches!(event.body, EventBody::Transfer { .. }) {
            watched.runtime.cancel_turn(&session, turn).await.unwrap();
        }
    }
    assert_eq!(handle.wait_for_outcome().await.unwrap().status, OutcomeStatus::Cancelled);
    // What is over is not stopped again.
    let before = watched.runtime.journal().read_turn_events(&session, turn).await.unwrap();
    watched.runtime.cancel_turn(&session, turn).await.unwrap();
    assert_eq!(watched.runtime.journal().read_turn_events(&session, turn).await.unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_keeps_its_team_and_the_next_one_has_the_new() {
    let watched = watched().await;
    let session = SessionId::generate();
    let first = TurnRequest::new(session.clone(), "plan it", MessageOrigin::Library);
    let turn = first.turn;
    let handle = watched.runtime.start_turn(first);
    let mut following = watched.runtime.follow(session.clone(), turn, 0);
    while let Some(event) = following.next_event().await.unwrap() {
        if matches!(event.body, EventBody::Transfer { .. }) {
            watched.runtime.replace_team(&tree(false), &BTreeMap::new());
        }
    }
    assert_eq!(handle.wait_for_outcome().await.unwrap().work.agents.len(), 2);
    let second = TurnRequest::new(session, "plan it", MessageOrigin::Library);
    let outcome = watched.runtime.start_turn(second).wait_for_outcome().await.unwrap();
    assert_eq!(outcome.work.agents, ["lango-agent".parse::<AgentName>().unwrap()]);
}
