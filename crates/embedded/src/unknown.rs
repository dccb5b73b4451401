//! Tools and agents that the training never saw, compared with those that it did.
//!
//! The trained layers know our own tools well and see them in everything. The encoder as it was before
//! does not, and so it has a say too: a tool that nobody trained on has to be more like the request
//! than the known ones that it competes with.

use lango_tool::ToolDeclaration;

use super::decision::Meaning;
use super::question::{human, words};
use super::reading::{Gist, Reader};

/// How much the likeness counts by which an unknown tool is ahead of the known ones. This and the
/// rest were chosen by looking at requests to eight MCP servers.
const LIKENESS_WEIGHT: f32 = 18.0;
/// How much nearer an unknown one has to be in the end.
const PENALTY: f32 = 0.5;
/// Of the unknown ones, how many are looked at closely. The others are not meant.
const CLOSEST: usize = 8;
/// Of the known ones, how many they are compared with: the likeliest.
const RIVALS: usize = 3;

/// Words in a name that say that something cannot be taken back.
const FINAL: [&str; 26] = [
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

/// What can be meant, with the text that describes it.
#[derive(Default)]
pub(crate) struct Unknown<'a> {
    all: Vec<(Meaning<'a>, String)>,
}

impl<'a> Unknown<'a> {
    pub(crate) fn add(&mut self, meaning: Meaning<'a>, text: String) {
        self.all.push((meaning, text));
    }

    /// The closest ones. `known` are the logits of the known tools, in the order of their cards.
    pub(crate) fn logits(
        self,
        reader: &Reader,
        gist: &Gist,
        known: &[f32],
    ) -> Vec<(Meaning<'a>, f32)> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let mut near: Vec<(Meaning<'a>, String, f32)> = self
            .all
            .into_iter()
            .map(|(meaning, text)| {
                let nearness = reader.nearness_to_text(gist, text.clone());
                (meaning, text, nearness)
            })
            .collect();
        near.sort_by(|a, b| b.2.total_cmp(&a.2));
        near.truncate(CLOSEST);
        let (tool_weight, agent_weight) = reader.decision_weights();
        // Nobody knows which of the trained agents it would be like, so that decides nothing.
        let agent = gist.agents.iter().copied().fold(f32::MIN, f32::max);
        let rival = rival(reader, gist, known);
        let logit = |(meaning, text, nearness): (Meaning<'a>, String, f32)| {
            let ahead = reader.likeness(gist, text) - rival;
            let trained = tool_weight * nearness + agent_weight * agent;
            (meaning, trained + LIKENESS_WEIGHT * ahead - PENALTY)
        };
        near.into_iter().map(logit).collect()
    }
}

/// How like the request is to the known tools that it most likely means.
fn rival(reader: &Reader, gist: &Gist, known: &[f32]) -> f32 {
    let mut cards: Vec<usize> = (0..known.len()).collect();
    cards.sort_by(|a, b| known[*b].total_cmp(&known[*a]));
    let likeness = |card: &usize| {
        let tool = &reader.catalogue.tools()[*card];
        reader.likeness(gist, format!("{}: {}", human(&tool.name), tool.description))
    };
    cards.iter().take(RIVALS).map(likeness).fold(-1.0, f32::max)
}

/// Whether the name of a tool says that what it does is final.
pub(crate) fn is_final(tool: &ToolDeclaration) -> bool {
    // Names are written `delete_file`, and `deleteFile` too.
    let begins = |word: &str, end: &str| {
        let begin = word.get(..end.len());
        let rest = word.get(end.len()..).unwrap_or_default();
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(end))
            && rest.chars().next().is_none_or(char::is_uppercase)
    };
    words(tool).any(|word| FINAL.iter().any(|end| begins(word, end)))
}

#[cfg(test)]
mod tests {
    use lango_tool::SafetyLevel;

    use super::*;

    #[test]
    fn names_say_what_is_final() {
        let tool = |name: &str| ToolDeclaration {
            name: name.into(),
            ..ToolDeclaration::new::<()>("", "", SafetyLevel::Dangerous)
        };
        for name in ["delete_file", "mcp_x_dropTable", "drop", "send-mail"] {
            assert!(is_final(&tool(name)), "{name}");
        }
        for name in ["get_orders", "list_deleted", "sender", "read_file"] {
            assert!(!is_final(&tool(name)), "{name}");
        }
    }
}
