//! `lango a2a`, and what other commands say about remote agents.

use super::{Kind, Peer, configure};
use crate::fixture::Lango;

#[tokio::test]
async fn an_agent_is_looked_at_added_tried_listed_and_removed() {
    let peer = Peer::start(Kind::PythonRpc, &[]).await;
    let lango = Lango::silent().await;
    std::fs::write(lango.config_file(), "# mine\n[budget]\nseconds = 60\n").unwrap();

    let shown = lango.command(&["a2a", "card", &peer.url()]).run().await;
    assert_eq!(shown.code, 0, "{shown:?}");
    for words in [
        "Python peer 1.0.0",
        "JSONRPC, A2A 1.0, in streams",
        "signature   none",
        "skill       Echo",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    let json = lango.command(&["a2a", "card", &peer.url(), "--json"]).run().await;
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["name"], "Python peer");

    // No user is there to say yes.
    let asked = lango.command(&["a2a", "add", "weather", &peer.url()]).run().await;
    assert_eq!(asked.code, 2, "{asked:?}");
    for (name, why) in
        [("operator", "operator"), ("Weather", "lower-case"), ("lango-orchestrator", "name")]
    {
        let refused = lango.command(&["a2a", "add", name, &peer.url(), "--yes"]).run().await;
        assert!(refused.code == 2 && refused.stderr.contains(why), "{refused:?}");
    }
    assert_eq!(
        std::fs::read_to_string(lango.config_file()).unwrap(),
        "# mine\n[budget]\nseconds = 60\n"
    );
    let added = lango.command(&["a2a", "add", "weather", &peer.url(), "--yes"]).run().await;
    assert_eq!(added.code, 0, "{added:?}");
    let text = std::fs::read_to_string(lango.config_file()).unwrap();
    assert!(text.starts_with("# mine\n") && text.contains("[[a2a.remoteAgents]]"), "{text}");
    let again = lango.command(&["a2a", "add", "weather", &peer.url(), "--yes"]).run().await;
    assert!(again.code == 2 && again.stderr.contains("lango a2a remove weather"), "{again:?}");

    let tried = lango.command(&["a2a", "test", "weather", "echo", "hello there"]).run().await;
    assert!(tried.code == 0 && tried.stdout.contains("  | hello there\n"), "{tried:?}");
    for step in ["card", "first words", "answered"] {
        assert!(tried.stdout.contains(step), "{tried:?}");
    }
    let failed = lango.command(&["a2a", "test", "weather", "fail"]).run().await;
    assert!(failed.code == 1 && failed.stdout.contains("It went wrong."), "{failed:?}");

    let list = lango.command(&["a2a", "list", "--json"]).run().await;
    let list: serde_json::Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!((&list[0]["name"], &list[0]["state"]), (&"weather".into(), &"there".into()));
    assert_eq!(list[0]["endpoint"], peer.url());
    assert_eq!(list[0]["digest"].as_str().unwrap().len(), 64);
    let agents = lango.command(&["agents", "list"]).run().await;
    let words = agents.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Does what the first word of a message says.; can: Echo"), "{agents:?}");
    let agent = lango.command(&["agents", "show", "weather"]).run().await;
    assert!(agent.stdout.contains("remote specialist"), "{agent:?}");
    let prompt = lango.command(&["prompt", "show", "lango-orchestrator"]).run().await;
    let (instruction, context) =
        prompt.stdout.split_once("[context] cards of remote agents").unwrap();
    assert!(instruction.contains("- weather (remote; its own description is in"), "{prompt:?}");
    assert!(!instruction.contains("Does what the first word"), "{prompt:?}");
    assert!(
        context.contains("- weather: Does what the first word of a message says."),
        "{context}"
    );
    let doctor = lango.command(&["doctor"]).run().await;
    assert!(doctor.stdout.contains("remote agents   weather"), "{doctor:?}");

    // What the owner says about an agent is an instruction, and takes the place of the card's words.
    let words = ["--description", "forecasts\n for any place.", "--yes"];
    let url = peer.url();
    let add = [&["a2a", "add", "described", &url], &words[..]].concat();
    assert_eq!(lango.command(&add).run().await.code, 0);
    let prompt = lango.command(&["prompt", "show", "lango-orchestrator"]).run().await;
    let line = "- described (remote) for forecasts for any place.\n";
    assert!(prompt.stdout.contains(line) && !prompt.stdout.contains("- described: "), "{prompt:?}");
    assert_eq!(lango.command(&["a2a", "remove", "described"]).run().await.code, 0);

    peer.stop().await;
    let list = lango.command(&["a2a", "list"]).run().await;
    assert!(list.code == 0 && list.stdout.contains("unreachable"), "{list:?}");
    let agents = lango.command(&["agents", "list"]).run().await;
    assert!(agents.stdout.contains("  weather: the card at"), "{agents:?}");
    let tried = lango.command(&["a2a", "test", "weather"]).run().await;
    assert!(tried.code == 1 && tried.stderr.contains("cannot be fetched"), "{tried:?}");
    let removed = lango.command(&["a2a", "remove", "weather"]).run().await;
    assert_eq!(removed.code, 0, "{removed:?}");
    let gone = lango.command(&["a2a", "remove", "weather"]).run().await;
    assert!(gone.code == 2 && gone.stderr.contains("lango a2a add NAME URL"), "{gone:?}");
    let list = lango.command(&["a2a", "list"]).run().await;
    assert!(list.stdout.contains("No remote agents yet"), "{list:?}");
}

#[tokio::test]
async fn what_was_configured_wrongly_is_named() {
    let lango = Lango::silent().await;
    for (url, more, words) in [
        ("weather.example", "", "agentCardUrl"),
        ("file:///etc/passwd", "", "agentCardUrl"),
        ("http://127.0.0.1:1", "allowHosts = [\"a b\"]", "allowHosts"),
        ("http://127.0.0.1:1", "cardKeys = [\"/nowhere/key.json\"]", "cardKeys"),
        ("http://127.0.0.1:1", "tokenenv = \"X\"", "a2a.remoteAgents"),
    ] {
        configure(&lango, url, more);
        let finished = lango.ask("Hello.").run().await;
        assert!(finished.code == 2 && finished.stderr.contains(words), "{finished:?}");
    }
}

#[tokio::test]
async fn a_card_that_attacks_is_shown_as_plain_text() {
    let peer = Peer::start(Kind::Hostile, &["--mode", "card-attack"]).await;
    let lango = Lango::silent().await;
    let shown = lango.command(&["a2a", "card", &peer.url()]).run().await;
    let text = format!("{}{}", shown.stdout, shown.stderr);
    let is_plain = |c: char| !c.is_control() || c == '\n';
    assert!(text.chars().all(is_plain), "{text:?}");
    assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{2066}']), "{text:?}");
}
