//! Tests tasks: questions, answers, and repeated delegations.

use std::path::Path;

use lango_a2a::remote::{Directory, OpenQuestions, forget_session};
use lango_protocol::{CallId, ORCHESTRATOR, SessionId, Space, SpaceAccess, TurnId};
use lango_runtime::{
    ContextRequest, ContextSource as _, RemoteAgent as _, RemoteReply, RemoteRequest,
};
use lango_store::DatabaseLocation;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::card_server::{Agent, config, directory};

fn request(session: &SessionId, turn: TurnId, call: &CallId, text: &str) -> RemoteRequest {
    RemoteRequest {
        session: session.clone(),
        turn,
        call: call.clone(),
        task: text.to_owned(),
        user_text: format!("user: {text}"),
        images: Vec::new(),
        trace: None,
        scrubber: lango_runtime::Scrubber::default(),
        words: mpsc::channel(64).0,
        cancel: CancellationToken::new(),
    }
}

async fn ask(directory: &Directory, request: RemoteRequest) -> RemoteReply {
    let status = directory.check_agents().await.remove(0);
    status.availability.map_err(|error| error.to_string()).unwrap().agent.ask(request).await
}

async fn orchestrator_context(directory: &Directory, session: &SessionId, agent: &str) -> String {
    let agent = agent.parse().unwrap();
    let (turn, space) = (TurnId::generate(), SpaceAccess::to(Space::Owner));
    let request = ContextRequest { session, turn, agent: &agent, message: "blue", space: &space };
    let blocks = OpenQuestions::of(directory).blocks(request).await;
    blocks.into_iter().map(|block| block.text).collect()
}

fn sent(log: &Path) -> usize {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    log.lines().filter(|line| line.contains("POST")).count()
}

pub(crate) async fn a_question_is_kept_until_the_user_answers_and_forgotten_with_its_session(
    location: DatabaseLocation,
) {
    let files = tempfile::tempdir().unwrap();
    let agent = Agent::start(&files.path().join("log")).await;
    let directory = directory(&location, config(&agent.url)).await;
    let session = SessionId::generate();
    let (turn, call) = (TurnId::generate(), CallId::generate());
    let question = RemoteReply::NeedsInput { question: "Which \"colour\"?".into() };
    let asked = ask(&directory, request(&session, turn, &call, "ask Which \"colour\"?")).await;
    assert_eq!(asked, question);
    // Another delegation of the same turn gets the question again, and sends nothing.
    let before = sent(&files.path().join("log"));
    let again = ask(&directory, request(&session, turn, &CallId::generate(), "red")).await;
    assert_eq!((again, sent(&files.path().join("log"))), (question, before));
    let text = orchestrator_context(&directory, &session, ORCHESTRATOR).await;
    assert!(
        text.contains("weather waits for the user's answer to its question: \"Which  colour ?\"")
    );
    assert_eq!(orchestrator_context(&directory, &session, "operator").await, "");
    assert_eq!(orchestrator_context(&directory, &SessionId::generate(), ORCHESTRATOR).await, "");
    let next = request(&session, TurnId::generate(), &CallId::generate(), "blue");
    let answered = ask(&directory, next).await;
    assert_eq!(answered, RemoteReply::Answered { text: "got: user: blue".into() });
    assert_eq!(orchestrator_context(&directory, &session, ORCHESTRATOR).await, "");
    let last = request(&session, TurnId::generate(), &CallId::generate(), "ask Again?");
    ask(&directory, last).await;
    assert!(orchestrator_context(&directory, &session, ORCHESTRATOR).await.contains("Again?"));
    forget_session(lango_store::testing::open(&location).await, &session).await.unwrap();
    assert_eq!(orchestrator_context(&directory, &session, ORCHESTRATOR).await, "");
}

pub(crate) async fn the_same_delegation_again_is_the_same_task(location: DatabaseLocation) {
    let files = tempfile::tempdir().unwrap();
    let log = files.path().join("log");
    let agent = Agent::start(&log).await;
    let session = SessionId::generate();
    let (turn, call) = (TurnId::generate(), CallId::generate());
    let reply = RemoteReply::Answered { text: "once".into() };
    let first = directory(&location, config(&agent.url)).await;
    assert_eq!(ask(&first, request(&session, turn, &call, "echo once")).await, reply);
    let posts = sent(&log);
    // The answer was given and not recorded: the task's state is requested, the message is not sent
    // again.
    let second = directory(&location, config(&agent.url)).await;
    assert_eq!(ask(&second, request(&session, turn, &call, "echo once")).await, reply);
    assert_eq!(sent(&log), posts + 1);
}
