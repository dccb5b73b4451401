//! Compares tools and agents that the training never saw with those that it did.
//!
//! The trained layers know our own tools well and see them in everything. The encoder without them
//! does not, and so its similarity counts too: a tool that was not in the training has to be more
//! similar to the request than the known ones that it competes with.

use lango_tool::ToolDeclaration;

use super::decision::RequestMeaning;
use super::question::{as_words, tool_name_words};
use super::reading::{RequestGist, RequestReader};

/// The weight of the similarity by which an unknown tool exceeds the known ones. This and the
/// other constants were chosen on requests to eight MCP servers.
const LIKENESS_WEIGHT: f32 = 18.0;
/// Is how much nearer an unknown tool has to be in the end.
const PENALTY: f32 = 0.5;
/// Limits the unknown tools that are compared. The others are not considered.
const MAX_CANDIDATE_COUNT: usize = 8;
/// Limits the known tools that they are compared with: the likeliest.
const MAX_RIVAL_COUNT: usize = 3;

/// Lists words in a name that say that the effect cannot be undone.
const FINAL_WORDS: [&str; 26] = [
    "delete",
    "remove",
    "drop",
    "destroy",
    "erase",
    "purge",
    "wipe",
    "clear",
    "reset",
    "kill",
    "send",
    "post",
    "publish",
    "pay",
    "transfer",
    "merge",
    "overwrite",
    "truncate",
    "cancel",
    "revoke",
    "deploy",
    "buy",
    "order",
    "refund",
    "execute",
    "archive",
];

/// Holds unknown meanings, each with the text that describes it.
#[derive(Default)]
pub(crate) struct UnknownMeanings<'a> {
    all: Vec<(RequestMeaning<'a>, String)>,
}

impl<'a> UnknownMeanings<'a> {
    pub(crate) fn add(&mut self, meaning: RequestMeaning<'a>, text: String) {
        self.all.push((meaning, text));
    }

    /// Returns the logits of the closest ones. `known` are the logits of the known tools, in the
    /// order of their cards.
    pub(crate) fn compute_logits(
        self,
        reader: &RequestReader,
        gist: &RequestGist,
        known: &[f32],
    ) -> Vec<(RequestMeaning<'a>, f32)> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let mut near: Vec<(RequestMeaning<'a>, String, f32)> = self
            .all
            .into_iter()
            .map(|(meaning, text)| {
                let nearness = reader.nearness_to_text(gist, text.clone());
                (meaning, text, nearness)
            })
            .collect();
        near.sort_by(|a, b| b.2.total_cmp(&a.2));
        near.truncate(MAX_CANDIDATE_COUNT);
        let (tool_weight, agent_weight) = reader.decision_weights();
        // It is unknown which of the trained agents it would be like, so that decides nothing.
        let agent = gist.agents.iter().copied().fold(f32::MIN, f32::max);
        let rival = similarity_to_known(reader, gist, known);
        let logit = |(meaning, text, nearness): (RequestMeaning<'a>, String, f32)| {
            let ahead = reader.similarity_to_text(gist, text) - rival;
            let trained = tool_weight * nearness + agent_weight * agent;
            (meaning, trained + LIKENESS_WEIGHT * ahead - PENALTY)
        };
        near.into_iter().map(logit).collect()
    }
}

/// Returns the similarity of the request to the known tools that it most likely means.
fn similarity_to_known(reader: &RequestReader, gist: &RequestGist, known: &[f32]) -> f32 {
    let mut cards: Vec<usize> = (0..known.len()).collect();
    cards.sort_by(|a, b| known[*b].total_cmp(&known[*a]));
    let likeness = |card: &usize| {
        let tool = &reader.trained_tools.tools()[*card];
        reader.similarity_to_text(gist, format!("{}: {}", as_words(&tool.name), tool.description))
    };
    cards.iter().take(MAX_RIVAL_COUNT).map(likeness).fold(-1.0, f32::max)
}

/// Tells whether the name of a tool says that its effect is final.
pub(crate) fn is_final(tool: &ToolDeclaration) -> bool {
    // Names are written `delete_file`, and `deleteFile` too.
    let begins = |word: &str, end: &str| {
        let begin = word.get(..end.len());
        let rest = word.get(end.len()..).unwrap_or_default();
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(end))
            && rest.chars().next().is_none_or(char::is_uppercase)
    };
    tool_name_words(tool).any(|word| FINAL_WORDS.iter().any(|end| begins(word, end)))
}

#[cfg(test)]
mod tests;
