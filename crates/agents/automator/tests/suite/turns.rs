//! Writes the turns that the work of steps has, as a runtime would.

use std::sync::Arc;

use lango_protocol::{
    CallId, CallReport, CallStatus, DirectCall, Event, EventBody, EventId, MessageOrigin, Outcome,
    OutcomeStatus, Timestamp, WorkDone,
};
use lango_store::{Journal, JournalAppend, WorkItem};
use serde_json::Value;

/// How the work of a step ends.
pub(crate) enum CallResult<'a> {
    /// An agent answers.
    Answer(&'a str),
    /// A tool returns something.
    Ok(Value),
    /// A tool fails.
    Error(&'a str),
    /// The process ended before the tool was started.
    NotStarted,
    /// The process ended while the tool ran.
    Unknown,
    /// The turn was stopped before the tool was started.
    StoppedBefore,
    /// The turn was stopped while the tool ran.
    StoppedWithin,
}

pub(crate) async fn write_message(journal: &Journal, item: &WorkItem, text: &str) {
    let message = EventBody::Message { text: text.to_owned(), answer: true };
    write_turn(journal, item, None, vec![message], done(WorkDone::default())).await;
}

/// A turn of an agent that called a tool with an effect, and was stopped before it answered.
pub(crate) async fn write_stopped_message(journal: &Journal, item: &WorkItem) {
    let call = CallId::generate();
    let started = EventBody::ToolStarted { call: call.clone() };
    let result = tool_result(call, "fs_append", CallStatus::Ok, String::new(), None);
    let work = WorkDone { calls_succeeded: 1, ..WorkDone::default() };
    let end = Outcome { status: OutcomeStatus::Cancelled, work };
    write_turn(journal, item, None, vec![started, result], end).await;
}

fn done(work: WorkDone) -> Outcome {
    Outcome { status: OutcomeStatus::Done, work }
}

fn tool_result(
    call: CallId,
    tool: &str,
    status: CallStatus,
    output: String,
    data: Option<Value>,
) -> EventBody {
    EventBody::ToolResult {
        call,
        tool: tool.to_owned(),
        status,
        output,
        full_output: None,
        report: data.map(|data| Arc::new(CallReport { data: Some(data), ..CallReport::default() })),
        milliseconds: 0,
    }
}

pub(crate) async fn write_call(journal: &Journal, item: &WorkItem, result: &CallResult<'_>) {
    let (status, output, data) = match result {
        CallResult::Ok(data) => (CallStatus::Ok, String::new(), Some(data.clone())),
        CallResult::Error(reason) => (CallStatus::Error, (*reason).to_owned(), None),
        CallResult::NotStarted | CallResult::StoppedBefore | CallResult::StoppedWithin => {
            (CallStatus::Cancelled, String::new(), None)
        }
        CallResult::Unknown | CallResult::Answer(_) => (CallStatus::Unknown, String::new(), None),
    };
    let calls_unknown = u32::from(status == CallStatus::Unknown);
    let request: Value = serde_json::from_str(&item.request).unwrap();
    let call: DirectCall = serde_json::from_value(request["input"]["call"].clone()).unwrap();
    let id = CallId::generate();
    let started = EventBody::ToolStarted { call: id.clone() };
    let is_started = !matches!(result, CallResult::NotStarted | CallResult::StoppedBefore);
    let is_stopped = matches!(result, CallResult::StoppedBefore | CallResult::StoppedWithin);
    let ended = tool_result(id, &call.tool, status, output, data);
    let message = EventBody::Message { text: "The call has ended.".to_owned(), answer: true };
    let bodies = is_started.then_some(started).into_iter().chain([ended, message]).collect();
    let status = if is_stopped { OutcomeStatus::Cancelled } else { OutcomeStatus::Done };
    let work = WorkDone { calls_unknown, ..WorkDone::default() };
    write_turn(journal, item, Some(call), bodies, Outcome { status, work }).await;
}

async fn write_turn(
    journal: &Journal,
    item: &WorkItem,
    call: Option<DirectCall>,
    bodies: Vec<EventBody>,
    end: Outcome,
) {
    journal.withdraw_turn(item.turn).await.unwrap();
    let first = EventBody::UserMessage {
        text: "do it".to_owned(),
        attachment: None,
        images: Vec::new(),
        origin: MessageOrigin::Work,
        sender: None,
        call,
    };
    let end = EventBody::TurnFinished(end);
    let bodies = std::iter::once(first).chain(bodies).chain([end]);
    let event = |(seq, body)| Event {
        id: EventId::generate(),
        session: item.session.clone(),
        turn: item.turn,
        seq,
        at: Timestamp::now(),
        author: None,
        branch: None,
        step: None,
        body,
    };
    let events: Vec<Event> = (1..).zip(bodies).map(event).collect();
    let claim = journal.claim_session(&item.session, "/work").await.unwrap();
    let append = JournalAppend { events: events.into(), ..JournalAppend::default() };
    journal.append(&claim, append).await.unwrap();
    journal.release_claim(claim).await.unwrap();
}
