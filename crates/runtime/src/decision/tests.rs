//! Tests replies, including hostile ones, against an offer.

use std::sync::Arc;

use lango_tool::{RegisteredTool, SafetyLevel, Tool, ToolContext, ToolError};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::*;

struct Stat;

#[derive(Clone, Deserialize, JsonSchema)]
struct NoArguments {}

impl Tool for Stat {
    type Arguments = NoArguments;
    type Output = ();
    const NAME: &'static str = "fs_stat";
    const DESCRIPTION: &'static str = "x";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: NoArguments, _: ToolContext) -> Result<(), ToolError> {
        Ok(())
    }
}

fn specialist() -> AgentOffer {
    AgentOffer { tools: vec![Arc::new(RegisteredTool::new(Stat))], targets: Vec::new() }
}

fn orchestrator() -> AgentOffer {
    let targets = ["operator", "vault"].map(|name| name.parse().unwrap()).to_vec();
    AgentOffer { tools: Vec::new(), targets }
}

fn rules(offer: &AgentOffer) -> ReplyRules<'_> {
    ReplyRules {
        offer,
        agent: "someone",
        may_reject: offer.targets.is_empty(),
        rounds: 0,
        round_limit: 5,
        calls_left: 10,
        calls_per_reply: 4,
        is_repetition: &|_, _| false,
    }
}

fn call(name: &str, arguments: &str) -> RequestedCall {
    RequestedCall { name: name.into(), arguments: arguments.into() }
}

fn act(offer: &AgentOffer, calls: Vec<RequestedCall>) -> Vec<EventBody> {
    match interpret_reply(
        CompleteReply { calls, by: "test/model".into(), ..CompleteReply::default() },
        &rules(offer),
    ) {
        Decision::Act(events) => events,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_the_exact_name_of_an_owned_tool_is_a_call_that_can_run() {
    let offer = specialist();
    for name in ["FS_STAT", "fs_stat ", "functions.fs_stat", "operator.fs_stat", "exec_shell", ""] {
        let events = act(&offer, vec![call(name, "{}")]);
        assert!(
            matches!(&events[1], EventBody::ToolResult { status: CallStatus::Refused, .. }),
            "{name}: {events:?}"
        );
    }
    assert_eq!(act(&offer, vec![call("fs_stat", "{}")]).len(), 1);
}

#[test]
fn a_transfer_goes_only_to_an_exact_name_that_is_offered() {
    let offer = orchestrator();
    for name in ["", "Operator", "operators", "оperator", "lango-orchestrator", "planner"] {
        let arguments = serde_json::json!({"agent_name": name, "task": "t"}).to_string();
        let events = act(&offer, vec![call(TRANSFER_TOOL, &arguments)]);
        let EventBody::TransferRefused { valid, reason, .. } = &events[0] else {
            panic!("{name}: {events:?}")
        };
        assert_eq!(valid.len(), 2);
        assert!(reason.contains("operator, vault"), "{reason}");
    }
    let events = act(&offer, vec![call(TRANSFER_TOOL, "not json")]);
    assert!(matches!(&events[0], EventBody::TransferRefused { .. }));
    let events = act(&specialist(), vec![call(TRANSFER_TOOL, r#"{"agent_name":"vault"}"#)]);
    assert!(matches!(&events[0], EventBody::TransferRefused { .. }));
}

#[test]
fn rounds_are_counted_within_one_reply() {
    let offer = orchestrator();
    let calls = vec![call(TRANSFER_TOOL, r#"{"agent_name":"vault","task":"t"}"#); 8];
    let events = act(&offer, calls);
    let made = events.iter().filter(|e| matches!(e, EventBody::Transfer { .. })).count();
    let refused = events.iter().filter(|e| matches!(e, EventBody::TransferRefused { .. })).count();
    assert_eq!((made, refused), (5, 3));
}

#[test]
fn an_orchestrator_that_says_reject_is_answering_without_the_marker() {
    let reply = CompleteReply { text: "[REJECT] no".into(), ..CompleteReply::default() };
    assert_eq!(
        interpret_reply(reply.clone(), &rules(&orchestrator())),
        Decision::Answer("no".into())
    );
    assert_eq!(interpret_reply(reply, &rules(&specialist())), Decision::Reject("no".into()));
}

#[test]
fn a_rejection_that_a_specialist_quotes_does_not_discard_its_answer() {
    for quoted in ["The log says:\n[REJECT] disk full", "> [REJECT] disk full\nis its last line."] {
        let reply = CompleteReply { text: quoted.into(), ..CompleteReply::default() };
        let Decision::Answer(answer) = interpret_reply(reply, &rules(&specialist())) else {
            panic!("{quoted:?} was not taken as an answer");
        };
        assert!(answer.contains("disk full") && !answer.contains("[REJECT]"), "{answer}");
    }
}

proptest! {
    #[test]
    fn every_call_becomes_exactly_one_call_event_and_surplus_ones_have_their_refusal(
        names in prop::collection::vec("fs_stat|exec_shell|[a-z]{0,5}", 1..20)
    ) {
        let offer = specialist();
        let calls: Vec<_> = names.iter().map(|name| call(name, "{}")).collect();
        let events = act(&offer, calls);
        let made = events.iter().filter(|e| matches!(e, EventBody::ToolCall { .. })).count();
        let refused = events.iter().filter(|e| matches!(e, EventBody::ToolResult { .. })).count();
        prop_assert_eq!(made, names.len());
        let runnable = names.iter().take(4).filter(|name| *name == "fs_stat").count();
        prop_assert_eq!(made - refused, runnable);
    }
}
