//! What can be said to a remote agent, to each kind of agent.

use lango_protocol::{DelegationStatus, EventBody, OutcomeStatus};

use super::{Kind, Peer, configure, handing};
use crate::fixture::Lango;
use crate::journal::Turn;

const TASKS: &[(&str, &str)] = &[
    ("say it", "echo hello from afar"),
    ("count", "stream 4 0.02"),
    ("colour", "ask Which colour?"),
    ("sign in", "login"),
    ("refuse", "reject"),
    ("break", "fail"),
    ("bare", "message"),
    ("trace", "headers"),
];

/// How the transfer ended, and with which words.
pub(super) fn transfer(turn: &Turn) -> (DelegationStatus, String) {
    let ended = turn.events.iter().find_map(|event| match &event.body {
        EventBody::TransferFinished { status, text, .. } => Some((*status, text.clone())),
        _ => None,
    });
    ended.unwrap_or_else(|| panic!("no end of a transfer: {:#?}", turn.events))
}

async fn talk(kind: Kind, more: &str) {
    let peer = Peer::start(kind, &[]).await;
    let lango = Lango::playing(&[&handing(TASKS)]).await;
    configure(&lango, &peer.url(), more);

    let turn = lango.ask("Say it, please.").turn().await;
    assert_eq!(turn.answer(), "hello from afar", "{kind:?}");
    assert_eq!(turn.code, 0, "{kind:?}: {}", turn.stderr);
    assert_eq!(turn.stderr, "");

    let turn = lango.ask("Count, please.").turn().await;
    assert_eq!(turn.answer(), "chunk 1 chunk 2 chunk 3 chunk 4 ", "{kind:?}");
    if more.is_empty() {
        assert_eq!(turn.shown(), turn.answer(), "{kind:?}");
        assert!(turn.count("text_delta") > 1, "{kind:?}");
    }

    let turn = lango.ask("Refuse this.").turn().await;
    assert_eq!(transfer(&turn).0, DelegationStatus::Rejected, "{kind:?}");
    assert!(transfer(&turn).1.contains("I do not do this."), "{kind:?}");

    let turn = lango.ask("Break it.").turn().await;
    assert_eq!(transfer(&turn).0, DelegationStatus::Failed, "{kind:?}");
    assert!(turn.answer().contains("It went wrong."), "{kind:?}: {}", turn.answer());

    let turn = lango.ask("The bare one.").turn().await;
    assert_eq!(turn.answer(), "A bare message.", "{kind:?}");

    let turn = lango.ask("A trace of it.").turn().await;
    let headers: serde_json::Value = serde_json::from_str(turn.answer()).unwrap();
    let trace = headers["traceparent"].as_str().unwrap().to_owned();
    let id = turn.events[0].turn.to_string().replace('-', "");
    assert!(trace.starts_with(&format!("00-{id}-")), "{kind:?}: {headers}");
    let three = matches!(kind, Kind::PythonThree | Kind::NodeThree);
    assert_eq!(headers["a2a-version"], if three { "0.3" } else { "1.0" }, "{kind:?}");
    assert!(headers["user-agent"].as_str().unwrap().starts_with("lango/"), "{kind:?}");

    for (message, words) in
        [("The colour, please.", "Which colour?"), ("Sign in.", "Sign in, then go on.")]
    {
        let asked = lango.ask(message).with(&["--session", "q"]).turn().await;
        assert_eq!(asked.outcome().status, OutcomeStatus::NeedsInput, "{kind:?}");
        assert!(asked.answer().contains(words), "{kind:?}: {}", asked.answer());
        // The orchestrator is told who waits, and the agent gets the user's own words.
        let said = format!("{message} Blue.");
        let answered = lango.ask(&said).with(&["--session", "q"]).turn().await;
        assert_eq!(answered.answer(), format!("got: {said}"), "{kind:?}");
        let told = lango.requests_of("lango-orchestrator").pop().unwrap();
        assert!(told.text().contains("weather waits for the user's answer"), "{kind:?}");
    }
    let requests = lango.requests_of("lango-orchestrator").len();
    let over = lango.ask("Say it again.").with(&["--session", "q"]).turn().await;
    assert_eq!(over.answer(), "hello from afar", "{kind:?}");
    let told = lango.requests_of("lango-orchestrator").remove(requests);
    assert!(!told.text().contains("waits for the user's answer"), "{kind:?}");
}

#[tokio::test]
async fn with_an_agent_of_the_python_kit_over_json_rpc() {
    talk(Kind::PythonRpc, "").await;
}

#[tokio::test]
async fn with_an_agent_of_the_python_kit_over_http_json() {
    talk(Kind::PythonRest, "").await;
}

#[tokio::test]
async fn with_an_agent_of_the_python_kit_of_0_3() {
    talk(Kind::PythonThree, "").await;
}

#[tokio::test]
async fn with_an_agent_of_the_javascript_kit_over_json_rpc() {
    talk(Kind::NodeRpc, "").await;
}

#[tokio::test]
async fn with_an_agent_of_the_javascript_kit_over_http_json() {
    talk(Kind::NodeRest, "").await;
}

#[tokio::test]
async fn with_an_agent_of_the_javascript_kit_of_0_3() {
    talk(Kind::NodeThree, "").await;
}

#[tokio::test]
async fn without_listening_answers_are_waited_for() {
    for kind in [Kind::PythonRpc, Kind::NodeRest, Kind::PythonThree] {
        talk(kind, "streaming = false").await;
    }
}

/// The agent says a value in two pieces, which are shown as they come.
#[tokio::test]
async fn a_secret_that_comes_in_pieces_is_not_shown() {
    let peer = Peer::start(Kind::PythonRpc, &[]).await;
    let lango = Lango::playing(&[&handing(TASKS)]).await;
    configure(&lango, &peer.url(), "");
    let set = lango.bare(&["secrets", "set", "cut"]).input("chunk 2 chunk 3\n").run().await;
    assert_eq!(set.code, 0, "{set:?}");
    let turn = lango.ask("Count, please.").turn().await;
    assert_eq!(turn.answer(), "chunk 1 [secret:cut] chunk 4 ");
    assert_eq!(turn.shown(), turn.answer());
    assert!(turn.count("text_delta") > 1, "it came in pieces");
}

/// The question is stored until the user answers it, in another process.
#[tokio::test]
async fn a_secret_in_a_question_is_not_stored() {
    let peer = Peer::start(Kind::PythonRpc, &[]).await;
    let lango = Lango::playing(&[&handing(&[("colour", "ask")])]).await;
    configure(&lango, &peer.url(), "");
    let set = lango.bare(&["secrets", "set", "colour"]).input("Which colour?\n").run().await;
    assert_eq!(set.code, 0, "{set:?}");
    let asked = lango.ask("The colour, please.").with(&["--session", "q"]).turn().await;
    assert_eq!(asked.outcome().status, OutcomeStatus::NeedsInput);
    assert!(asked.answer().contains("[secret:colour]"), "{}", asked.answer());
    let found = crate::vault::files_with(&lango.home(), "Which colour?");
    assert_eq!(found, Vec::<String>::new());
    let said = "The colour, please: blue.";
    let answered = lango.ask(said).with(&["--session", "q"]).turn().await;
    assert_eq!(answered.answer(), format!("got: {said}"));
}
