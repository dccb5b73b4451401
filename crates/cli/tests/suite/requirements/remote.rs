//! Remote agents in the team, or not.

use crate::a2a::{Kind, Peer, absences, closed_port};
use crate::fixture::Lango;

const TRANSFERS: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "python"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "snake", task = "echo from Python" } }]
[[reply]]
agent = "lango-orchestrator"
user = "script"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "rhino", task = "echo from JavaScript" } }]
[[reply]]
agent = "lango-orchestrator"
say = "Hello."
"#;

fn configure(lango: &Lango, agents: &[(&str, String)]) {
    let entry = |(name, url): &(&str, String)| {
        format!("[[a2a.remoteAgents]]\nname = \"{name}\"\nagentCardUrl = \"{url}\"\n")
    };
    let agents: String = agents.iter().map(entry).collect();
    std::fs::write(lango.config_file(), format!("[a2a]\nenabled = true\n{agents}")).unwrap();
}

/// 000 and 002, "Remote agents loaded and wired".
#[tokio::test]
async fn r07_remote_agents_are_loaded_appended_and_reached() {
    let (python, node) =
        (Peer::start(Kind::PythonRpc, &[]).await, Peer::start(Kind::NodeThree, &[]).await);
    let lango = Lango::playing(&[TRANSFERS]).await;
    configure(&lango, &[("snake", python.url()), ("rhino", node.url())]);
    let described = std::fs::read_to_string(lango.config_file()).unwrap()
        + "description = \"everything about scripts.\"\n";
    std::fs::write(lango.config_file(), described).unwrap();
    for topology in ["standard", "compact"] {
        for (message, author, answer) in [
            ("Ask Python.", "snake", "from Python"),
            ("Ask the script.", "rhino", "from JavaScript"),
        ] {
            let turn = lango.ask(message).with(&["--topology", topology]).turn().await;
            assert_eq!((turn.author(), turn.answer()), (author, answer), "{topology}");
            assert_eq!(
                turn.types(),
                ["user_message", "transfer", "message", "transfer_finished", "turn_finished"]
            );
        }
        let request = lango.requests_of("lango-orchestrator").pop().unwrap();
        let targets = request.targets();
        assert_eq!(targets[targets.len() - 2..], ["snake", "rhino"], "{topology}: {targets:?}");
        // The owner's words are in the instruction; those of a card are data.
        for words in [
            "- snake (remote; its own description is in the context",
            "- rhino (remote) for everything about scripts.",
            "snake, rhino.",
        ] {
            assert!(request.system().contains(words), "{topology}: {words}");
        }
        for words in
            ["- snake: Does what the first word of a message says.", "can: Echo: Says it again."]
        {
            assert!(request.user().contains(words), "{topology}: {words}");
            assert!(!request.system().contains(words), "{topology}: {words}");
        }
        assert!(!request.user().contains("- rhino: "), "{topology}");
    }
    // Not where it is not enabled.
    let turn = lango.ask("Hello.").set("LANGO_A2A_ENABLED", "false").turn().await;
    assert_eq!(turn.answer(), "Hello.");
    assert!(!lango.requests_of("lango-orchestrator").pop().unwrap().system().contains("snake"));
}

/// 000 and 002, "Remote agent load failure".
#[tokio::test]
async fn r07_a_remote_agent_that_cannot_be_loaded_is_skipped_with_one_warning() {
    let python = Peer::start(Kind::PythonRpc, &[]).await;
    let lango = Lango::playing(&[TRANSFERS]).await;
    let unreachable = format!("http://127.0.0.1:{}", closed_port());
    configure(&lango, &[("rhino", unreachable), ("snake", python.url())]);
    for topology in ["standard", "compact"] {
        let turn = lango.ask("Ask Python.").with(&["--topology", topology]).turn().await;
        assert_eq!((turn.code, turn.answer()), (0, "from Python"), "{topology}");
        let told = absences(&turn);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("rhino is not in the team: "), "{told:?}");
        let request = lango.requests_of("lango-orchestrator").pop().unwrap();
        assert!(!request.system().contains("rhino") && request.system().contains("snake"));
    }
    // A person is told once, too.
    let run = lango.command(&["run", "Ask Python."]).run().await;
    assert_eq!(run.stderr.matches("rhino is not in the team").count(), 1, "{run:?}");
}
