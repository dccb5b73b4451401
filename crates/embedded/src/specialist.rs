//! Answers as a specialist: one call with the user's text, and then a report of its result.

use lango_model::{ModelRequest, RequestRole, RequestedCall};
use lango_protocol::marker;
use lango_tool::ToolDeclaration;

use super::arguments::{fill, to_json};
use super::conversation::{Conversation, ask_reading, ask_value};
use super::decision::{Meaning, Readings};
use super::model::Reply;
use super::reading::Reader;
use super::report::is_reported;
use super::steps::Structure;
use super::thresholds::{CALL, CALL_DANGEROUS, CALL_UNKNOWN};
use super::unknown::is_final;
use super::{talk, wording};

/// Holds the request to a specialist and the reader.
pub(crate) struct Specialist<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) request: &'a ModelRequest,
}

impl Specialist<'_> {
    pub(crate) fn reply(&self, conversation: &Conversation<'_>) -> Reply {
        if conversation.is_cancelled() {
            return Reply::Text(talk::cancelled().to_owned());
        }
        if !conversation.done.is_empty() {
            let parts: Vec<String> =
                conversation.done.iter().map(|c| wording::render_result(c)).collect();
            return Reply::Text(parts.join("\n\n"));
        }
        if let Some(chosen) = conversation.chosen_tool()
            && let Some(tool) = self.request.tools.iter().find(|tool| *tool.name == *chosen)
        {
            return self.call(tool, conversation);
        }
        let gist = self.reader.gist(&conversation.words);
        let readings = Readings::of(self.reader, &gist, &self.request.tools, []);
        // A single agent also talks with the user.
        if self.request.role == RequestRole::Single
            && let Some(text) = answer_without_tool(&conversation.words, &readings)
        {
            return Reply::Text(text);
        }
        let own = readings.tools_of(None);
        let (Some(first), second) = (own.first(), own.get(1)) else {
            return Reply::Text(talk::needs_bigger_model().to_owned());
        };
        let Meaning::Tool { tool, .. } = first.meaning else {
            return Reply::Text(talk::needs_bigger_model().to_owned());
        };
        // Compared among its own tools: the request has already been transferred to this agent.
        let among: f32 = own.iter().map(|reading| reading.probability).sum();
        let sure = if first.meaning.is_dangerous() {
            first.probability >= self.required_probability(tool)
                && !is_reported(&conversation.words)
        } else {
            first.probability / among.max(f32::MIN_POSITIVE) >= CALL
        };
        match second.map(|second| second.meaning) {
            _ if sure => self.call(tool, conversation),
            Some(Meaning::Tool { tool: other, .. }) => {
                Reply::Text(marker::ask(&ask_reading(tool, other)))
            }
            _ => Reply::Text(talk::needs_bigger_model().to_owned()),
        }
    }

    /// Returns the probability that a dangerous tool needs.
    fn required_probability(&self, tool: &ToolDeclaration) -> f32 {
        let known = self.reader.catalogue.find(&tool.name).is_some();
        if known || is_final(tool) { CALL_DANGEROUS } else { CALL_UNKNOWN }
    }

    fn call(&self, tool: &ToolDeclaration, conversation: &Conversation<'_>) -> Reply {
        let given = conversation.given_values(&tool.name);
        let filled = fill(self.reader, tool, &conversation.words, &given);
        match filled.missing.first() {
            Some(parameter) => Reply::Text(marker::ask(&ask_value(tool, parameter))),
            None => Reply::Call(RequestedCall {
                name: tool.name.to_string(),
                arguments: to_json(&filled.arguments),
            }),
        }
    }
}

/// Returns the answer of a single agent to a request that none of its tools is for.
fn answer_without_tool(words: &str, readings: &Readings<'_>) -> Option<String> {
    if Structure::of(words) != Structure::One {
        return Some(talk::one_at_a_time().to_owned());
    }
    match readings.all.first()?.meaning {
        Meaning::SmallTalk => Some(talk::reply(words, &[])),
        Meaning::Plan => Some(talk::cannot_split().to_owned()),
        Meaning::Absent(known) => Some(talk::no_tool(&known.name)),
        Meaning::Tool { .. } | Meaning::Remote(_) => None,
    }
}
