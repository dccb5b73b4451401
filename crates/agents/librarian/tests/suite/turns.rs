//! Builds turns as the journal has them.

use std::sync::Arc;

use lango_protocol::{
    CallId, CallReport, CallStatus, Event, EventBody, EventId, MessageOrigin, SessionId, Timestamp,
    TurnId,
};
use serde_json::{Value, json};

/// Builds the events of a turn.
pub(crate) struct TurnScript {
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    pub(crate) events: Vec<Event>,
}

impl TurnScript {
    pub(crate) fn new(session: &SessionId, message: &str) -> Self {
        let mut script =
            Self { session: session.clone(), turn: TurnId::generate(), events: Vec::new() };
        script.push(
            "user",
            EventBody::UserMessage {
                text: message.to_owned(),
                attachment: None,
                images: Vec::new(),
                origin: MessageOrigin::Chat,
                sender: None,
                call: None,
            },
        );
        script
    }

    fn push(&mut self, author: &str, body: EventBody) {
        self.events.push(Event {
            id: EventId::generate(),
            session: self.session.clone(),
            turn: self.turn,
            seq: self.events.len() as u64 + 1,
            at: Timestamp::now(),
            author: Some(author.to_owned()),
            branch: None,
            step: None,
            body,
        });
    }

    pub(crate) fn call(
        self,
        tool: &str,
        arguments: &str,
        status: CallStatus,
        output: &str,
    ) -> Self {
        self.reported_call(tool, arguments, status, output, None)
    }

    /// Adds a search that found so many entries, or an unknown number.
    pub(crate) fn search(self, tool: &str, query: &str, found: Option<usize>) -> Self {
        let arguments = json!({ "query": query }).to_string();
        let data = found.map(|count| vec![json!({}); count]);
        let report = CallReport { data: data.map(Value::Array), ..CallReport::new("Searched.") };
        self.reported_call(tool, &arguments, CallStatus::Ok, "what the model reads", Some(report))
    }

    pub(crate) fn reported_call(
        mut self,
        tool: &str,
        arguments: &str,
        status: CallStatus,
        output: &str,
        report: Option<CallReport>,
    ) -> Self {
        let call = CallId::generate();
        let (tool, arguments) = (tool.to_owned(), arguments.to_owned());
        self.push(
            "operator",
            EventBody::ToolCall {
                call: call.clone(),
                tool: tool.clone(),
                arguments,
                read_only: true,
            },
        );
        self.push(
            "operator",
            EventBody::ToolResult {
                call,
                tool,
                status,
                output: output.to_owned(),
                full_output: None,
                report: report.map(Arc::new),
                milliseconds: 1,
            },
        );
        self
    }

    pub(crate) fn answer(mut self, text: &str) -> Self {
        self.push("librarian", EventBody::Message { text: text.to_owned(), answer: true });
        self
    }
}
