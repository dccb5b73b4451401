//! Answers as a specialist: one call with the user's text, and then a report of its result.

use lango_model::{ModelRequest, RequestRole, RequestedCall};
use lango_protocol::marker;
use lango_tool::ToolDeclaration;

use super::arguments::{fill_arguments, to_json};
use super::conversation::{Conversation, ask_reading, ask_value};
use super::decision::{RequestMeaning, WeightedMeanings};
use super::model::EmbeddedReply;
use super::reading::RequestReader;
use super::report::is_reported;
use super::steps::RequestStructure;
use super::thresholds::{CALL, CALL_DANGEROUS, CALL_UNKNOWN};
use super::unknown::is_final;
use super::{talk, wording};

/// Holds the request to a specialist and the reader.
pub(crate) struct Specialist<'a> {
    pub(crate) reader: &'a RequestReader,
    pub(crate) request: &'a ModelRequest,
}

impl Specialist<'_> {
    pub(crate) fn reply(&self, conversation: &Conversation<'_>) -> EmbeddedReply {
        if conversation.is_cancelled() {
            return EmbeddedReply::Text(talk::cancelled_line().to_owned());
        }
        if !conversation.done.is_empty() {
            let parts: Vec<String> =
                conversation.done.iter().map(|c| wording::render_result(c)).collect();
            return EmbeddedReply::Text(parts.join("\n\n"));
        }
        if let Some(chosen) = conversation.chosen_tool()
            && let Some(tool) = self.request.tools.iter().find(|tool| *tool.name == *chosen)
        {
            return self.call(tool, conversation);
        }
        let gist = self.reader.read_gist(&conversation.words);
        let readings = WeightedMeanings::of(self.reader, &gist, &self.request.tools, []);
        // A single agent also talks with the user.
        if self.request.role == RequestRole::Single
            && let Some(text) = answer_without_tool(&conversation.words, &readings)
        {
            return EmbeddedReply::Text(text);
        }
        let own = readings.list_for_agent(None);
        let (Some(first), second) = (own.first(), own.get(1)) else {
            return EmbeddedReply::Text(talk::needs_bigger_model().to_owned());
        };
        let RequestMeaning::Tool { tool, .. } = first.meaning else {
            return EmbeddedReply::Text(talk::needs_bigger_model().to_owned());
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
            Some(RequestMeaning::Tool { tool: other, .. }) => {
                EmbeddedReply::Text(marker::mark_question(&ask_reading(tool, other)))
            }
            _ => EmbeddedReply::Text(talk::needs_bigger_model().to_owned()),
        }
    }

    /// Returns the probability that a dangerous tool needs.
    fn required_probability(&self, tool: &ToolDeclaration) -> f32 {
        let known = self.reader.trained_tools.find(&tool.name).is_some();
        if known || is_final(tool) { CALL_DANGEROUS } else { CALL_UNKNOWN }
    }

    fn call(&self, tool: &ToolDeclaration, conversation: &Conversation<'_>) -> EmbeddedReply {
        let given = conversation.given_values(&tool.name);
        let filled = fill_arguments(self.reader, tool, &conversation.words, &given);
        match filled.missing.first() {
            Some(parameter) => {
                EmbeddedReply::Text(marker::mark_question(&ask_value(tool, parameter)))
            }
            None => EmbeddedReply::Call(RequestedCall {
                name: tool.name.to_string(),
                arguments: to_json(&filled.arguments),
            }),
        }
    }
}

/// Returns the answer of a single agent to a request that none of its tools is for.
fn answer_without_tool(words: &str, readings: &WeightedMeanings<'_>) -> Option<String> {
    if RequestStructure::of(words) != RequestStructure::One {
        return Some(talk::one_step_at_a_time_line().to_owned());
    }
    match readings.all.first()?.meaning {
        RequestMeaning::SmallTalk => Some(talk::answer_small_talk(words, &[])),
        RequestMeaning::Plan => Some(talk::cannot_split_line().to_owned()),
        RequestMeaning::Absent(known) => Some(talk::describe_untransferable_tool(&known.name)),
        RequestMeaning::Tool { .. } | RequestMeaning::Remote(_) => None,
    }
}
