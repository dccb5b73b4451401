//! Several agents in one turn.

use lango_protocol::{CallStatus, EventBody};

use crate::fixture::{Lango, TO_OPERATOR};

#[tokio::test(flavor = "multi_thread")]
async fn two_transfers_in_one_reply_work_side_by_side_and_the_orchestrator_speaks_last() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [
    { name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Look." } },
    { name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Plan." } },
]
[[reply]]
agent = "operator"
results = 0
delay_ms = 300
call = [{ name = "fs_list", arguments = { path = "." } }]
[[reply]]
agent = "operator"
say = "There is a README."
[[reply]]
agent = "planner"
delay_ms = 100
say = "First read it."
[[reply]]
agent = "lango-orchestrator"
results = 2
say = "Both are done."
"#;
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("look and plan").turn().await;
    assert_eq!((turn.code, turn.author()), (0, "lango-orchestrator"));
    assert_eq!(turn.transfers(), ["operator", "planner"]);
    // The planner was asked while the operator was still waiting for its model.
    let asked: Vec<String> = lango.requests().into_iter().map(|request| request.agent).collect();
    assert_eq!(asked.len(), 5, "{asked:?}");
    assert!(asked[1..3].contains(&"operator".to_owned()), "{asked:?}");
    assert!(asked[1..3].contains(&"planner".to_owned()), "{asked:?}");
    let last = lango.requests().pop().unwrap();
    let results = last.said_by("tool");
    assert_eq!(
        results,
        ["operator answered:\nThere is a README.", "planner answered:\nFirst read it."]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_was_asked_for_comes_back_and_the_orchestrator_speaks_last() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Look.", return = true } }]
[[reply]]
agent = "operator"
say = "Three lines."
[[reply]]
agent = "lango-orchestrator"
result = "operator answered"
say = "It has three lines."
"#;
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("how long is it?").turn().await;
    assert_eq!((turn.code, turn.author()), (0, "lango-orchestrator"));
    let said = [("operator", "Three lines."), ("lango-orchestrator", "It has three lines.")];
    assert_eq!(turn.messages(), said);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_plan_is_under_way_the_orchestrator_speaks_last() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Plan.", return = true } }]
[[reply]]
agent = "planner"
say = "1. Look. 2. Tell."
[[reply]]
agent = "lango-orchestrator"
results = 1
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Look." } }]
[[reply]]
agent = "operator"
say = "Looked."
[[reply]]
agent = "lango-orchestrator"
results = 2
say = "Step one is done."
"#;
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("do all of it").turn().await;
    assert_eq!((turn.code, turn.author()), (0, "lango-orchestrator"));
    assert_eq!(turn.answer(), "Step one is done.");
    assert_eq!(turn.transfers(), ["planner", "operator"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_only_read_are_answered_together_in_the_order_of_the_calls() {
    let script = r#"
[[reply]]
agent = "operator"
results = 0
call = [
    { name = "fs_read", arguments = { path = "README.md" } },
    { name = "fs_read", arguments = { path = "src/main.rs" } },
]
[[reply]]
agent = "operator"
results = 2
say = "Read both."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("read both").turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "Read both."));
    let results = turn.results();
    assert!(results[0].2.contains("# Sample") && results[1].2.contains("fn main()"), "{results:?}");
    let at: Vec<_> = turn
        .events
        .iter()
        .filter(|event| matches!(event.body, EventBody::ToolResult { .. }))
        .map(|event| (event.at, event.seq))
        .collect();
    assert_eq!(at[0].0, at[1].0, "one batch");
    assert_eq!(at[0].1 + 1, at[1].1, "one batch");
    assert_eq!(turn.results_with(CallStatus::Ok), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_specialist_that_fails_does_not_take_the_others_with_it() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [
    { name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Look." } },
    { name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Plan." } },
]
[[reply]]
agent = "operator"
fault = "status"
status = 500
[[reply]]
agent = "planner"
say = "First read it."
[[reply]]
agent = "lango-orchestrator"
mentions = "operator could not finish"
say = "I only have the plan: first read it."
"#;
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("look and plan").turn().await;
    assert_eq!((turn.code, turn.author()), (0, "lango-orchestrator"));
    assert_eq!(turn.answer(), "I only have the plan: first read it.");
}
