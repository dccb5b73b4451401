//! Delegation rounds are counted by the runtime, whatever the model would like.

use crate::fixture::Lango;

/// Delegates as long as it is offered.
const KEEN: &str = r#"
[[reply]]
agent = "lango-orchestrator"
offers = "transfer_to_agent"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "One more.", return = true } }]
[[reply]]
agent = "operator"
say = "One more done."
[[reply]]
agent = "lango-orchestrator"
withholds = "transfer_to_agent"
say = "That is what we have."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn r15_after_the_limit_the_transfer_is_not_offered_and_the_orchestrator_answers() {
    let lango = Lango::playing(&[KEEN]).await;
    let turn = lango.ask("count").small_team().with(&["--max-rounds", "2"]).turn().await;
    assert_eq!((turn.code, turn.author()), (0, "lango-orchestrator"));
    assert_eq!(turn.answer(), "That is what we have.");
    assert_eq!(turn.transfers().len(), 2);
    let asked = lango.requests_of("lango-orchestrator");
    let offered: Vec<usize> = asked.iter().map(|request| request.targets().len()).collect();
    assert_eq!(offered, [3, 3, 0]);
    assert!(asked[0].system().contains("At most 2 delegation rounds"), "{}", asked[0].system());
}

/// Documents 000 and 001, "Default max rounds"; 003 says 3 and is superseded.
#[tokio::test(flavor = "multi_thread")]
async fn r15_five_rounds_are_the_default_and_zero_means_the_default() {
    for rounds in [&[][..], &["--max-rounds", "0"]] {
        let lango = Lango::playing(&[KEEN]).await;
        let turn = lango.ask("count").with(rounds).turn().await;
        assert_eq!((turn.code, turn.transfers().len()), (0, 5));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r15_rounds_are_enforced_even_in_one_reply_and_against_a_model_that_does_not_listen() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
copies = 4
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "More." } }]
[[reply]]
agent = "operator"
say = "Done."
"#;
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("count").with(&["--max-rounds", "3"]).turn().await;
    assert_eq!((turn.code, turn.transfers().len()), (5, 3));
    assert_eq!(turn.class(), "delegation_rounds");
    assert_eq!(lango.requests_of("operator").len(), 3);
}
