//! Recording what was said, and playing it again.

use lango_model::Wire;
use lango_protocol::CallStatus;

use crate::fixture::{Lango, TO_OPERATOR};
use crate::journal::Turn;

const WORK: &str = r#"
[variant]
chunk_bytes = 23
[[reply]]
agent = "lango-orchestrator"
times = 1
fault = "cut"
say = "half a word of nob"
"#;

const MORE: &str = r#"
[[reply]]
agent = "operator"
results = 0
think = "Schauen wir nach 🤔"
call = [
  { name = "fs_stat", arguments = { path = "README.md" } },
  { name = "fs_read", arguments = { path = "README.md" } },
]
[[reply]]
agent = "operator"
times = 1
error = "overloaded"
[[reply]]
agent = "operator"
say = "Drei Zeilen: {result} 🌍"
"#;

fn story(turn: &Turn) -> (Vec<&'static str>, String, usize) {
    (turn.types(), turn.answer().to_owned(), turn.results_with(CallStatus::Ok))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_plays_the_same_turn_again_without_the_provider() {
    for wire in Wire::ALL {
        let lango = Lango::playing(&[WORK, TO_OPERATOR, MORE]).await;
        let tape = lango.path("tape.jsonl");
        let tape = tape.to_str().unwrap();
        let turn = lango.ask_over(wire, "Wie viele Zeilen?").with(&["--record", tape]).turn().await;
        assert_eq!(turn.code, 0, "{wire:?} {}", turn.answer());
        assert_eq!(turn.count("setback"), 2, "{wire:?}");
        let text = std::fs::read_to_string(tape).unwrap();
        assert_eq!(text.lines().count(), 6, "{wire:?}: a mark and five exchanges");
        for secret in ["sk-ant-canary-1", "AIza-canary-2"] {
            assert!(!text.contains(secret), "{wire:?}");
        }
        // Another machine: no key, no server, another directory.
        let other = Lango::silent().await;
        let model = format!("replay:{tape}");
        let run = ["run", "--output-format", "stream-json", "--model", &model, "Wie viele Zeilen?"];
        let again = other.bare(&run).turn().await;
        assert_eq!(story(&again), story(&turn), "{wire:?}");
        assert!(other.received().is_empty() && lango.received().len() == 5, "{wire:?}");
        // It cost nothing, and is told apart from what did.
        let usage = other.bare(&["usage"]).run().await.stdout;
        assert!(usage.contains("replay/") && usage.contains("unknown"), "{usage}");
        let refused = other.bare(&["models", "test", &model]).run().await;
        assert_eq!(refused.code, 2, "{}", refused.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_cannot_be_made_or_read_is_refused() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    let taken = lango.file("taken.jsonl", "mine");
    let run = lango.command(&["run", "hello", "--record", &taken]).run().await;
    assert_eq!((run.code, std::fs::read_to_string(&taken).unwrap().as_str()), (2, "mine"));
    assert!(run.stderr.contains("Name a new file"), "{}", run.stderr);
    let replay = |file: &str| lango.bare(&["run", "hello", "--model", &format!("replay:{file}")]);
    for file in [taken.as_str(), "/nowhere"] {
        let run = replay(file).run().await;
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("cannot be replayed"), "{}", run.stderr);
    }
    // A question that was never recorded has no answer.
    let tape = lango.path("short.jsonl");
    let tape = tape.to_str().unwrap();
    assert_eq!(lango.command(&["run", "hello", "--record", tape]).run().await.code, 0);
    let chat = lango.bare(&["chat", "--model", &format!("replay:{tape}")]);
    let chat = chat.input("hello\nand again\n").run().await;
    assert_eq!(chat.code, 4, "{}", chat.stderr);
    assert!(chat.stdout.contains("no further reply"), "{}", chat.stdout);
}
