//! What the wire sends back, and how pieces of calls become whole ones.

use lango_protocol::Usage;
use serde::Deserialize;

use crate::RequestedCall;

/// One streamed document. Unknown fields are ignored: every server adds its own.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk {
    #[serde(default)]
    pub(super) choices: Vec<Choice>,
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
    #[serde(default)]
    pub(super) error: Option<WireError>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    /// `message` is what a server sends that ignores `stream`.
    #[serde(default, alias = "message")]
    pub(super) delta: Option<Delta>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta {
    #[serde(default)]
    pub(super) content: Option<String>,
    #[serde(default, alias = "reasoning_content")]
    pub(super) reasoning: Option<String>,
    #[serde(default)]
    pub(super) refusal: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallPiece {
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
#[serde(untagged)]
pub(super) enum WireError {
    Object {
        #[serde(default)]
        message: String,
    },
    Text(String),
}

impl WireError {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Object { message } | Self::Text(message) => message,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct WireUsage {
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
            reasoning: wire
                .completion_tokens_details
                .unwrap_or_default()
                .reasoning_tokens
                .unwrap_or(0),
        }
    }
}

/// Puts streamed pieces of calls together.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<PartialCall>,
}

#[derive(Debug)]
struct PartialCall {
    index: Option<u64>,
    id: Option<String>,
    call: RequestedCall,
}

impl Calls {
    /// Adds a piece. Servers differ: some number the calls, some only give ids, and some number
    /// all of them 0; a new id always begins a new call.
    pub(super) fn add(&mut self, piece: CallPiece) {
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
            let call = RequestedCall { name: String::new(), arguments: String::new() };
            self.calls.push(PartialCall { index: piece.index, id, call });
            self.calls.len() - 1
        });
        if let Some(function) = piece.function {
            let call = &mut self.calls[position].call;
            call.name.push_str(function.name.as_deref().unwrap_or_default());
            call.arguments.push_str(function.arguments.as_deref().unwrap_or_default());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// How many calls have begun.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// The calls, now that the model has finished.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = RequestedCall> + use<> {
        std::mem::take(&mut self.calls).into_iter().map(|partial| partial.call)
    }
}
