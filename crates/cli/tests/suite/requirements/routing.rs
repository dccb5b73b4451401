//! Who answers, and what everybody is told.

use lango_protocol::{CallStatus, EventBody};

use crate::fixture::{Lango, TO_OPERATOR, transfers};

const GREETING: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "hello"
say = "Hello. What can I do for you?"
"#;

const LOOK: &str = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "fs_stat", arguments = { path = "README.md" } }]
[[reply]]
agent = "operator"
results = 1
say = "This is what I found: {result}"
"#;

/// Documents 000, 001 and 003, "Simple greeting", with both line-ups.
#[tokio::test(flavor = "multi_thread")]
async fn r13_a_greeting_is_answered_by_the_orchestrator_in_one_model_call() {
    for topology in ["standard", "compact"] {
        let lango = Lango::playing(&[GREETING]).await;
        let turn = lango.ask("hello").with(&["--topology", topology]).turn().await;
        assert_eq!((turn.code, turn.author()), (0, "lango-orchestrator"));
        assert_eq!(turn.answer(), "Hello. What can I do for you?");
        assert_eq!(turn.types(), ["user_message", "message", "turn_finished"]);
        assert_eq!(lango.requests().len(), 1);
    }
}

/// Documents 000, "Tool-requiring task" and "Task requiring tools".
#[tokio::test(flavor = "multi_thread")]
async fn r09_r13_a_task_that_needs_a_tool_is_done_by_the_specialist_in_three_model_calls() {
    let lango = Lango::playing(&[TO_OPERATOR, LOOK]).await;
    let turn = lango.ask("How many lines has README.md?").turn().await;
    assert_eq!((turn.code, turn.author()), (0, "operator"));
    assert_eq!(turn.transfers(), ["operator"]);
    assert!(turn.answer().contains("3 lines"), "{}", turn.answer());
    assert_eq!(turn.results_with(CallStatus::Ok), 1);
    let asked: Vec<String> = lango.requests().into_iter().map(|request| request.agent).collect();
    assert_eq!(asked, ["lango-orchestrator", "operator", "operator"]);
    assert_eq!(turn.model_calls(), 3);
}

/// Documents 001 and 003, "Tool-requiring task", "Task requiring tools", "Complex task requiring
/// tools".
#[tokio::test(flavor = "multi_thread")]
async fn r09_r13_compact_a_task_that_needs_a_tool_is_done_by_the_executor() {
    let script = [TO_OPERATOR, LOOK].concat().replace("operator", "executor");
    let lango = Lango::playing(&[&script]).await;
    let turn = lango.ask("How many lines has README.md?").with(&["--topology", "compact"]);
    let turn = turn.turn().await;
    assert_eq!((turn.code, turn.author(), turn.model_calls()), (0, "executor", 3));
    assert_eq!(turn.transfers(), ["executor"]);
    assert!(turn.answer().contains("3 lines"), "{}", turn.answer());
}

/// Document 000, "Agent name exactness": the one spelling that is offered is the one that works.
#[tokio::test(flavor = "multi_thread")]
async fn r09_only_the_exact_name_of_an_agent_is_taken() {
    let near_misses = ["Operator", "operator ", "the operator", "operator-agent", "op", "exec"];
    let script = format!(
        "[[reply]]\nagent = \"lango-orchestrator\"\ntimes = 1\ncall = [{}]\n\
         [[reply]]\nagent = \"lango-orchestrator\"\ncall = [{}]\n\
         [[reply]]\nagent = \"operator\"\nsay = \"Here I am.\"\n",
        transfers(&near_misses),
        transfers(&["operator"])
    );
    let lango = Lango::playing(&[&script]).await;
    let turn = lango.ask("do it").small_team().turn().await;
    assert_eq!((turn.code, turn.author()), (0, "operator"));
    assert_eq!(turn.count("transfer_refused"), near_misses.len());
    assert_eq!(turn.transfers(), ["operator"]);
    assert_eq!(lango.requests()[0].targets(), ["operator", "navigator", "planner"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r21_an_invented_agent_is_refused_with_the_valid_names_and_the_turn_goes_on() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "file-agent", task = "x" } }]
[[reply]]
agent = "lango-orchestrator"
result = "Valid names: operator, navigator, planner"
say = "I will do without."
"#;
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("do it").small_team().turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "I will do without."));
    let refused = turn.events.iter().find_map(|event| match &event.body {
        EventBody::TransferRefused { requested, valid, .. } => Some((requested.as_str(), valid)),
        _ => None,
    });
    let (requested, valid) = refused.unwrap();
    assert_eq!(requested, "file-agent");
    let valid: Vec<&str> = valid.iter().map(AsRef::as_ref).collect();
    assert_eq!(valid, ["operator", "navigator", "planner"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r01_r10_the_orchestrator_is_sent_a_delegating_identity_and_no_tool() {
    let lango = Lango::playing(&[TO_OPERATOR, LOOK]).await;
    lango.ask("How many lines has README.md?").turn().await;
    let orchestrator = &lango.requests_of("lango-orchestrator")[0];
    assert_eq!(orchestrator.tools(), ["transfer_to_agent"]);
    let system = orchestrator.system();
    assert!(system.starts_with("You are lango-orchestrator,"), "{system}");
    assert!(system.contains("You have no tools.") && system.contains("## Routing table"));
    assert!(!system.contains("## Tool usage"), "{system}");
    for tool in ["exec_shell", "fs_read", "fs_write", "fs_list"] {
        assert!(!orchestrator.text().contains(tool), "{tool}");
    }
    let operator = &lango.requests_of("operator")[0];
    assert!(operator.tools().contains(&"exec_shell"), "{:?}", operator.tools());
    assert!(!operator.tools().contains(&"transfer_to_agent"));
    assert!(operator.system().contains("## Tool usage"), "{}", operator.system());
}

#[tokio::test(flavor = "multi_thread")]
async fn r02_r10_r11_a_single_agent_has_every_tool_and_answers_under_its_own_name() {
    let script = LOOK.replace("operator", "lango-agent");
    let lango = Lango::playing(&[&script]).await;
    let single = lango.ask("How many lines?").set("LANGO_AGENT_MULTIAGENT", "false");
    let turn = single.turn().await;
    assert_eq!((turn.code, turn.author(), turn.model_calls()), (0, "lango-agent", 2));
    let authors = turn.events.iter().filter_map(|event| event.author.as_deref());
    assert!(authors.into_iter().all(|a| matches!(a, "user" | "lango-agent" | "lango")));
    let request = &lango.requests()[0];
    for tool in [
        "exec_shell",
        "fs_copy",
        "fs_edit",
        "fs_find",
        "fs_list",
        "fs_read",
        "fs_search",
        "fs_stat",
        "fs_write",
    ] {
        assert!(request.tools().contains(&tool), "{tool}: {:?}", request.tools());
    }
    assert!(request.targets().is_empty());
    assert!(request.system().contains("## Tool usage"), "{}", request.system());
}

#[tokio::test(flavor = "multi_thread")]
async fn r11_every_event_of_a_delegated_turn_keeps_its_author() {
    let lango = Lango::playing(&[TO_OPERATOR, LOOK]).await;
    let turn = lango.ask("How many lines?").turn().await;
    let author = |name: &str| {
        let event = turn.events.iter().find(|event| event.body.type_name() == name);
        event.unwrap().author.as_deref().unwrap()
    };
    assert_eq!(author("user_message"), "user");
    assert_eq!(author("transfer"), "lango-orchestrator");
    for name in ["tool_call", "tool_result", "message", "transfer_finished"] {
        assert_eq!(author(name), "operator", "{name}");
    }
    assert_eq!(author("turn_finished"), "lango");
}
