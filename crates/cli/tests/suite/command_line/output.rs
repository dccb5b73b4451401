//! What is printed where.

use serde_json::Value;

use crate::fixture::{Lango, TO_OPERATOR};

const LOOK: &str = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "fs_stat", arguments = { path = "README.md" } }]
[[reply]]
agent = "operator"
say = "It has 3 lines."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_is_alone_on_standard_output_and_progress_is_on_standard_error() {
    let lango = Lango::playing(&[TO_OPERATOR, LOOK]).await;
    let finished = lango.command(&["run", "How", "long?"]).run().await;
    assert_eq!((finished.code, finished.stdout.as_str()), (0, "It has 3 lines.\n"));
    let lines: Vec<&str> = finished.stderr.lines().collect();
    assert!(lines[0].contains("OPENAI_BASE_URL") && lines[0].contains("session"), "{lines:?}");
    assert_eq!(lines[1], "→ operator  Do it.");
    assert_eq!(lines[2], r#"  fs_stat  {"path":"README.md"}"#);
    assert!(lines[3].contains(" ok ") && lines[3].contains(" ms "), "{lines:?}");
    assert!(lines[3].contains("`README.md` is a file: 23 bytes"), "{lines:?}");
    assert_eq!(lines[4], "operator:");
    assert!(lines[5].starts_with("done · 3 model calls · 1 tool call · "), "{lines:?}");
    assert!(!finished.stderr.contains('\u{1b}'), "no colour in a pipe: {lines:?}");
    assert!(lango.requests()[0].user().ends_with("How long?"), "words make one message");
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_prints_nothing_but_the_answer() {
    let lango = Lango::playing(&[TO_OPERATOR, LOOK]).await;
    let finished = lango.command(&["run", "--quiet", "How long?"]).run().await;
    assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("It has 3 lines.\n", ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_one_object_with_text_author_and_outcome() {
    let lango = Lango::playing(&[TO_OPERATOR, LOOK]).await;
    let finished = lango.command(&["run", "--output-format", "json", "How long?"]).run().await;
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    assert_eq!(finished.stdout.lines().count(), 1, "{}", finished.stdout);
    let result: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(result["text"], "It has 3 lines.");
    assert_eq!(result["author"], "operator");
    assert_eq!(result["outcome"]["status"], "done");
    assert_eq!(result["outcome"]["work"]["calls_succeeded"], 1);
    assert!(result["usage"]["input"].as_u64().unwrap() > 0);
    let session = result["session"].as_str().unwrap();
    assert_eq!(lango.command(&["sessions", "show", session]).run().await.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_of_a_turn_that_failed_still_has_words_and_an_outcome() {
    let lango = Lango::playing(&["[[reply]]\nfault = \"status\"\nstatus = 500\n"]).await;
    let finished = lango.command(&["run", "--output-format", "json", "hello"]).run().await;
    assert_eq!(finished.code, 4);
    let result: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(result["author"], "lango");
    assert_eq!(result["outcome"]["class"]["kind"], "provider");
    assert!(result["text"].as_str().unwrap().contains("HTTP 500"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_json_is_the_documented_sequence_of_events() {
    let lango = Lango::playing(&[TO_OPERATOR, LOOK]).await;
    let turn = lango.ask("How long?").turn().await;
    let expected = [
        "user_message",
        "transfer",
        "tool_call",
        "tool_result",
        "message",
        "transfer_finished",
        "turn_finished",
    ];
    assert_eq!(turn.types(), expected);
    assert_eq!((turn.count("usage"), turn.stderr.as_str()), (3, ""));
    assert!(turn.count("text_delta") > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_goes_away_does_not_break_a_command() {
    let lango = Lango::playing(&[TO_OPERATOR, LOOK]).await;
    lango.ask("How long?").with(&["--session", "work"]).turn().await;
    for arguments in [
        &["run", "--session", "work", "How long?"][..],
        &["run", "--session", "work", "--output-format", "stream-json", "How long?"],
        &["agents", "list"],
        &["sessions", "show", "work"],
        &["sessions", "export", "work"],
        &["completion", "bash"],
    ] {
        let finished = lango.command(arguments).start().without_reader().await.finish().await;
        assert!(!finished.stderr.contains("panicked"), "{arguments:?}: {}", finished.stderr);
        assert_eq!(finished.code, 0, "{arguments:?}: {}", finished.stderr);
    }
    let turn = lango.ask("How long?").with(&["--session", "work"]).turn().await;
    assert_eq!(turn.code, 0, "output that was not read is in the journal all the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demo_needs_nothing_and_answers() {
    let lango = Lango::silent().await;
    let demo = lango.command(&["demo"]).unset("OPENAI_BASE_URL").run().await;
    assert_eq!(demo.code, 0, "{}", demo.stderr);
    assert!(demo.stdout.contains("README.md"), "the tools are real: {}", demo.stdout);
    assert!(demo.stderr.contains("→ operator") && demo.stderr.contains("lango sessions show"));
    let streamed = lango.command(&["demo", "--output-format", "stream-json"]);
    let turn = streamed.unset("OPENAI_BASE_URL").turn().await;
    assert_eq!((turn.code, turn.author()), (0, "operator"));
    assert!(lango.requests().is_empty(), "no other model was asked");
}
