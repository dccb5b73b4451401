//! What it cannot do, and says so.

use super::{ask, calls};
use crate::fixture::Lango;

/// Asks, and checks that the orchestrator only talked.
async fn only_words(request: &str) -> String {
    let lango = Lango::silent().await;
    let turn = ask(&lango, request).with(&["--approve", "all"]).turn().await;
    assert_eq!((turn.code, turn.author()), (0, "lango-orchestrator"), "{}", turn.answer());
    assert_eq!(turn.status(), "done", "{request}: {}", turn.answer());
    assert_eq!(calls(&turn), [], "{request}");
    assert!(lango.received().is_empty());
    turn.answer().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn small_talk_gets_one_short_line() {
    for request in ["hello there!", "thanks a lot", "good morning", "bye"] {
        let answer = only_words(request).await;
        assert!(answer.len() < 80 && !answer.contains('\n'), "{request}: {answer}");
    }
    let answer = only_words("what can you do?").await;
    assert!(answer.contains("lango agents list"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn general_knowledge_needs_a_bigger_model() {
    for request in ["what is the capital of France?", "tell me a joke"] {
        let answer = only_words(request).await;
        assert!(answer.contains("the small model"), "{answer}");
        assert!(answer.contains("ANTHROPIC_API_KEY") && !answer.contains("Paris"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn work_of_an_agent_that_is_not_there_is_named() {
    let lango = Lango::silent().await;
    for (request, agent) in [
        ("every monday at nine, run the backup", "automator"),
        ("store my github token in the vault", "vault"),
    ] {
        let turn = ask(&lango, request).with(&["--approve", "all"]).small_team().turn().await;
        let answer = turn.answer();
        assert_eq!(calls(&turn), [], "{request}");
        assert!(answer.contains(&format!("work for the {agent}")), "{request}: {answer}");
        assert!(answer.contains("lango agents list"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_without_steps_is_not_pretended() {
    let answer = only_words("plan a three week trip through Japan for us").await;
    assert!(answer.contains("I cannot make a plan of that"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_done_of_a_sequence_with_an_unclear_step() {
    let lango = Lango::silent().await;
    let request = "read README.md, then flibber the wobbling, and then delete README.md";
    let turn = ask(&lango, request).with(&["--approve", "all"]).turn().await;
    assert_eq!(calls(&turn), [], "{}", turn.answer());
    assert!(lango.workspace().join("README.md").exists());
}
