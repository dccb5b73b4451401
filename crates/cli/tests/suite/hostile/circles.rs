//! Turns that would never end by themselves.

use std::time::Instant;

use lango_protocol::{CallStatus, WarningCode};

use crate::fixture::{Lango, TO_OPERATOR};

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_for_ever_is_stopped_after_two_equal_results() {
    let script = r#"
[[reply]]
agent = "operator"
call = [{ name = "fs_read", arguments = { path = "README.md" } }]
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("do it").turn().await;
    assert_eq!((turn.code, turn.class().as_str(), turn.author()), (5, "repetition", "lango"));
    assert_eq!(turn.results_with(CallStatus::Ok), 2);
    assert!(turn.warnings().contains(&WarningCode::Repetition));
    assert!(turn.answer().contains("2 succeeded"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_stops_going_round_in_circles_can_still_answer() {
    let script = r#"
[[reply]]
agent = "operator"
offers = "fs_read"
call = [{ name = "fs_read", arguments = { path = "README.md" } }]
[[reply]]
agent = "operator"
say = "I read it, again and again."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("do it").turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "I read it, again and again."));
    assert_eq!(turn.results_with(CallStatus::Ok), 2);
}

/// The command's output, and so every result, is a different one.
const EVER_CHANGING: &str = r#"
[[reply]]
agent = "operator"
call = [{ name = "exec_shell", arguments = { command = "echo x >> ran; wc -l ran" } }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_bring_something_new_for_ever_are_stopped_by_the_budget_of_calls() {
    let lango = Lango::playing(&[TO_OPERATOR, EVER_CHANGING]).await;
    let invocation = lango.ask("do it").with(&["--approve", "all"]);
    let turn = invocation.set("LANGO_BUDGET_TOOLCALLS", "4").turn().await;
    assert_eq!((turn.code, turn.class().as_str()), (5, "tool_calls"));
    assert_eq!(turn.results_with(CallStatus::Ok), 4);
    let ran = std::fs::read_to_string(lango.workspace().join("ran")).unwrap();
    assert_eq!(ran.lines().count(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_with_ever_new_arguments_are_stopped_by_the_budget_of_calls() {
    let replies = (0..20).map(|count| {
        format!(
            "[[reply]]\nagent = \"operator\"\nresults = {count}\n\
             call = [{{ name = \"fs_stat\", arguments = {{ path = \"nothing-{count}\" }} }}]\n"
        )
    });
    let script: String = replies.collect();
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    let turn = lango.ask("do it").set("LANGO_BUDGET_TOOLCALLS", "5").turn().await;
    assert_eq!((turn.code, turn.class().as_str()), (5, "tool_calls"));
    assert_eq!(turn.results_with(CallStatus::Error), 5);
    assert_eq!(turn.count("tool_call"), turn.results().len());
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_for_ever_are_stopped_by_the_budget_of_model_calls() {
    let lango = Lango::playing(&[TO_OPERATOR, EVER_CHANGING]).await;
    let invocation = lango.ask("do it").with(&["--approve", "all"]);
    let turn = invocation.set("LANGO_BUDGET_MODELCALLS", "6").turn().await;
    assert_eq!((turn.code, turn.class().as_str(), turn.model_calls()), (5, "model_calls", 6));
    assert_eq!(lango.requests().len(), 6);
    assert!(lango.requests().last().unwrap().tools().is_empty(), "the last word is words only");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_of_tokens_ends_a_turn() {
    let lango = Lango::playing(&[TO_OPERATOR, EVER_CHANGING]).await;
    let invocation = lango.ask("do it").with(&["--approve", "all"]);
    let turn = invocation.set("LANGO_BUDGET_TOKENS", "3000").turn().await;
    assert_eq!((turn.code, turn.class().as_str()), (5, "tokens"));
    assert!(turn.outcome().work.spent.tokens >= 3000);
    assert!(turn.model_calls() < 10, "{}", turn.model_calls());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_of_time_ends_a_turn_and_the_command_it_waits_for() {
    let slow_model = "[[reply]]\ndelay_ms = 60000\nsay = \"Late.\"\n";
    let slow_tool = r#"
[[reply]]
agent = "operator"
call = [{ name = "exec_shell", arguments = { command = "sleep 60" } }]
"#;
    for script in [vec![slow_model], vec![TO_OPERATOR, slow_tool]] {
        let lango = Lango::playing(&script).await;
        let began = Instant::now();
        let invocation = lango.ask("do it").with(&["--approve", "all"]);
        let turn = invocation.set("LANGO_BUDGET_SECONDS", "1").turn().await;
        assert_eq!((turn.code, turn.status().as_str()), (5, "timed_out"));
        assert!(turn.answer().contains("time limit"), "{}", turn.answer());
        assert!(began.elapsed().as_secs() < 6, "{:?}", began.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_agents_cannot_pass_a_task_to_and_fro_for_ever() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
result = "operator answered"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Plan.", return = true } }]
[[reply]]
agent = "lango-orchestrator"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Do.", return = true } }]
[[reply]]
agent = "operator"
say = "The planner must say how."
[[reply]]
agent = "planner"
say = "The operator must say what."
"#;
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("do it").turn().await;
    assert_eq!((turn.code, turn.class().as_str()), (5, "delegation_rounds"));
    assert_eq!(turn.transfers(), ["operator", "planner", "operator", "planner", "operator"]);
    assert!(turn.answer().contains("delegation rounds"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_agents_share_one_budget() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
copies = 4
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Do." } }]
[[reply]]
agent = "operator"
call = [{ name = "exec_shell", arguments = { command = "echo x >> ran; wc -l ran" } }]
"#;
    let lango = Lango::playing(&[script]).await;
    let invocation = lango.ask("do it").with(&["--approve", "all"]);
    let turn = invocation.set("LANGO_BUDGET_MODELCALLS", "10").turn().await;
    assert_eq!((turn.code, turn.class().as_str()), (5, "model_calls"));
    assert!(lango.requests().len() <= 10, "{}", lango.requests().len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_calls_tools_when_only_words_are_left_does_not_get_them() {
    let script = r#"
[[reply]]
agent = "operator"
call = [{ name = "exec_shell", arguments = { command = "echo x >> ran; wc -l ran" } }]
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let invocation = lango.ask("do it").with(&["--approve", "all"]);
    let turn = invocation.set("LANGO_BUDGET_MODELCALLS", "3").turn().await;
    assert_eq!((turn.code, turn.class().as_str(), turn.author()), (5, "model_calls", "lango"));
    assert_eq!(turn.results_with(CallStatus::Ok), 1);
    assert_eq!(turn.results_with(CallStatus::Refused), 1);
    let ran = std::fs::read_to_string(lango.workspace().join("ran")).unwrap();
    assert_eq!(ran.lines().count(), 1);
}
