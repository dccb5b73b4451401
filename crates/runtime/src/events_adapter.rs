//! Converts journalled events into the conversation that agents see.

use lango_model::{AnsweredCall, CallOutcome, CallTally, EarlierCall, Message, estimate_tokens};
use lango_protocol::{
    AgentName, CallId, CallStatus, DelegationStatus, Event, EventBody, TRANSFER_TOOL,
    TransferArguments,
};

/// Limits the calls that are remembered of a turn: the newest.
const MAX_REMEMBERED_CALLS: usize = 8;
/// Limits the arguments of a call that is remembered, in bytes.
const MAX_REMEMBERED_ARGUMENT_BYTES: usize = 4 * 1024;
/// Limits the turns whose calls a model is told of.
pub(crate) const MAX_TURNS_WITH_CALLS: u32 = 3;

/// Reads authors and conversations out of a journal.
#[derive(Debug, Clone)]
pub struct EventsAdapter {
    root_agent_name: AgentName,
}

/// Holds the part of an earlier turn that later turns may see: messages and transfers, and which
/// tools were called for which files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastTurn {
    user: String,
    delegations: Vec<PastDelegation>,
    answer: Option<(String, String)>,
    calls: Vec<PastCall>,
    tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PastCall {
    id: CallId,
    call: EarlierCall,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PastDelegation {
    call: CallId,
    arguments: String,
    status: DelegationStatus,
    result: String,
}

impl EventsAdapter {
    /// Creates an adapter for a tree with this root.
    pub fn new(root_agent_name: AgentName) -> Self {
        Self { root_agent_name }
    }

    /// Returns the author of an event: the stored one, or the root agent for an agent's event
    /// without one.
    pub fn author<'a>(&'a self, event: &'a Event) -> &'a str {
        match (&event.author, &event.body) {
            (Some(author), _) => author,
            (None, EventBody::UserMessage { .. }) => lango_protocol::USER,
            (None, _) => self.root_agent_name.as_str(),
        }
    }

    /// Returns the turns of a conversation, oldest first.
    pub fn past_turns<'e>(&self, events: impl IntoIterator<Item = &'e Event>) -> Vec<PastTurn> {
        let mut turns: Vec<PastTurn> = Vec::new();
        for event in events {
            if let EventBody::UserMessage { text, images, .. } = &event.body {
                turns.push(PastTurn {
                    user: with_images(text, images.len()),
                    delegations: Vec::new(),
                    answer: None,
                    calls: Vec::new(),
                    tokens: 0,
                });
            } else if let Some(turn) = turns.last_mut() {
                self.add_event(turn, event);
            }
        }
        for turn in &mut turns {
            turn.count_tokens();
        }
        turns
    }

    fn add_event(&self, turn: &mut PastTurn, event: &Event) {
        match &event.body {
            EventBody::Message { text, answer: true } => {
                turn.answer = Some((self.author(event).to_owned(), text.clone()));
            }
            EventBody::ToolCall { call, tool, arguments, .. }
                if arguments.len() <= MAX_REMEMBERED_ARGUMENT_BYTES =>
            {
                if turn.calls.len() >= MAX_REMEMBERED_CALLS {
                    turn.calls.remove(0);
                }
                let (tool, arguments) = (tool.clone(), arguments.clone());
                let earlier = EarlierCall { tool, arguments, succeeded: false, files: Vec::new() };
                turn.calls.push(PastCall { id: call.clone(), call: earlier });
            }
            EventBody::ToolResult { call, status, report, .. } => {
                if let Some(past) = turn.calls.iter_mut().find(|past| past.id == *call) {
                    let unsuccessful = report.as_ref().is_some_and(|report| report.unsuccessful);
                    past.call.succeeded = *status == CallStatus::Ok && !unsuccessful;
                    let files = report.as_ref().and_then(|report| report.files());
                    past.call.files = files.map(|files| files.paths).unwrap_or_default();
                }
            }
            EventBody::Transfer { call, to, task, returns, .. } => {
                turn.delegations.push(PastDelegation {
                    call: call.clone(),
                    arguments: TransferArguments::new(to.as_str(), task, *returns).to_json(),
                    status: DelegationStatus::Cancelled,
                    result: format!("{to} was stopped."),
                });
            }
            EventBody::TransferFinished { call, to, status, .. } => {
                if let Some(delegation) = turn.delegations.iter_mut().find(|d| d.call == *call) {
                    delegation.status = *status;
                    delegation.result = match status {
                        DelegationStatus::Answered => format!("{to} answered."),
                        DelegationStatus::Rejected => format!("{to} rejected it."),
                        DelegationStatus::NeedsInput => format!("{to} asked the user something."),
                        DelegationStatus::Failed | DelegationStatus::Cancelled => {
                            format!("{to} could not finish.")
                        }
                    };
                }
            }
            _ => {}
        }
    }
}

impl PastTurn {
    fn count_tokens(&mut self) {
        let delegations = self.delegations.iter();
        let handed: u64 = delegations.map(|d| estimate_tokens(&d.arguments) + 20).sum();
        let answer = self.answer.as_ref().map_or(0, |(_, text)| estimate_tokens(text));
        self.tokens = estimate_tokens(&self.user) + handed + answer;
    }

    /// Returns the turn as `agent` sees it. Only the root sees transfers, because it makes them.
    pub(crate) fn messages_for(&self, agent: &AgentName, is_root: bool) -> Vec<Message> {
        let mut messages = vec![Message::user(replace_empty(&self.user))];
        if is_root && !self.delegations.is_empty() {
            let calls = self.delegations.iter().map(|delegation| AnsweredCall {
                id: delegation.call.clone(),
                name: TRANSFER_TOOL.to_owned(),
                arguments: delegation.arguments.clone(),
                result: delegation.result.clone(),
                outcome: CallOutcome::Transfer {
                    status: delegation.status,
                    text: String::new(),
                    calls: CallTally::default(),
                },
            });
            messages.push(Message::Exchange {
                text: String::new(),
                calls: calls.collect(),
                provider_state: None,
            });
        }
        if let Some((author, text)) = &self.answer {
            let author = (author != agent.as_str()).then(|| author.clone());
            messages.push(Message::Assistant { author, text: replace_empty(text) });
        }
        messages
    }
}

/// Returns the calls of the newest turns, oldest first.
pub(crate) fn earlier_calls(turns: &[PastTurn]) -> Vec<EarlierCall> {
    let from = turns.len().saturating_sub(MAX_TURNS_WITH_CALLS as usize);
    let calls = turns[from..].iter().flat_map(|turn| &turn.calls);
    calls.map(|past| past.call.clone()).collect()
}

/// Mentions the images of an earlier message instead of sending them again.
fn with_images(text: &str, images: usize) -> String {
    match images {
        0 => text.to_owned(),
        1 => format!("{text}\n[with an image]"),
        more => format!("{text}\n[with {more} images]"),
    }
}

/// Returns the newest turns that fit into `tokens`. If some must go, up to a quarter more goes than
/// necessary, so that the beginning stays the same for several turns: providers cache a
/// conversation from there.
pub(crate) fn newest_turns_within(turns: &[PastTurn], tokens: u64) -> &[PastTurn] {
    let all: u64 = turns.iter().map(|turn| turn.tokens).sum();
    let step = (tokens / 4).max(1);
    let surplus = all.saturating_sub(tokens).div_ceil(step) * step;
    let mut dropped = 0;
    let mut from = 0;
    while dropped < surplus && from < turns.len() {
        dropped += turns[from].tokens;
        from += 1;
    }
    &turns[from..]
}

/// Replaces an empty text, because providers refuse empty messages.
fn replace_empty(text: &str) -> String {
    if text.trim().is_empty() { "(nothing)".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use lango_protocol::{EventId, MessageOrigin, ORCHESTRATOR, SINGLE_AGENT, Timestamp, TurnId};

    use super::*;

    fn event(author: Option<&str>, body: EventBody) -> Event {
        Event {
            id: EventId::generate(),
            session: "s".parse().unwrap(),
            turn: TurnId::generate(),
            seq: 1,
            at: Timestamp::now(),
            author: author.map(str::to_owned),
            branch: None,
            step: None,
            body,
        }
    }

    fn said(author: Option<&str>) -> Event {
        event(author, EventBody::Message { text: "hi".into(), answer: true })
    }

    fn asked(text: &str) -> Event {
        let origin = MessageOrigin::Library;
        let (attachment, images) = (None, Vec::new());
        event(
            None,
            EventBody::UserMessage {
                text: text.into(),
                attachment,
                images,
                origin,
                sender: None,
                call: None,
            },
        )
    }

    /// Documents 000 and 003, "Multi-agent mode with stored author".
    #[test]
    fn r11_multi_agent_mode_with_stored_author() {
        let adapter = EventsAdapter::new(ORCHESTRATOR.parse().unwrap());
        assert_eq!(adapter.author(&said(Some(ORCHESTRATOR))), ORCHESTRATOR);
        assert_eq!(adapter.author(&said(Some("operator"))), "operator");
    }

    /// Documents 000 and 003, "Multi-agent mode without stored author (legacy messages)".
    #[test]
    fn r11_multi_agent_mode_without_stored_author() {
        let adapter = EventsAdapter::new(ORCHESTRATOR.parse().unwrap());
        assert_eq!(adapter.author(&said(None)), ORCHESTRATOR);
        assert_eq!(adapter.author(&asked("x")), "user");
    }

    /// Documents 000 and 003, "Single-agent mode".
    #[test]
    fn r11_single_agent_mode_uses_its_own_root_name() {
        let adapter = EventsAdapter::new(SINGLE_AGENT.parse().unwrap());
        assert_eq!(adapter.author(&said(None)), "lango-agent");
    }

    #[test]
    fn r11_the_parents_history_keeps_the_specialists_name() {
        let root: AgentName = ORCHESTRATOR.parse().unwrap();
        let adapter = EventsAdapter::new(root.clone());
        let events = [asked("a"), said(Some("operator")), asked("b"), said(Some(ORCHESTRATOR))];
        let turns = adapter.past_turns(&events);
        let messages: Vec<_> =
            turns.iter().flat_map(|turn| turn.messages_for(&root, true)).collect();
        let author = |index: usize| match &messages[index] {
            Message::Assistant { author, .. } => author.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(author(1), Some("operator".to_owned()));
        assert_eq!(author(3), None);
    }

    #[test]
    fn the_oldest_turns_are_left_out_first_and_whole() {
        let adapter = EventsAdapter::new(ORCHESTRATOR.parse().unwrap());
        let long = "word ".repeat(100);
        let turns = adapter.past_turns(&[asked(&long), asked("second"), asked("third")]);
        assert_eq!(newest_turns_within(&turns, 50).len(), 2);
        assert_eq!(newest_turns_within(&turns, 10_000).len(), 3);
        assert_eq!(newest_turns_within(&turns, 0).len(), 0);
    }
}
