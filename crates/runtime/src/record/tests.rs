//! Tests that the record is consistent for any part of a turn's events.

use lango_model::Message;
use lango_protocol::{EventId, MessageOrigin, SessionId, TurnId, Usage};
use proptest::prelude::*;

use super::*;

fn event(seq: u64, author: &str, branch: Option<&CallId>, step: u32, body: EventBody) -> Event {
    Event {
        id: EventId::generate(),
        session: "s".parse::<SessionId>().unwrap(),
        turn: TurnId::generate(),
        seq,
        at: Timestamp::from_microseconds(i64::try_from(seq).unwrap() * 1000),
        author: Some(author.to_owned()),
        branch: branch.cloned(),
        step: (step > 0).then_some(step),
        body,
    }
}

/// Returns a turn with a transfer, a tool call, its result and an answer.
fn whole_turn() -> Vec<Event> {
    let root = "lango-orchestrator";
    let transfer = CallId::generate();
    let call = CallId::generate();
    let branch = Some(&transfer);
    let usage = |step, author, branch| {
        let usage = Usage { input: 10, output: 2, ..Usage::default() };
        let body =
            EventBody::Usage { provider: "p".into(), model: "m".into(), usage, estimated: false };
        event(0, author, branch, step, body)
    };
    let mut events = vec![
        event(
            0,
            "user",
            None,
            0,
            EventBody::UserMessage {
                text: "q".into(),
                attachment: None,
                images: Vec::new(),
                origin: MessageOrigin::Library,
                sender: None,
                call: None,
            },
        ),
        usage(1, root, None),
        event(
            0,
            root,
            None,
            1,
            EventBody::Transfer {
                call: transfer.clone(),
                to: "operator".parse().unwrap(),
                task: "t".into(),
                returns: false,
                round: 1,
                decided_by: None,
            },
        ),
        usage(2, "operator", branch),
        event(
            0,
            "operator",
            branch,
            2,
            EventBody::ToolCall {
                call: call.clone(),
                tool: "fs_write".into(),
                arguments: "{}".into(),
                read_only: false,
            },
        ),
        event(0, "lango", branch, 0, EventBody::ToolStarted { call: call.clone() }),
        event(
            0,
            "operator",
            branch,
            2,
            EventBody::ToolResult {
                call,
                tool: "fs_write".into(),
                status: CallStatus::Ok,
                output: "written".into(),
                full_output: None,
                report: None,
                milliseconds: 1,
            },
        ),
        usage(3, "operator", branch),
        event(0, "operator", branch, 3, EventBody::Message { text: "a".into(), answer: true }),
        event(
            0,
            "operator",
            None,
            3,
            EventBody::TransferFinished {
                call: transfer.clone(),
                to: "operator".parse().unwrap(),
                status: DelegationStatus::Answered,
                text: "a".into(),
            },
        ),
    ];
    for (index, event) in events.iter_mut().enumerate() {
        event.seq = index as u64 + 1;
    }
    events
}

#[test]
fn a_whole_turn_folds_to_what_was_done() {
    let events = whole_turn();
    let record = TurnRecord::from_events(&events);
    let work = record.work();
    assert_eq!(work.spent.model_calls, 3);
    assert_eq!(work.spent.tool_calls, 1);
    assert_eq!(work.spent.delegation_rounds, 1);
    assert_eq!(work.spent.tokens, 36);
    assert_eq!(work.calls_succeeded, 1);
    assert_eq!(work.agents.len(), 2);
    let branch = record.branches.keys().next().unwrap().clone();
    assert_eq!(record.transcript(Some(&branch)).next_phase(), SpeakerPhase::Think);
    assert_eq!(record.transcript(None).next_phase(), SpeakerPhase::Think);
    assert_eq!(record.reported.len(), 1);
}

#[test]
fn every_prefix_of_a_turn_gives_a_history_in_which_each_call_has_a_result() {
    let events = whole_turn();
    for length in 0..=events.len() {
        let record = TurnRecord::from_events(&events[..length]);
        let transcripts = std::iter::once(&record.root).chain(record.branches.values());
        for message in transcripts.flat_map(Transcript::messages) {
            if let Message::Exchange { calls, .. } = message {
                assert!(calls.iter().all(|call| !call.result.is_empty()), "prefix {length}");
            }
        }
    }
}

#[test]
fn what_comes_next_follows_from_the_events_alone() {
    let events = whole_turn();
    let phase = |length: usize| {
        let record = TurnRecord::from_events(&events[..length]);
        let branch = record.branches.keys().next().cloned();
        (
            record.transcript(None).next_phase(),
            branch.map(|b| record.transcript(Some(&b)).next_phase()),
        )
    };
    assert_eq!(phase(1), (SpeakerPhase::Think, None));
    assert!(
        matches!(phase(3), (SpeakerPhase::Delegate(d), Some(SpeakerPhase::Think)) if d.len() == 1)
    );
    assert!(matches!(phase(5).1, Some(SpeakerPhase::Act(calls)) if !calls[0].started));
    assert!(matches!(phase(6).1, Some(SpeakerPhase::Act(calls)) if calls[0].started));
    assert_eq!(phase(7).1, Some(SpeakerPhase::Think));
    assert!(matches!(phase(9).0, SpeakerPhase::Delegate(_)));
    assert_eq!(phase(10).0, SpeakerPhase::Think);
}

#[test]
fn the_time_before_a_resume_is_not_time_spent() {
    let mut events = whole_turn();
    let spent = TurnRecord::from_events(&events).work().milliseconds;
    assert_eq!(spent, 0, "events of one moment");
    for (minutes, event) in (0_i64..).zip(&mut events) {
        event.at = Timestamp::from_microseconds(minutes * 60_000_000);
    }
    let spent = TurnRecord::from_events(&events).work().milliseconds;
    assert_eq!(spent, 9 * 60_000);
    let text = String::new();
    let mut resumed = event(
        11,
        "lango",
        None,
        0,
        EventBody::Warning { code: lango_protocol::WarningCode::Resumed, text },
    );
    resumed.at = Timestamp::from_microseconds(1_000 * 60_000_000);
    events.push(resumed);
    assert_eq!(TurnRecord::from_events(&events).work().milliseconds, spent);
}

proptest! {
    /// Folds two halves one after the other and compares the result with the whole.
    #[test]
    fn folding_is_the_same_in_one_go_or_in_pieces(cut in 0_usize..=10) {
        let events = whole_turn();
        let whole = TurnRecord::from_events(&events);
        let mut pieces = TurnRecord::from_events(&events[..cut]);
        for event in &events[cut..] {
            pieces.apply(event);
        }
        prop_assert_eq!(pieces.work(), whole.work());
        prop_assert_eq!(pieces.root.next_phase(), whole.root.next_phase());
    }
}
