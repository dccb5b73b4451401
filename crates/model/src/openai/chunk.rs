//! Reads the stream of the chat-completions API and joins the pieces of calls.

use lango_protocol::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::ProviderState;
use crate::ModelError;
use crate::http::{Assembly, Decoder, Ending};

/// Reads one reply.
#[derive(Default)]
pub(super) struct OpenAiDecoder {
    calls: Vec<OpenCall>,
    /// Reasoning of the kind that must come back with its reply.
    reasoning_content: String,
}

/// Identifies a call in later pieces.
struct OpenCall {
    number: usize,
    index: Option<u64>,
    id: Option<String>,
}

impl Decoder for OpenAiDecoder {
    fn document(&mut self, document: &[u8], reply: &mut Assembly) -> Result<(), ModelError> {
        if document == b"[DONE]" {
            reply.record_end_mark();
            return Ok(());
        }
        let chunk: Chunk = crate::http::parse(document)?;
        if let Some(error) = chunk.error {
            return Err(ModelError::from_document(error.get()));
        }
        if let Some(usage) = chunk.usage {
            *reply.usage() = usage.into();
        }
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            self.choice(choice, reply);
        }
        Ok(())
    }
}

impl OpenAiDecoder {
    fn choice(&mut self, choice: Choice, reply: &mut Assembly) {
        let delta = choice.delta.unwrap_or_default();
        if let Some(text) = &delta.reasoning_content {
            self.reasoning_content.push_str(text);
        }
        if let Some(text) = delta.reasoning_content.or(delta.reasoning) {
            reply.add_reasoning(text);
        }
        for text in [delta.content, delta.refusal].into_iter().flatten() {
            reply.add_text(text);
        }
        for piece in delta.tool_calls.into_iter().flatten() {
            self.call(piece, reply);
        }
        if let Some(reason) = choice.finish_reason {
            reply.record_ending(match reason.as_str() {
                "length" => Ending::OutputLimit,
                "content_filter" => Ending::Refused,
                _ => Ending::Complete,
            });
            let reasoning_content = std::mem::take(&mut self.reasoning_content);
            if !reasoning_content.is_empty() {
                reply.set_provider_state(ProviderState { reasoning_content }.to_json());
            }
        }
    }

    /// Adds a piece. Servers differ: some number the calls, some only give ids, and some number
    /// all of them 0; a new id always begins a new call.
    fn call(&mut self, piece: CallPiece, reply: &mut Assembly) {
        let id = piece.id.filter(|id| !id.is_empty());
        let known = match (&id, piece.index) {
            (Some(id), index) => self
                .calls
                .iter()
                .rposition(|c| c.id.as_ref() == Some(id) && (index.is_none() || c.index == index)),
            (None, Some(index)) => self.calls.iter().rposition(|c| c.index == Some(index)),
            (None, None) => self.calls.len().checked_sub(1),
        };
        let position = known.unwrap_or_else(|| {
            let number = reply.begin_call();
            // Calls beyond the limit share a number and one entry: every piece searches this list.
            if self.calls.last().is_none_or(|last| last.number != number) {
                self.calls.push(OpenCall { number, index: piece.index, id });
            }
            self.calls.len() - 1
        });
        if let Some(function) = piece.function {
            let name = function.name.as_deref().unwrap_or_default();
            let arguments = function.arguments.as_deref().unwrap_or_default();
            reply.extend_call(self.calls[position].number, name, arguments);
        }
    }
}

/// Is one streamed document. Unknown fields are ignored: every server adds its own.
#[derive(Debug, Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    /// `message` is what a server sends that ignores `stream`.
    #[serde(default, alias = "message")]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Debug, Deserialize)]
struct CallPiece {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionPiece>,
}

#[derive(Debug, Deserialize)]
struct FunctionPiece {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

#[derive(Debug, Deserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Debug, Default, Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        Self {
            input: wire.prompt_tokens,
            output: wire.completion_tokens,
            cached: wire.prompt_tokens_details.unwrap_or_default().cached_tokens.unwrap_or(0),
            cache_write: 0,
            reasoning: wire
                .completion_tokens_details
                .unwrap_or_default()
                .reasoning_tokens
                .unwrap_or(0),
        }
    }
}
