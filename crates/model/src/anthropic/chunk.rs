//! Reads the stream of the Anthropic API: blocks that begin, grow and end, each with its number.

use std::collections::HashMap;

use lango_protocol::Usage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::Thought;
use crate::http::{Assembly, Decoder, Ending};
use crate::{ModelError, ModelFault};

/// Reads one reply.
#[derive(Default)]
pub(super) struct AnthropicDecoder {
    blocks: Vec<Block>,
    /// The position of the latest block of each number.
    positions: HashMap<u64, usize>,
    usage: WireUsage,
}

enum Block {
    Text,
    Call {
        number: usize,
        /// The input as the block began; it counts if no pieces follow.
        input: String,
    },
    Thought(Thought),
    /// Something of the provider's own.
    Other,
}

impl Decoder for AnthropicDecoder {
    fn document(&mut self, document: &[u8], reply: &mut Assembly) -> Result<(), ModelError> {
        let event: Event = crate::http::parse(document)?;
        if event.error.is_some() || event.r#type == "error" {
            return Err(ModelError::from_document(&String::from_utf8_lossy(document)));
        }
        match event.r#type.as_str() {
            "message_start" => {
                if let Some(message) = event.message {
                    self.usage(message.usage, reply);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.begin(event.index, block, reply);
                }
            }
            "content_block_delta" => {
                self.extend(event.index, event.delta.unwrap_or_default(), reply)?;
            }
            "message_delta" => {
                self.usage(event.usage, reply);
                self.finish(event.delta.and_then(|delta| delta.stop_reason), reply);
            }
            "message_stop" => reply.record_end_mark(),
            // The whole of it, from a server that ignores `stream`.
            "message" => {
                for (index, block) in (0..).zip(event.content.unwrap_or_default()) {
                    self.begin(Some(index), block, reply);
                }
                self.usage(event.usage, reply);
                self.finish(event.stop_reason, reply);
            }
            _ => {}
        }
        Ok(())
    }
}

impl AnthropicDecoder {
    fn begin(&mut self, index: Option<u64>, block: WireBlock, reply: &mut Assembly) {
        let block = match block.r#type.as_str() {
            "text" => {
                reply.add_text(block.text.unwrap_or_default());
                Block::Text
            }
            "tool_use" => {
                let number = reply.begin_call();
                reply.extend_call(number, block.name.as_deref().unwrap_or_default(), "");
                let input = block.input.map_or_else(|| "{}".to_owned(), |input| input.get().into());
                Block::Call { number, input }
            }
            "thinking" => {
                let thinking = block.thinking.unwrap_or_default();
                reply.add_reasoning(thinking.clone());
                let signature = block.signature.filter(|signature| !signature.is_empty());
                Block::Thought(Thought::Thinking { thinking, signature })
            }
            "redacted_thinking" => {
                let data = block.data.unwrap_or_default();
                Block::Thought(Thought::RedactedThinking { data })
            }
            _ => Block::Other,
        };
        self.positions.extend(index.map(|index| (index, self.blocks.len())));
        self.blocks.push(block);
    }

    /// Adds a piece to the block of that number, the latest of them if a server gives the same
    /// number twice, or to the latest of all if it gives none.
    fn extend(
        &mut self,
        index: Option<u64>,
        delta: Delta,
        reply: &mut Assembly,
    ) -> Result<(), ModelError> {
        let block = match index {
            Some(index) => {
                self.positions.get(&index).and_then(|position| self.blocks.get_mut(*position))
            }
            None => self.blocks.last_mut(),
        };
        match (delta.r#type.as_deref().unwrap_or_default(), block) {
            ("text_delta", _) => reply.add_text(delta.text.unwrap_or_default()),
            ("input_json_delta", Some(Block::Call { number, input })) => {
                let piece = delta.partial_json.unwrap_or_default();
                if !piece.is_empty() {
                    input.clear();
                    reply.extend_call(*number, "", &piece);
                }
            }
            ("input_json_delta", Some(Block::Other)) => {}
            // Left out, it would leave a call with half of its arguments.
            ("input_json_delta", _) => {
                let reason = "arguments of a call that never began";
                return Err(ModelError::new(ModelFault::Malformed, reason));
            }
            ("thinking_delta", block) => {
                let piece = delta.thinking.unwrap_or_default();
                if let Some(Block::Thought(Thought::Thinking { thinking, .. })) = block {
                    thinking.push_str(&piece);
                }
                reply.add_reasoning(piece);
            }
            ("signature_delta", Some(Block::Thought(Thought::Thinking { signature, .. }))) => {
                let piece = delta.signature.unwrap_or_default();
                signature.get_or_insert_default().push_str(&piece);
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, reason: Option<String>, reply: &mut Assembly) {
        let Some(reason) = reason else {
            return;
        };
        let mut thoughts = Vec::new();
        self.positions.clear();
        for block in std::mem::take(&mut self.blocks) {
            match block {
                Block::Call { number, input } => reply.extend_call(number, "", &input),
                Block::Thought(thought) => thoughts.push(thought),
                Block::Text | Block::Other => {}
            }
        }
        if !thoughts.is_empty() {
            // Texts always serialise.
            reply.set_provider_state(serde_json::to_string(&thoughts).unwrap_or_default());
        }
        reply.record_ending(match reason.as_str() {
            "max_tokens" | "model_context_window_exceeded" => Ending::OutputLimit,
            "refusal" => Ending::Refused,
            _ => Ending::Complete,
        });
    }

    /// Updates the token counts. Every count is a total so far; a field that a later event leaves
    /// out keeps its value.
    fn usage(&mut self, usage: Option<WireUsage>, reply: &mut Assembly) {
        let Some(new) = usage else {
            return;
        };
        let total = &mut self.usage;
        total.input_tokens = total.input_tokens.max(new.input_tokens);
        total.output_tokens = total.output_tokens.max(new.output_tokens);
        total.cache_read_input_tokens =
            total.cache_read_input_tokens.max(new.cache_read_input_tokens);
        total.cache_creation_input_tokens =
            total.cache_creation_input_tokens.max(new.cache_creation_input_tokens);
        total.output_tokens_details = new.output_tokens_details.or(total.output_tokens_details);
        *reply.usage() = self.usage.into();
    }
}

/// Is one streamed document. Unknown fields and types are ignored: there will be more of them.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    message: Option<Start>,
    #[serde(default)]
    content_block: Option<WireBlock>,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    content: Option<Vec<WireBlock>>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Start {
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Debug, Deserialize)]
struct WireBlock {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    data: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta {
    #[serde(default)]
    r#type: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    partial_json: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
struct WireUsage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct OutputDetails {
    #[serde(default)]
    thinking_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        let cached = wire.cache_read_input_tokens.unwrap_or(0);
        let cache_write = wire.cache_creation_input_tokens.unwrap_or(0);
        let details = wire.output_tokens_details;
        Self {
            // The API counts cached and newly cached input separately.
            input: wire
                .input_tokens
                .unwrap_or(0)
                .saturating_add(cached)
                .saturating_add(cache_write),
            output: wire.output_tokens.unwrap_or(0),
            cached,
            cache_write,
            reasoning: details.and_then(|details| details.thinking_tokens).unwrap_or(0),
        }
    }
}
