//! What holds for every turn, and short ways to look at one.

use std::collections::HashMap;

use lango_protocol::{CallId, CallStatus, Event, EventBody, Outcome, TurnId, WarningCode};

use crate::fixture::Lango;
use crate::invocation::CommandOutput;

/// One turn as `stream-json` showed it, with a valid journal behind it.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) code: i32,
    pub(crate) stderr: String,
    pub(crate) events: Vec<Event>,
}

impl Turn {
    /// Reads what was printed, and compares it with what was kept.
    pub(crate) async fn read(lango: &Lango, finished: CommandOutput) -> Self {
        let events = events_in(&finished.stdout);
        let first = events.first().unwrap_or_else(|| panic!("no events: {finished:?}"));
        let session = first.session.as_str();
        let export = lango.command(&["sessions", "export", session]).run().await;
        assert_eq!(export.code, 0, "{export:?}");
        let kept = events_in(&export.stdout);
        assert_valid_journal(&kept);
        assert_valid_turn(&events);
        // Both are mistakes, in the product or in the test.
        assert_eq!(lango.complaints(), [""; 0], "requests that no provider or script expects");
        let of_this_turn = kept.iter().filter(|event| event.turn == first.turn);
        let durable = events.iter().filter(|event| event.body.is_durable());
        assert_eq!(durable.collect::<Vec<_>>(), of_this_turn.collect::<Vec<_>>());
        Self { code: finished.code, stderr: finished.stderr, events }
    }

    fn answer_event(&self) -> &Event {
        let is_answer = |e: &&Event| matches!(e.body, EventBody::Message { answer: true, .. });
        self.events.iter().find(is_answer).unwrap()
    }

    /// Tells whether the turn was answered, whatever came of its last call.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(self.code, 0 | 7 | 8)
    }

    /// The words for the user.
    pub(crate) fn answer(&self) -> &str {
        let EventBody::Message { text, .. } = &self.answer_event().body else { unreachable!() };
        text
    }

    /// Who said them.
    pub(crate) fn author(&self) -> &str {
        self.answer_event().author.as_deref().unwrap()
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        let Some(Event { body: EventBody::TurnFinished(outcome), .. }) = self.events.last() else {
            panic!("the turn has no end: {:?}", self.events.last());
        };
        outcome
    }

    /// How the turn ended, as the journal writes it.
    pub(crate) fn status(&self) -> String {
        let outcome = serde_json::to_value(self.outcome()).unwrap();
        outcome["status"].as_str().unwrap().to_owned()
    }

    /// The part of the budget that ran out, or who failed, as the journal writes it.
    pub(crate) fn class(&self) -> String {
        let outcome = serde_json::to_value(self.outcome()).unwrap();
        let class = &outcome["class"];
        class["detail"].as_str().or(class["kind"].as_str()).unwrap_or_default().to_owned()
    }

    pub(crate) fn model_calls(&self) -> u32 {
        self.outcome().work.spent.model_calls
    }

    /// The names of the event types, without the streamed pieces and the costs.
    pub(crate) fn types(&self) -> Vec<&'static str> {
        let names = self.events.iter().map(|event| event.body.type_name());
        names.filter(|name| !matches!(*name, "text_delta" | "usage")).collect()
    }

    pub(crate) fn count(&self, type_name: &str) -> usize {
        self.events.iter().filter(|event| event.body.type_name() == type_name).count()
    }

    /// How each transfer ended.
    pub(crate) fn transfer_ends(&self) -> Vec<String> {
        let status = |event: &Event| match &event.body {
            EventBody::TransferFinished { status, .. } => {
                serde_json::to_value(status).unwrap().as_str().map(str::to_owned)
            }
            _ => None,
        };
        self.events.iter().filter_map(status).collect()
    }

    /// The pieces that were shown while it ran.
    pub(crate) fn shown(&self) -> String {
        let piece = |event: &Event| match &event.body {
            EventBody::TextDelta { text, .. } => Some(text.clone()),
            _ => None,
        };
        self.events.iter().filter_map(piece).collect()
    }

    /// The agents that were handed something, in order.
    pub(crate) fn transfers(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::Transfer { to, .. } => Some(to.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The results of all calls, in order.
    pub(crate) fn results(&self) -> Vec<(&str, CallStatus, &str)> {
        let results = self.events.iter().filter_map(|event| match &event.body {
            EventBody::ToolResult { tool, status, output, .. } => {
                Some((tool.as_str(), *status, output.as_str()))
            }
            _ => None,
        });
        results.collect()
    }

    /// How many calls ended so.
    pub(crate) fn results_with(&self, wanted: CallStatus) -> usize {
        self.results().iter().filter(|(_, status, _)| *status == wanted).count()
    }

    pub(crate) fn warnings(&self) -> Vec<WarningCode> {
        let codes = self.events.iter().filter_map(|event| match &event.body {
            EventBody::Warning { code, .. } => Some(*code),
            _ => None,
        });
        codes.collect()
    }

    /// What was said on the way.
    pub(crate) fn messages(&self) -> Vec<(&str, &str)> {
        let said = self.events.iter().filter_map(|event| match &event.body {
            EventBody::Message { text, .. } => {
                Some((event.author.as_deref().unwrap(), text.as_str()))
            }
            _ => None,
        });
        said.collect()
    }
}

/// Reads `stream-json` or an export.
pub(crate) fn events_in(text: &str) -> Vec<Event> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Everything that holds for the journal of a session.
pub(crate) fn assert_valid_journal(events: &[Event]) {
    for (event, expected) in events.iter().zip(1..) {
        assert_eq!(event.seq, expected, "positions have no gaps: {event:?}");
        assert!(event.body.is_durable(), "{event:?}");
    }
    let mut turns: Vec<TurnId> = events.iter().map(|event| event.turn).collect();
    turns.dedup();
    for turn in turns {
        let of_turn: Vec<Event> = events.iter().filter(|e| e.turn == turn).cloned().collect();
        assert_valid_turn(&of_turn);
    }
}

/// Everything that holds for the events of one turn, streamed or kept.
fn assert_valid_turn(events: &[Event]) {
    let is = |event: &Event, name: &str| event.body.type_name() == name;
    assert!(is(&events[0], "user_message"), "{:?}", events[0]);
    assert!(is(events.last().unwrap(), "turn_finished"), "{:?}", events.last());
    for once in ["user_message", "turn_finished"] {
        assert_eq!(events.iter().filter(|event| is(event, once)).count(), 1, "{once}");
    }
    let mut answers = 0;
    let mut calls: HashMap<&CallId, u32> = HashMap::new();
    let mut transfers: HashMap<&CallId, u32> = HashMap::new();
    for event in events {
        assert!(event.author.as_ref().is_some_and(|author| !author.is_empty()), "{event:?}");
        match &event.body {
            EventBody::Message { text, answer } => {
                assert!(!text.trim().is_empty(), "{event:?}");
                assert_unmarked(text);
                answers += u32::from(*answer);
            }
            EventBody::TextDelta { text, .. } => assert_unmarked(text),
            EventBody::ToolCall { call, .. } => assert_eq!(calls.insert(call, 0), None),
            EventBody::ToolResult { call, .. } => {
                *calls.get_mut(call).expect("a result comes after its call") += 1;
            }
            EventBody::Transfer { call, .. } => assert_eq!(transfers.insert(call, 0), None),
            EventBody::TransferFinished { call, .. } => {
                *transfers.get_mut(call).expect("a transfer ends after it began") += 1;
            }
            _ => {}
        }
    }
    assert_eq!(answers, 1, "a turn has one answer: {events:?}");
    assert_words_of_the_answer_are_marked(events);
    assert!(calls.values().all(|results| *results == 1), "every call has one result: {events:?}");
    assert!(transfers.values().all(|ends| *ends == 1), "every transfer ends once: {events:?}");
}

/// A client that shows pieces as they come must not show the words of others as the answer, nor miss
/// the answer's own.
fn assert_words_of_the_answer_are_marked(events: &[Event]) {
    let answer = events.iter().find(|e| matches!(e.body, EventBody::Message { answer: true, .. }));
    let Some(answer) = answer.filter(|answer| answer.step.is_some()) else { return };
    for event in events {
        if let EventBody::TextDelta { answer: goes_to_user, .. } = event.body
            && (&event.branch, event.step) == (&answer.branch, answer.step)
        {
            assert!(goes_to_user, "a piece of the answer is not marked as one: {event:?}");
        }
    }
}

fn assert_unmarked(text: &str) {
    assert!(!text.to_lowercase().contains("[reject]"), "the user sees the marker: {text:?}");
}
