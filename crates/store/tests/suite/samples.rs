//! Provides sample events.

use std::sync::Arc;

use lango_protocol::{
    ApprovalDecision, BudgetKind, BudgetUsage, CallId, CallReport, CallStatus, DelegationStatus,
    DirectCall, Event, EventBody, EventId, FailureClass, ImageReference, MessageOrigin, Outcome,
    OutcomeStatus, SessionId, Timestamp, TurnId, Usage, WarningCode, WorkDone,
};
use lango_store::JournalAppend;

pub(crate) fn session(name: &str) -> SessionId {
    name.parse().unwrap()
}

pub(crate) fn event(session: &SessionId, turn: TurnId, seq: u64, body: EventBody) -> Event {
    Event {
        id: EventId::generate(),
        session: session.clone(),
        turn,
        seq,
        at: Timestamp::now(),
        author: Some("operator".into()),
        branch: None,
        step: None,
        body,
    }
}

pub(crate) fn append(events: Vec<Event>) -> JournalAppend<'static> {
    JournalAppend { events: events.into(), ..JournalAppend::default() }
}

pub(crate) fn user(text: &str) -> EventBody {
    let (attachment, images) = (None, Vec::new());
    EventBody::UserMessage {
        text: text.into(),
        attachment,
        images,
        origin: MessageOrigin::Run,
        sender: None,
        call: None,
    }
}

pub(crate) fn message(text: &str) -> EventBody {
    EventBody::Message { text: text.into(), answer: true }
}

pub(crate) fn finished(status: OutcomeStatus) -> EventBody {
    EventBody::TurnFinished(Outcome { status, work: WorkDone::default() })
}

/// Returns a whole turn: a message of the user, one of the agent, and the end.
pub(crate) fn turn(session: &SessionId, first: u64, text: &str) -> Vec<Event> {
    let turn = TurnId::generate();
    let bodies = [user(text), message("done"), finished(OutcomeStatus::Done)];
    (first..).zip(bodies).map(|(seq, body)| event(session, turn, seq, body)).collect()
}

/// Returns the journaled bodies about model calls.
fn model_bodies(hard: &str) -> Vec<EventBody> {
    vec![
        EventBody::Reasoning {
            model: "p/m".into(),
            text: hard.into(),
            provider_state: Some(hard.into()),
        },
        EventBody::Setback {
            model: "p/m".into(),
            fault: "cut".into(),
            reason: hard.into(),
            next: "q/n".into(),
            wait_milliseconds: 500,
        },
        EventBody::Usage {
            provider: "p".into(),
            model: "m".into(),
            usage: Usage { input: u64::MAX, output: 2, cached: 3, cache_write: 1, reasoning: 4 },
            estimated: true,
        },
        EventBody::Warning { code: WarningCode::Resumed, text: hard.into() },
    ]
}

/// Returns every journaled body, with texts that are hard to store.
pub(crate) fn every_body() -> Vec<EventBody> {
    let call = CallId::generate();
    let operator: lango_protocol::AgentName = "operator".parse().unwrap();
    let hard = "line\n\"quoted\" \\ \u{0} \u{1b}[0m 'single' 日本語 🦀 $1 %_";
    let mut bodies = vec![
        EventBody::UserMessage {
            text: hard.into(),
            attachment: Some(hard.into()),
            images: vec![ImageReference {
                media_type: "image/png".into(),
                bytes: 7,
                reference: hard.into(),
            }],
            origin: MessageOrigin::Chat,
            sender: None,
            call: Some(DirectCall {
                agent: operator.clone(),
                tool: "read".into(),
                arguments: hard.into(),
                carries_foreign_text: true,
            }),
        },
        EventBody::Message { text: hard.into(), answer: false },
        EventBody::ToolCall {
            call: call.clone(),
            tool: "read".into(),
            arguments: "{\"path\": \"a".into(),
            read_only: true,
        },
        EventBody::ToolStarted { call: call.clone() },
        EventBody::Transfer {
            call: call.clone(),
            to: operator.clone(),
            task: hard.into(),
            returns: true,
            round: 1,
            decided_by: Some("scripted".into()),
        },
        EventBody::TransferFinished {
            call: call.clone(),
            to: operator.clone(),
            status: DelegationStatus::Answered,
            text: hard.into(),
        },
        EventBody::TransferRefused {
            call: call.clone(),
            requested: hard.into(),
            reason: "unknown".into(),
            valid: vec![operator.clone()],
        },
        EventBody::Rejected { reason: hard.into() },
        EventBody::ApprovalRequested {
            call: call.clone(),
            tool: "write".into(),
            summary: hard.into(),
            digest: "00".into(),
            expires_at: Some(Timestamp::from_microseconds(1)),
            always: vec![hard.into()],
        },
        EventBody::ApprovalResolved {
            call: call.clone(),
            decision: ApprovalDecision::Denied,
            by: "user".into(),
        },
        EventBody::TurnFinished(Outcome {
            status: OutcomeStatus::Failed {
                class: FailureClass::Budget(BudgetKind::Tokens),
                reason: hard.into(),
            },
            work: WorkDone {
                spent: BudgetUsage {
                    model_calls: 1,
                    tool_calls: 2,
                    delegation_rounds: 3,
                    tokens: 4,
                },
                agents: vec![operator],
                ..WorkDone::default()
            },
        }),
    ];
    bodies.splice(1..1, model_bodies(hard));
    bodies.extend(every_result(&call, hard));
    bodies
}

/// A result of every status, with what is hard to store in its texts.
fn every_result(call: &CallId, hard: &str) -> Vec<EventBody> {
    let report = CallReport::new(hard).quoted(hard).note(hard).data(&[hard]).unsuccessful();
    let result = |status| EventBody::ToolResult {
        call: call.clone(),
        tool: "read".into(),
        status,
        output: hard.into(),
        full_output: Some("reference".into()),
        report: Some(Arc::new(report.clone())),
        milliseconds: 12,
    };
    let statuses = [
        CallStatus::Ok,
        CallStatus::Error,
        CallStatus::Refused,
        CallStatus::Denied,
        CallStatus::Cancelled,
        CallStatus::Unknown,
    ];
    statuses.map(result).into()
}
