//! Providers cache a request from its beginning: it must not change.

use lango_model::Wire;
use lango_scripted::ReceivedRequest;

use crate::fixture::{Lango, TO_OPERATOR};

const WORK: &str = r#"
[[reply]]
agent = "operator"
results = 0
think = "First this."
call = [{ name = "fs_stat", arguments = { path = "README.md" } }]
[[reply]]
agent = "operator"
results = 1
think = "Then that."
call = [{ name = "fs_list", arguments = {} }, { name = "fs_stat", arguments = { path = "src" } }]
[[reply]]
agent = "operator"
say = "Done: {user}"
"#;

/// Where a cache may end; moves along with the conversation, and is not part of what is cached.
fn without_markers(body: &str) -> String {
    body.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
}

/// The bytes before the newest message of the user, which has the newest question in it.
fn before_newest_user<'a>(body: &'a str, question: &str) -> &'a str {
    let at = body.rfind(question).unwrap_or_else(|| panic!("{question} is not in {body}"));
    // The context comes before the words in the same message.
    let start = body[..at].rfind("<context ").unwrap_or(at);
    &body[..start]
}

fn of_agent<'a>(
    requests: &'a [ReceivedRequest],
    agent: &'a str,
) -> impl Iterator<Item = &'a ReceivedRequest> {
    requests.iter().filter(move |request| request.agent.as_deref() == Some(agent))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bytes_before_the_newest_user_message_do_not_change() {
    for wire in Wire::ALL {
        let lango = Lango::playing(&[TO_OPERATOR, WORK]).await;
        let mut earlier: Vec<(String, String)> = Vec::new();
        let mut seen = 0;
        for turn in 0..5 {
            let question = format!("question number {turn}");
            let ask = lango.ask_over(wire, &question).with(&["--session", "stable"]);
            assert_eq!(ask.turn().await.code, 0, "{wire:?}");
            let requests = lango.received();
            let new = &requests[seen..];
            seen = requests.len();
            assert_eq!(new.len(), 4, "{wire:?}");
            for agent in ["lango-orchestrator", "operator"] {
                let prefixes: Vec<String> = of_agent(new, agent)
                    .map(|r| before_newest_user(&without_markers(&r.body), &question).to_owned())
                    .collect();
                // During a turn.
                assert!(prefixes.windows(2).all(|pair| pair[0] == pair[1]), "{wire:?} {agent}");
                // From turn to turn: what came before is still there, with more after it.
                for (of, prefix) in earlier.iter().filter(|(of, _)| of == agent) {
                    assert!(prefixes[0].starts_with(prefix.as_str()), "{wire:?} {of} turn {turn}");
                }
                earlier.push((agent.to_owned(), prefixes[0].clone()));
            }
        }
        let longest = earlier.iter().map(|(_, prefix)| prefix.len()).max().unwrap();
        assert!(longest > 2_000, "{wire:?}: instruction and tools are in it, {longest} bytes");
        let last = &earlier.iter().rfind(|(of, _)| of == "operator").unwrap().1;
        assert!(last.contains("fs_stat") && last.contains("You are operator"), "{wire:?}: {last}");
        assert!(last.contains("question number 3"), "{wire:?}");
    }
}

/// Within a turn each request also begins with everything the one before it had.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_only_adds_to_what_was_sent() {
    for wire in Wire::ALL {
        let lango = Lango::playing(&[TO_OPERATOR, WORK]).await;
        assert_eq!(lango.ask_over(wire, "one question").turn().await.code, 0);
        let requests = lango.received();
        let bodies: Vec<String> =
            of_agent(&requests, "operator").map(|r| without_markers(&r.body)).collect();
        assert_eq!(bodies.len(), 3);
        for pair in bodies.windows(2) {
            // The end closes lists and objects, and says how to answer.
            let common = pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
            let at = pair[0].rfind("one question").unwrap();
            assert!(common > at, "{wire:?}: {common} of {} bytes", pair[0].len());
            assert!(pair[0].len() - common < 200, "{wire:?}: {}", &pair[0][common..]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cache_markers_are_set_where_the_provider_has_them() {
    let lango = Lango::playing(&[TO_OPERATOR, WORK]).await;
    assert_eq!(lango.ask_over(Wire::Anthropic, "one question").turn().await.code, 0);
    for request in lango.received() {
        let markers = request.body.matches("cache_control").count();
        assert!((2..=4).contains(&markers), "{markers}: {}", request.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_of_many_turns_moves_its_beginning_rarely() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Yes.\"\n"]).await;
    let lines: String = (0..45).map(|turn| format!("question number {turn}\n")).collect();
    let chat = lango.command(&["chat"]).input(lines).run().await;
    assert_eq!(chat.code, 0, "{}", chat.stderr);
    // And in a process of its own, as with `lango run --last`.
    for turn in 45..50 {
        let question = format!("question number {turn}");
        let run = lango.command(&["run", "--last", &question]).run().await;
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    let first = |request: &ReceivedRequest| {
        let body = &request.body;
        let at = body.find("question number ").unwrap() + "question number ".len();
        body[at..].chars().take_while(char::is_ascii_digit).collect::<String>()
    };
    let firsts: Vec<String> = lango.received().iter().map(first).collect();
    assert_eq!(firsts.len(), 50);
    let moves = firsts.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(moves, 2, "{firsts:?}");
}
