//! Who is in the team: cards that are trusted, remembered, changed, or not there.

use lango_protocol::{Event, EventBody, WarningCode};

use super::{Kind, Peer, configure, handing};
use crate::fixture::Lango;
use crate::invocation::until;
use crate::journal::Turn;

/// The warnings about agents that are not there.
pub(crate) fn absences(turn: &Turn) -> Vec<&str> {
    fn text(event: &Event) -> Option<&str> {
        match &event.body {
            EventBody::Warning { code: WarningCode::AgentAbsent, text } => Some(text),
            _ => None,
        }
    }
    turn.events.iter().filter_map(text).collect()
}

/// Returns a port that no process listens on.
pub(crate) fn closed_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn an_agent_that_is_away_is_picked_up_at_the_next_run() {
    let lango = Lango::playing(&[&handing(&[("say it", "echo hello")])]).await;
    let port = closed_port();
    configure(&lango, &format!("http://127.0.0.1:{port}"), "");
    let turn = lango.ask("Hello.").turn().await;
    assert_eq!(turn.code, 0);
    let told = absences(&turn);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("weather is not in the team: the card at http://127.0.0.1:"),
        "{told:?}"
    );
    assert!(!lango.requests_of("lango-orchestrator")[0].targets().contains(&"weather"));
    let peer = Peer::start_at(Kind::PythonRpc, port, &[]).await;
    let turn = lango.ask("Say it.").turn().await;
    assert_eq!((turn.answer(), absences(&turn).len()), ("hello", 0));
    // Away again: the rest works.
    peer.stop().await;
    let turn = lango.ask("Hello.").turn().await;
    assert_eq!((turn.code, absences(&turn).len()), (0, 1));
}

#[tokio::test]
async fn an_agent_that_comes_back_is_in_the_team_of_a_chat() {
    let lango = Lango::playing(&[&handing(&[("say it", "echo hello")])]).await;
    let port = closed_port();
    configure(&lango, &format!("http://127.0.0.1:{port}"), "");
    let script = lango.file(
        "chat.sh",
        format!(
            "{{ echo Hello.; while [ ! -e {0} ]; do sleep 0.1; done; echo Say it.; }} | {1} chat\n",
            lango.path("back").display(),
            env!("CARGO_BIN_EXE_lango"),
        ),
    );
    let base = lango.base_url(lango_model::Wire::OpenAi);
    let chat = crate::invocation::Invocation::of("sh", &lango, &[&script])
        .set("OPENAI_BASE_URL", base)
        .start();
    until("the first turn", || !lango.requests().is_empty()).await;
    let _peer = Peer::start_at(Kind::NodeRpc, port, &[]).await;
    // The card is pinned once the agent has been found.
    until("the agent is found", || {
        let wal = std::fs::read(lango.home().join("lango.db-wal")).unwrap_or_default();
        wal.windows(15).any(|bytes| bytes == b"JavaScript peer")
    })
    .await;
    std::fs::write(lango.path("back"), "").unwrap();
    let finished = chat.finish().await;
    assert!(finished.stdout.contains("hello"), "{finished:?}");
    assert_eq!(finished.stderr.matches("weather is not in the team").count(), 1, "{finished:?}");
    assert_eq!(finished.stderr.matches("weather is in the team now").count(), 1, "{finished:?}");
}

#[tokio::test]
async fn g2_a_changed_card_is_not_used_until_a_person_has_looked() {
    let peer = Peer::start(Kind::Hostile, &["--mode", "card-changes", "--after", "1"]).await;
    let lango = Lango::playing(&[&handing(&[("say it", "anything")])]).await;
    configure(&lango, &peer.url(), "");
    let turn = lango.ask("Say it.").turn().await;
    assert_eq!((turn.answer(), absences(&turn).len()), ("hello", 0));
    // From now on the card is another one.
    for _ in 0..2 {
        let turn = lango.ask("Nothing.").turn().await;
        let told = absences(&turn);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("lango a2a approve weather"), "{told:?}");
        let request = lango.requests_of("lango-orchestrator").pop().unwrap();
        assert!(!request.targets().contains(&"weather") && !request.system().contains("weather"));
    }
    // Without a person nothing is approved.
    let refused = lango.command(&["a2a", "approve", "weather"]).run().await;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused.stdout.contains("- description: ") && refused.stdout.contains("+ description: ")
    );
    assert!(refused.stdout.contains("+ skills: "), "{refused:?}");
    let approved = lango.command(&["a2a", "approve", "weather", "--yes"]).run().await;
    assert_eq!(approved.code, 0, "{approved:?}");
    let turn = lango.ask("Say it.").turn().await;
    assert_eq!((turn.answer(), absences(&turn).len()), ("hello", 0));
}

#[tokio::test]
async fn what_is_denied_for_all_agents_is_denied_for_remote_agents() {
    let peer = Peer::start(Kind::Hostile, &["--mode", "plain"]).await;
    let lango = Lango::playing(&[&handing(&[])]).await;
    configure(&lango, &peer.url(), "");
    let turn = lango.ask("Hello.").set("LANGO_EGRESS_DENY", "127.0.0.1").turn().await;
    let told = absences(&turn);
    assert!(told.len() == 1 && told[0].contains("egress.deny"), "{told:?}");
}

#[tokio::test]
async fn a_single_agent_works_alone() {
    let peer = Peer::start(Kind::Hostile, &["--mode", "plain"]).await;
    let lango = Lango::playing(&["[[reply]]\nsay = \"Alone.\"\n"]).await;
    configure(&lango, &peer.url(), "");
    let turn = lango.ask("Hello.").set("LANGO_AGENT_MULTIAGENT", "false").turn().await;
    assert_eq!((turn.answer(), absences(&turn).len()), ("Alone.", 0));
}
