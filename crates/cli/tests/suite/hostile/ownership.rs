//! A tool runs only for its owner and only under its exact name.

use lango_protocol::CallStatus;

use crate::fixture::{Lango, TO_OPERATOR, transfers};

#[tokio::test(flavor = "multi_thread")]
async fn the_orchestrator_cannot_run_a_tool() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [
    { name = "exec_shell", arguments = { command = "touch owned" } },
    { name = "fs_write", arguments = { path = "owned", content = "x" } },
]
[[reply]]
agent = "lango-orchestrator"
result = "lango-orchestrator has no tools"
say = "I cannot do that myself."
"#;
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("do it").with(&["--approve", "all"]).turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "I cannot do that myself."));
    assert_eq!(turn.results_with(CallStatus::Refused), 2);
    assert_eq!(turn.count("tool_started"), 0);
    assert!(!lango.workspace().join("owned").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_specialist_cannot_run_the_tool_of_another() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Plan." } }]
[[reply]]
agent = "planner"
results = 0
call = [{ name = "exec_shell", arguments = { command = "touch owned" } }]
[[reply]]
agent = "planner"
say = "1. Another agent runs it."
"#;
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("plan it").with(&["--approve", "all"]).turn().await;
    assert_eq!((turn.code, turn.author()), (0, "planner"));
    assert_eq!(turn.results_with(CallStatus::Refused), 1);
    assert!(!lango.workspace().join("owned").exists());
    assert!(lango.requests_of("planner")[0].tools().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_other_spelling_of_a_tool_runs_it() {
    let long = "exec_shell".repeat(100);
    let names = [
        "EXEC_SHELL",
        "Exec_Shell",
        "exec-shell",
        " exec_shell",
        "exec_shell ",
        "functions.exec_shell",
        "operator.exec_shell",
        "mcp__operator__exec_shell",
        "operator/exec_shell",
        "exec_shеll",
        "exec_shell\\u0000",
        "",
        "exec",
        "lango",
        "approve",
        &long,
    ];
    let call = |name: &&str| {
        format!("{{ name = \"{name}\", arguments = {{ command = \"touch owned\" }} }}")
    };
    let calls = names.iter().map(call).collect::<Vec<String>>().join(",\n");
    let script = format!(
        "[[reply]]\nagent = \"operator\"\nresults = 0\ncall = [\n{calls}]\n\
         [[reply]]\nagent = \"operator\"\nsay = \"None of them works.\"\n"
    );
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    let turn = lango.ask("do it").with(&["--approve", "all"]).turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "None of them works."));
    assert_eq!(turn.results_with(CallStatus::Refused), names.len());
    assert_eq!(turn.outcome().work.calls_succeeded, 0);
    assert!(!lango.workspace().join("owned").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_specialist_cannot_delegate() {
    let script = r#"
[[reply]]
agent = "operator"
results = 0
call = [
    { name = "transfer_to_agent", arguments = { agent_name = "planner", task = "You do it." } },
    { name = "transfer_to_agent", arguments = { agent_name = "operator", task = "I do it." } },
]
[[reply]]
agent = "operator"
say = "Then I do it myself."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("do it").turn().await;
    assert_eq!((turn.code, turn.author()), (0, "operator"));
    assert_eq!((turn.transfers(), turn.count("transfer_refused")), (vec!["operator"], 2));
    assert!(lango.requests_of("planner").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn invented_empty_and_look_alike_agents_are_refused() {
    let names =
        ["root-shell", "", " ", "оperator", "operator\\n", "lango-orchestrator", "user", "lango"];
    let calls = transfers(&names);
    let script = format!(
        "[[reply]]\nresults = 0\ncall = [\n{calls},\n\
         {{ name = \"transfer_to_agent\", raw = '{{\"agent_name\": 7}}' }},\n\
         {{ name = \"transfer_to_agent\", raw = 'operator' }},\n\
         {{ name = \"transfer_to_agent\", raw = '' }},\n]\n\
         [[reply]]\nsay = \"No agent is there.\"\n"
    );
    let lango = Lango::playing(&[&script]).await;
    let turn = lango.ask("do it").turn().await;
    assert_eq!((turn.code, turn.author()), (0, "lango-orchestrator"));
    assert_eq!((turn.count("transfer"), turn.count("transfer_refused")), (0, names.len() + 3));
    assert_eq!(turn.model_calls(), 2);
}
