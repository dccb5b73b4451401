//! What later turns and other agents see of a conversation.

use crate::fixture::{Lango, TO_OPERATOR};

const WORK: &str = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "fs_read", arguments = { path = "README.md" } }]
[[reply]]
agent = "operator"
say = "It is a sample."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn r11_a_second_message_sees_the_first_and_who_answered_it() {
    let lango = Lango::playing(&[TO_OPERATOR, WORK]).await;
    let first = lango.ask("What is README.md?").with(&["--session", "work"]).turn().await;
    let second = lango.ask("And what else?").with(&["--session", "work"]).turn().await;
    assert_eq!((first.code, second.code), (0, 0));
    assert_eq!(first.events[0].session, second.events[0].session);
    let asked = lango.requests_of("lango-orchestrator");
    let again = &asked[1];
    assert_eq!(again.said_by("user")[0], "What is README.md?");
    assert!(again.user().ends_with("And what else?"), "{}", again.user());
    assert_eq!(again.assistants(), [(Some("operator"), "It is a sample.")]);
    let specialist = &lango.requests_of("operator")[2];
    assert_eq!(specialist.assistants(), [(None, "It is a sample.")], "its own words");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_specialist_sees_words_but_no_tool_traffic_of_others_or_of_earlier_turns() {
    let planner = r#"
[[reply]]
agent = "lango-orchestrator"
user = "plan"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Plan it." } }]
[[reply]]
agent = "planner"
say = "1. Read it."
"#;
    let lango = Lango::playing(&[planner, TO_OPERATOR, WORK]).await;
    lango.ask("What is README.md?").with(&["--session", "work"]).turn().await;
    let turn = lango.ask("Make a plan.").with(&["--session", "work"]).turn().await;
    assert_eq!((turn.code, turn.author()), (0, "planner"));
    let request = &lango.requests_of("planner")[0];
    assert_eq!(request.assistants(), [(Some("operator"), "It is a sample.")]);
    assert!(request.said_by("tool").is_empty());
    let text = request.text();
    assert!(!text.contains("fs_read") && !text.contains("Three lines."), "{text}");
    assert!(request.user().ends_with("Plan it.\n</task>"), "{}", request.user());
    assert!(request.user().contains("Make a plan."), "{}", request.user());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_surroundings_are_in_the_user_message_and_never_in_the_instruction() {
    let lango = Lango::playing(&[TO_OPERATOR, WORK]).await;
    lango.ask("What is README.md?").turn().await;
    let workspace = lango.workspace().canonicalize().unwrap();
    let workspace = workspace.to_str().unwrap();
    for request in lango.requests() {
        assert!(request.user().contains("<context source=\"surroundings\">"), "{}", request.user());
        assert!(request.user().contains(workspace), "{}", request.user());
        assert!(
            !request.system().contains("surroundings") && !request.system().contains(workspace)
        );
        assert!(!request.system().contains("Today:"), "{}", request.system());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_failed_does_not_spoil_the_conversation() {
    let script = r#"
[[reply]]
agent = "operator"
times = 1
call = [{ name = "fs_read", arguments = { path = "README.md" } }]
[[reply]]
agent = "operator"
times = 1
fault = "status"
status = 401
[[reply]]
agent = "operator"
say = "It is a sample."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let failed = lango.ask("What is README.md?").with(&["--session", "work"]).turn().await;
    assert_eq!((failed.code, failed.status().as_str()), (4, "failed"));
    let turn = lango.ask("Try again.").with(&["--session", "work"]).turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "It is a sample."));
}
