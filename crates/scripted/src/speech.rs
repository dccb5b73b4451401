//! Prepares the content of a reply, before it is rendered for an API.

use bytes::Bytes;
use lango_model::{Wire, estimate_tokens};

use super::conversation::Conversation;
use super::script::{Reply, ScriptedUsage};
use super::signature::Signatures;
use super::variant::WireVariant;
use super::wires::fixture;

/// Represents a reply with everything filled in.
pub(super) struct Speech<'a> {
    pub(super) model: &'a str,
    pub(super) thought: Option<&'a str>,
    pub(super) text: String,
    pub(super) calls: Vec<ReplyCall>,
    pub(super) usage: Usage,
    pub(super) variant: &'a WireVariant,
    pub(super) signatures: &'a Signatures,
}

/// Represents a call of a reply.
pub(super) struct ReplyCall {
    pub(super) name: String,
    /// JSON, unless the script says otherwise.
    pub(super) arguments: String,
}

/// Holds the usage to report. Cached input is part of the input, reasoning is part of the output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
    pub(super) cache_write: u64,
    pub(super) reasoning: u64,
}

/// Represents a reply as the events of an API.
pub(super) struct Rendering {
    /// The events with content.
    pub(super) content: Vec<Bytes>,
    /// The number of events before the second half of the last call or text.
    pub(super) half: usize,
    /// The events that end the reply.
    pub(super) ending: Vec<Bytes>,
}

impl<'a> Speech<'a> {
    pub(super) fn new(
        reply: &'a Reply,
        conversation: &'a Conversation<'_>,
        variant: &'a WireVariant,
        signatures: &'a Signatures,
    ) -> Self {
        let text = text_of(reply, conversation);
        let calls = calls_of(reply, conversation);
        let usage = usage_of(reply.usage.as_ref(), conversation, &text, &calls);
        Self {
            model: &conversation.model,
            thought: reply.think.as_deref(),
            text,
            calls,
            usage,
            variant,
            signatures,
        }
    }

    /// Returns the text in pieces: words where the variant says so, otherwise pieces that get
    /// smaller, so that there is always a place to cut.
    pub(super) fn text_pieces(&self) -> impl Iterator<Item = &str> {
        const MAX_PIECE_BYTES: usize = 64 * 1024;
        let mut rest = self.text.as_str();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let wanted = if self.variant.words {
                rest.find(' ').map_or(rest.len(), |space| space + 1)
            } else if rest.len() > MAX_PIECE_BYTES {
                MAX_PIECE_BYTES
            } else {
                rest.len().div_ceil(2).max(8)
            };
            let (piece, later) = rest.split_at(rest.ceil_char_boundary(wanted));
            rest = later;
            Some(piece)
        })
    }
}

/// Renders a reply to an empty request, each event with its end.
pub fn render_reply(wire: Wire, reply: &Reply, variant: &WireVariant) -> Vec<Bytes> {
    let conversation = Conversation {
        wire,
        model: "model".into(),
        system: "".into(),
        messages: Vec::new(),
        tools: Vec::new(),
        bytes: 0,
    };
    let signatures = Signatures::default();
    let Rendering { content, ending, .. } =
        fixture(wire).render(&Speech::new(reply, &conversation, variant, &signatures));
    variant.apply(fixture(wire), content.into_iter().chain(ending).collect())
}

impl ReplyCall {
    /// Returns the arguments in two pieces.
    pub(super) fn halves(&self) -> (&str, &str) {
        let middle = self.arguments.ceil_char_boundary(self.arguments.len() / 2);
        self.arguments.split_at(middle)
    }

    /// Returns the arguments where they are a JSON object, for APIs that can carry nothing else.
    pub(super) fn object(&self) -> Option<serde_json::Map<String, serde_json::Value>> {
        serde_json::from_str(&self.arguments).ok()
    }
}

fn text_of(reply: &Reply, conversation: &Conversation<'_>) -> String {
    let mut text = reply.say.clone().unwrap_or_default();
    if text.contains('{') {
        text = text
            .replace("{user}", conversation.newest_user())
            .replace("{result}", conversation.results().next_back().unwrap_or_default());
    }
    text.repeat(reply.repeat.unwrap_or(1))
}

/// Begins a placeholder in arguments for a word of a result or the user's message, of which it has the
/// beginning.
const WORD_PLACEHOLDER: &str = "{word:";

fn calls_of(reply: &Reply, conversation: &Conversation<'_>) -> Vec<ReplyCall> {
    let once = || {
        reply.call.iter().map(|call| {
            let json = || serde_json::to_string(&call.arguments).unwrap_or_else(|_| "{}".into());
            let arguments = call.raw.clone().unwrap_or_else(json);
            let arguments = insert_words(arguments, conversation);
            ReplyCall { name: call.name.clone(), arguments }
        })
    };
    (0..reply.copies.unwrap_or(1)).flat_map(|_| once()).collect()
}

/// Replaces `{word:BEGINNING}` by the newest word that begins so, such as a handle.
fn insert_words(mut arguments: String, conversation: &Conversation<'_>) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    while let Some(start) = arguments.find(WORD_PLACEHOLDER) {
        let inside = start + WORD_PLACEHOLDER.len();
        let Some(length) = arguments[inside..].find('}') else { break };
        let beginning = &arguments[inside..inside + length];
        let texts = std::iter::once(conversation.newest_user()).chain(conversation.results());
        let words = texts.flat_map(|text| text.split(|character| !is_part(character)));
        let word = words.rev().find(|word| word.starts_with(beginning)).unwrap_or_default();
        arguments.replace_range(start..=inside + length, word);
    }
    arguments
}

/// Estimates the usage, at four bytes of a request per token, unless the script sets it.
fn usage_of(
    figures: Option<&ScriptedUsage>,
    conversation: &Conversation<'_>,
    text: &str,
    calls: &[ReplyCall],
) -> Usage {
    let figures = figures.copied().unwrap_or_default();
    let output = || {
        let words = calls.iter().flat_map(|call| [call.name.as_str(), call.arguments.as_str()]);
        words.chain([text]).map(estimate_tokens).sum()
    };
    Usage {
        input: figures.input.unwrap_or((conversation.bytes / 4) as u64),
        output: figures.output.unwrap_or_else(output),
        cached: figures.cached.unwrap_or(0),
        cache_write: figures.cache_write.unwrap_or(0),
        reasoning: figures.reasoning.unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_word_by_word_has_an_event_for_each_word_on_every_wire() {
        let reply = Reply { say: Some("one two three four ".repeat(10)), ..Reply::default() };
        let whole = WireVariant::default();
        let words = WireVariant { words: true, ..WireVariant::default() };
        for wire in Wire::ALL {
            let [fewer, more] =
                [&whole, &words].map(|variant| render_reply(wire, &reply, variant).len());
            assert!(more >= 40 && fewer < 20, "{wire:?}: {fewer} events, then {more}");
        }
    }
}
