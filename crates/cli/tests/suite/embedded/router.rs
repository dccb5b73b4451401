//! The fast path: with another model, the encoder makes the orchestrator's choice where it is sure.

use super::{ask_in, calls, deciders};
use crate::fixture::{Lango, TO_OPERATOR, calling};

const LISTS: &str = "{ path = \".\" }";

fn script() -> String {
    calling("operator", &[("fs_list", LISTS)])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clear_request_saves_the_orchestrators_call() {
    let lango = Lango::playing(&[TO_OPERATOR, &script()]).await;
    let turn = lango.ask("list the files in src").set("LANGO_AGENT_ROUTER", "auto").turn().await;
    assert_eq!((turn.code, turn.transfers()), (0, vec!["operator"]));
    assert_eq!(deciders(&turn), ["embedded"]);
    assert!(lango.requests_of("lango-orchestrator").is_empty());
    let operator = lango.requests_of("operator");
    assert_eq!((operator.len(), lango.requests().len()), (2, 2));
    // The agent gets the user's words, and makes its own calls.
    assert!(operator[0].user().contains("list the files in src"), "{}", operator[0].user());
    assert_eq!(calls(&turn)[0].0, "fs_list");
}

#[tokio::test(flavor = "multi_thread")]
async fn off_unless_it_is_turned_on() {
    let lango = Lango::playing(&[TO_OPERATOR, &script()]).await;
    let turn = lango.ask("list the files in src").turn().await;
    assert_eq!(lango.requests_of("lango-orchestrator").len(), 1);
    assert_eq!((deciders(&turn).len(), lango.requests().len()), (1, 3));
    assert!(deciders(&turn)[0].starts_with("openai/"), "{:?}", deciders(&turn));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unclear_request_asks_the_model() {
    for request in ["sort that out, will you", "hello there!", "read README.md and then run ls"] {
        let lango = Lango::playing(&[TO_OPERATOR, &script()]).await;
        let turn = lango.ask(request).set("LANGO_AGENT_ROUTER", "auto").turn().await;
        assert_eq!(lango.requests_of("lango-orchestrator").len(), 1, "{request}");
        assert!(deciders(&turn)[0].starts_with("openai/"), "{request}: {:?}", deciders(&turn));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_follows_a_question_goes_to_the_model() {
    let asks = "[[reply]]\nagent = \"operator\"\ntimes = 1\nsay = \"[ASK] Which directory?\"\n";
    let lango = Lango::playing(&[TO_OPERATOR, asks, &script()]).await;
    let ask =
        |text: &str| lango.ask(text).with(&["--session", "s"]).set("LANGO_AGENT_ROUTER", "auto");
    let turn = ask("list the files in src").turn().await;
    assert_eq!((turn.status().as_str(), deciders(&turn)), ("needs_input", vec!["embedded"]));
    // As clear as before, but it may be the answer.
    let turn = ask("list the files in src").turn().await;
    assert!(deciders(&turn)[0].starts_with("openai/"), "{:?}", deciders(&turn));
    assert_eq!(lango.requests_of("lango-orchestrator").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_routed_to_an_agent_that_is_not_there() {
    let says = "[[reply]]\nagent = \"lango-orchestrator\"\nsay = \"I cannot.\"\n";
    let lango = Lango::playing(&[says]).await;
    let request = "remember that my dentist is Dr Weber";
    let turn = lango.ask(request).small_team().set("LANGO_AGENT_ROUTER", "auto").turn().await;
    assert_eq!((turn.answer(), turn.transfers().len()), ("I cannot.", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_embedded_model_it_changes_nothing() {
    let lango = Lango::silent().await;
    let turn = ask_in(&lango, "s", "read README.md").set("LANGO_AGENT_ROUTER", "auto").turn().await;
    assert_eq!((turn.code, deciders(&turn)), (0, vec!["embedded"]));
    assert!(turn.answer().contains("Three lines."), "{}", turn.answer());
}
