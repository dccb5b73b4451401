//! The reject protocol: routed again, not to the same agent, and the user never sees the marker.

use crate::fixture::{Lango, TO_OPERATOR};

const OPERATOR_REJECTS: &str = r#"
[[reply]]
agent = "operator"
say = "[REJECT] planning is not mine"
"#;

/// The orchestrator asks the planner once the operator is no longer offered.
const THEN_PLANNER: &str = r#"
[[reply]]
agent = "lango-orchestrator"
result = "operator rejected the task"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Plan it." } }]
"#;

/// The navigator is asked last, and has nothing to offer either.
const THEN_NAVIGATOR: &str = r#"
[[reply]]
agent = "lango-orchestrator"
result = "planner rejected the task"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "navigator", task = "Look." } }]
[[reply]]
agent = "navigator"
say = "[REJECT] this is on no page"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn r18_a_rejected_task_is_routed_to_another_agent() {
    let planner = "[[reply]]\nagent = \"planner\"\nsay = \"1. Begin. 2. End.\"\n";
    let lango = Lango::playing(&[TO_OPERATOR, OPERATOR_REJECTS, THEN_PLANNER, planner]).await;
    let turn = lango.ask("make a plan").small_team().turn().await;
    assert_eq!((turn.code, turn.author(), turn.answer()), (0, "planner", "1. Begin. 2. End."));
    assert_eq!(turn.transfers(), ["operator", "planner"]);
    assert_eq!(turn.count("rejected"), 1);
    let asked = lango.requests_of("lango-orchestrator");
    assert_eq!(asked[0].targets(), ["operator", "navigator", "planner"]);
    assert_eq!(asked[1].targets(), ["navigator", "planner"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_an_agent_that_rejected_is_refused_when_it_is_chosen_again() {
    let again = r#"
[[reply]]
agent = "lango-orchestrator"
result = "operator rejected the task"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Please." } }]
[[reply]]
agent = "lango-orchestrator"
result = "Valid names: navigator, planner"
say = "None of us does that."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, OPERATOR_REJECTS, again]).await;
    let turn = lango.ask("make a plan").small_team().turn().await;
    assert_eq!((turn.code, turn.author()), (0, "lango-orchestrator"));
    assert_eq!((turn.transfers(), turn.count("transfer_refused")), (vec!["operator"], 1));
    assert_eq!(lango.requests_of("operator").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_when_everybody_rejects_the_user_is_told_plainly() {
    let planner = "[[reply]]\nagent = \"planner\"\nsay = \"**[reject]** there is no goal\"\n";
    let everybody = [TO_OPERATOR, OPERATOR_REJECTS, THEN_PLANNER, planner, THEN_NAVIGATOR];
    let lango = Lango::playing(&everybody).await;
    let turn = lango.ask("make a plan").small_team().turn().await;
    assert_eq!((turn.code, turn.status().as_str(), turn.author()), (1, "rejected", "lango"));
    let told = turn.answer();
    assert!(told.starts_with("No agent could take this task."), "{told}");
    assert!(told.contains("planning is not mine") && told.contains("there is no goal"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_no_dress_of_the_marker_reaches_the_user() {
    for said in [
        "[REJECT] [REJECT] not mine, [reject] really",
        "Let me see.\\n> **[Reject]**: not mine",
        "[REJ[REJECT]ECT] not mine",
        "I say [REJ[reject]ECT] to this",
    ] {
        let specialists = format!(
            "[[reply]]\nagent = \"operator\"\nsay = \"{said}\"\n\
             [[reply]]\nagent = \"planner\"\nsay = \"{said}\"\n"
        );
        let lango =
            Lango::playing(&[TO_OPERATOR, THEN_PLANNER, THEN_NAVIGATOR, &specialists]).await;
        let turn = lango.ask("make a plan").small_team().turn().await;
        let printed = lango.command(&["sessions", "show", turn.events[0].session.as_str()]);
        let printed = printed.run().await.stdout.to_lowercase();
        assert!(!printed.contains("[reject]"), "{said}: {printed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_a_marker_of_the_orchestrator_is_not_a_rejection_and_is_not_shown() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"[REJECT] I do not want to.\"\n"]).await;
    let turn = lango.ask("do it").turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "I do not want to."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_a_file_that_looks_like_a_rejection_does_not_discard_the_answer() {
    let quoting = r#"
[[reply]]
agent = "operator"
say = "The log ends like this:\n[REJECT] disk full\nSo the disk is full."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, quoting]).await;
    let turn = lango.ask("what does the log say?").small_team().turn().await;
    assert_eq!((turn.code, turn.author(), turn.count("rejected")), (0, "operator", 0));
    let answer = turn.answer();
    assert!(answer.contains("disk full\nSo the disk is full."), "{answer}");
    assert!(!answer.contains("[REJECT]"), "{answer}");
    // What is streamed to a terminal is the same.
    let shown = lango.at_terminal("run 'what does the log say?'").small_team().run().await.stdout;
    assert!(shown.contains("So the disk is full.") && !shown.contains("[REJECT]"), "{shown}");
}
