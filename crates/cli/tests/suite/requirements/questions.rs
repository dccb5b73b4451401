//! An agent that cannot go on without the user asks, and everybody can tell that it is a question.

use crate::fixture::{Lango, TO_OPERATOR};

const ASKS: &str = r#"
[[reply]]
agent = "operator"
say = "**[ASK]** Which of the two files?"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_ends_the_turn_and_is_told_apart_from_an_answer() {
    let lango = Lango::playing(&[TO_OPERATOR, ASKS]).await;
    let turn = lango.ask("delete the file").small_team().turn().await;
    assert_eq!((turn.code, turn.status().as_str()), (6, "needs_input"));
    assert_eq!((turn.author(), turn.answer()), ("operator", "Which of the two files?"));
    assert!(!turn.shown().to_lowercase().contains("[ask]"), "{}", turn.shown());
    assert_eq!(turn.transfer_ends(), ["needs_input"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_for_an_agent_that_asked_for_the_result_goes_through_it() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "x", return = true } }]
[[reply]]
agent = "lango-orchestrator"
result = "operator needs an answer from the user. It asks:\nWhich of the two files?"
say = "[ASK] The operator wants to know: which of the two files?"
"#;
    let lango = Lango::playing(&[script, ASKS]).await;
    let turn = lango.ask("delete the file").small_team().turn().await;
    assert_eq!((turn.code, turn.status().as_str()), (6, "needs_input"));
    assert_eq!(turn.author(), "lango-orchestrator");
    assert_eq!(turn.answer(), "The operator wants to know: which of the two files?");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_marker_in_the_middle_is_text_and_one_alone_is_nothing() {
    let said = r#"
[[reply]]
agent = "lango-orchestrator"
times = 1
say = "[ASK]"
[[reply]]
agent = "lango-orchestrator"
say = "Write args[ask] in line 3."
"#;
    let lango = Lango::playing(&[said]).await;
    let turn = lango.ask("how?").small_team().turn().await;
    assert_eq!((turn.status().as_str(), turn.answer()), ("done", "Write args[ask] in line 3."));
    assert_eq!(lango.requests().len(), 2);
}
