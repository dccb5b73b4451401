//! Lines that break, agents that are away, turns that are stopped or killed.

use rustix::process::Signal;

use super::cutting::Line;
use super::{Kind, Peer, configure, handing};
use crate::fixture::Lango;
use crate::invocation::until;
use crate::journal::events_in;

const KINDS: [Kind; 6] = [
    Kind::PythonRpc,
    Kind::PythonRest,
    Kind::PythonThree,
    Kind::NodeRpc,
    Kind::NodeRest,
    Kind::NodeThree,
];

fn chunks(count: u32) -> String {
    (1..=count).map(|number| format!("chunk {number} ")).collect()
}

#[tokio::test]
async fn a_stream_that_is_cut_is_taken_up_again_and_nothing_is_lost_or_repeated() {
    for kind in KINDS {
        let peer = Peer::start(kind, &[]).await;
        let line = Line::to(peer.port(), "chunk 2 ", 2).await;
        let lango = Lango::playing(&[&handing(&[("count", "stream 8 0.15")])]).await;
        configure(&lango, &line.url(), "");
        let turn = lango.ask("Count.").turn().await;
        assert_eq!(turn.answer(), chunks(8), "{kind:?}");
        assert_eq!(turn.code, 0);
        assert!(line.cuts() >= 1, "{kind:?}");
        assert_eq!(line.messages(), 1, "{kind:?}: the message was sent again");
    }
}

#[tokio::test]
async fn a_stream_that_is_always_cut_is_asked_about_instead() {
    let peer = Peer::start(Kind::PythonRpc, &[]).await;
    let line = Line::to(peer.port(), "working", usize::MAX).await;
    let lango = Lango::playing(&[&handing(&[("count", "stream 4 0.1")])]).await;
    configure(&lango, &line.url(), "");
    let turn = lango.ask("Count.").turn().await;
    assert_eq!(turn.answer(), chunks(4));
    assert!(line.cuts() >= 2, "{}", line.cuts());
    assert_eq!(line.messages(), 1);
}

#[tokio::test]
async fn a_stopped_turn_stops_the_remote_task() {
    for kind in KINDS {
        let lango = Lango::playing(&[&handing(&[("wait", "slow 50")])]).await;
        let log = lango.file("log", "");
        let peer = Peer::start(kind, &["--log", &log]).await;
        let line = Line::to(peer.port(), "working", 0).await;
        configure(&lango, &line.url(), "");
        let running = lango.ask("Wait.").start();
        until("the task begins", || line.heard() == 1).await;
        running.signal(Signal::INT);
        let finished = running.finish().await;
        assert_eq!(finished.code, 130, "{kind:?}: {finished:?}");
        let text = std::fs::read_to_string(&log).unwrap();
        let posts = text.lines().filter(|line| line.contains("POST")).count();
        assert_eq!(posts, 2, "{kind:?}: a message and a cancellation: {text}");
        assert_eq!(events_in(&finished.stdout).last().unwrap().body.type_name(), "turn_finished");
    }
}

#[tokio::test]
async fn after_a_kill_the_task_is_taken_up_and_not_sent_again() {
    for kind in KINDS {
        let peer = Peer::start(kind, &[]).await;
        let line = Line::to(peer.port(), "chunk 3 ", 0).await;
        let lango = Lango::playing(&[&handing(&[("count", "stream 8 0.3")])]).await;
        configure(&lango, &line.url(), "");
        let running = lango.ask("Count.").start();
        until("the task is under way", || line.heard() == 1).await;
        running.kill().await;
        let resumed = lango.command(&["resume", "--output-format", "stream-json"]).run().await;
        assert_eq!(resumed.code, 0, "{kind:?}: {resumed:?}");
        let events = events_in(&resumed.stdout);
        let said: Vec<&str> = events
            .iter()
            .filter_map(|event| match &event.body {
                lango_protocol::EventBody::Message { text, answer: true } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(said, [chunks(8)], "{kind:?}");
        assert_eq!(line.messages(), 1, "{kind:?}: the message was sent again");
    }
}

#[tokio::test]
async fn a_token_is_shown_where_it_belongs_and_nowhere_else() {
    for kind in [Kind::PythonRpc, Kind::NodeRest] {
        let lango = Lango::playing(&[&handing(&[("say", "echo hello")])]).await;
        let log = lango.file("log", "");
        let peer = Peer::start(kind, &["--token", "canary-token-7", "--log", &log]).await;
        configure(&lango, &peer.url(), "tokenEnv = \"WEATHER_TOKEN\"");
        let turn = lango.ask("Say it.").set("WEATHER_TOKEN", "canary-token-7").turn().await;
        assert_eq!(turn.answer(), "hello", "{kind:?}");
        let cards = std::fs::read_to_string(&log).unwrap();
        let card = cards.lines().find(|line| line.contains("agent-card.json")).unwrap();
        assert!(!card.contains("canary-token-7"), "{card}");
        for (value, advice) in
            [(None, "WEATHER_TOKEN is not set"), (Some("x"), "does not take the token")]
        {
            let invocation = lango.ask("Say it.");
            let invocation = match value {
                Some(value) => invocation.set("WEATHER_TOKEN", value),
                None => invocation,
            };
            let turn = invocation.turn().await;
            assert!(turn.answer().contains(advice), "{}", turn.answer());
        }
    }
}
