//! Reads the stream of the Gemini API. Text comes in pieces, calls come whole, and the last
//! document gives the reason of the end; there is no end mark.

use lango_protocol::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{CallState, ProviderState};
use crate::http::{Assembly, Decoder, Ending};
use crate::{ModelError, ModelFault};

/// Reads one reply.
#[derive(Default)]
pub(super) struct GeminiDecoder {
    provider_state: ProviderState,
    usage: WireUsage,
}

impl Decoder for GeminiDecoder {
    fn document(&mut self, document: &[u8], reply: &mut Assembly) -> Result<(), ModelError> {
        // Without `alt=sse` the whole reply is one list.
        if document.trim_ascii_start().starts_with(b"[") {
            let chunks: Vec<Chunk> = crate::http::parse(document)?;
            return chunks.into_iter().try_for_each(|chunk| self.chunk(chunk, reply));
        }
        self.chunk(crate::http::parse(document)?, reply)
    }
}

impl GeminiDecoder {
    fn chunk(&mut self, chunk: Chunk, reply: &mut Assembly) -> Result<(), ModelError> {
        if let Some(error) = chunk.error {
            return Err(ModelError::from_document(error.get()));
        }
        if let Some(usage) = chunk.usage_metadata {
            self.usage.raise(usage);
            *reply.usage() = self.usage.into();
        }
        if let Some(reason) = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            let reason = format!("the request was blocked ({reason})");
            return Err(ModelError::new(ModelFault::ContentRefused, reason));
        }
        match chunk.candidates.into_iter().flatten().next() {
            Some(candidate) => self.candidate(candidate, reply),
            None => Ok(()),
        }
    }

    fn candidate(&mut self, candidate: Candidate, reply: &mut Assembly) -> Result<(), ModelError> {
        let parts = candidate.content.and_then(|content| content.parts);
        for part in parts.into_iter().flatten() {
            self.part(part, reply);
        }
        let Some(reason) = candidate.finish_reason else {
            return Ok(());
        };
        let ending = convert_finish_reason(&reason).ok_or_else(|| {
            let words = candidate.finish_message.unwrap_or_default();
            ModelError::new(ModelFault::Malformed, format!("{reason} {words}"))
        })?;
        reply.record_ending(ending);
        if self.provider_state.text.is_some()
            || self.provider_state.calls.iter().any(CallState::is_set)
        {
            // Texts always serialise.
            reply.set_provider_state(
                serde_json::to_string(&self.provider_state).unwrap_or_default(),
            );
        }
        Ok(())
    }

    fn part(&mut self, part: Part, reply: &mut Assembly) {
        let signature = part.thought_signature.filter(|signature| !signature.is_empty());
        if let Some(call) = part.function_call {
            let number = reply.begin_call();
            let arguments = call.args.as_ref().map_or("{}", |arguments| arguments.get());
            reply.extend_call(number, call.name.as_deref().unwrap_or_default(), arguments);
            let id = call.id.filter(|id| !id.is_empty());
            self.provider_state.calls.push(CallState { id, signature });
            return;
        }
        let text = part.text.unwrap_or_default();
        if part.thought == Some(true) {
            reply.add_reasoning(text);
            return;
        }
        reply.add_text(text);
        if signature.is_some() {
            self.provider_state.text = signature;
        }
    }
}

impl CallState {
    fn is_set(&self) -> bool {
        *self != Self::default()
    }
}

/// Returns the ending that a reason stands for; `None` for a reason that reports malformed output.
fn convert_finish_reason(reason: &str) -> Option<Ending> {
    match reason {
        "MAX_TOKENS" => Some(Ending::OutputLimit),
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Some(Ending::Refused),
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "MALFORMED_RESPONSE"
        | "MISSING_THOUGHT_SIGNATURE" => None,
        _ => Some(Ending::Complete),
    }
}

/// Is one streamed document. Unknown fields are ignored.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    #[serde(default)]
    candidates: Option<Vec<Candidate>>,
    #[serde(default)]
    prompt_feedback: Option<PromptFeedback>,
    #[serde(default)]
    usage_metadata: Option<WireUsage>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    #[serde(default)]
    block_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    finish_message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Content {
    #[serde(default)]
    parts: Option<Vec<Part>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(default)]
    thought_signature: Option<String>,
    #[serde(default)]
    function_call: Option<FunctionCall>,
}

#[derive(Debug, Deserialize)]
struct FunctionCall {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    args: Option<Box<RawValue>>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the wire's own names")]
struct WireUsage {
    #[serde(default)]
    prompt_token_count: Option<u64>,
    #[serde(default)]
    candidates_token_count: Option<u64>,
    #[serde(default)]
    thoughts_token_count: Option<u64>,
    #[serde(default)]
    cached_content_token_count: Option<u64>,
    #[serde(default)]
    tool_use_prompt_token_count: Option<u64>,
}

impl WireUsage {
    /// Updates the counts. Every document has the totals so far; a field that a later one leaves
    /// out keeps its value.
    fn raise(&mut self, new: Self) {
        let fields = [
            (&mut self.prompt_token_count, new.prompt_token_count),
            (&mut self.candidates_token_count, new.candidates_token_count),
            (&mut self.thoughts_token_count, new.thoughts_token_count),
            (&mut self.cached_content_token_count, new.cached_content_token_count),
            (&mut self.tool_use_prompt_token_count, new.tool_use_prompt_token_count),
        ];
        for (old, new) in fields {
            *old = (*old).max(new);
        }
    }
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| a.unwrap_or(0).saturating_add(b.unwrap_or(0));
        Self {
            input: sum(wire.prompt_token_count, wire.tool_use_prompt_token_count),
            output: sum(wire.candidates_token_count, wire.thoughts_token_count),
            cached: wire.cached_content_token_count.unwrap_or(0),
            cache_write: 0,
            reasoning: wire.thoughts_token_count.unwrap_or(0),
        }
    }
}
