//! Renders a reply as the events of a message.

use bytes::Bytes;
use lango_model::Wire;
use serde::Serialize;

use crate::speech::{Rendering, Speech};
use crate::variant::UsagePosition;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event<'a> {
    MessageStart {
        message: Start<'a>,
    },
    ContentBlockStart {
        index: usize,
        content_block: Block<'a>,
    },
    Ping,
    ContentBlockDelta {
        index: usize,
        delta: Delta<'a>,
    },
    ContentBlockStop {
        index: usize,
    },
    MessageDelta {
        delta: End,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Counts>,
    },
    MessageStop,
}

#[derive(Serialize)]
struct Start<'a> {
    id: &'static str,
    r#type: &'static str,
    role: &'static str,
    model: &'a str,
    content: [(); 0],
    stop_reason: Option<()>,
    stop_sequence: Option<()>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Counts>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Thinking { thinking: &'static str, signature: &'static str },
    Text { text: &'static str },
    ToolUse { id: String, name: &'a str, input: EmptyObject },
}

/// Represents an empty object: the input comes in pieces.
#[derive(Serialize)]
struct EmptyObject {}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the wire's own names")]
enum Delta<'a> {
    ThinkingDelta { thinking: &'a str },
    SignatureDelta { signature: &'a str },
    TextDelta { text: &'a str },
    InputJsonDelta { partial_json: &'a str },
}

#[derive(Serialize)]
struct End {
    stop_reason: &'static str,
    stop_sequence: Option<()>,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the wire's own names")]
struct Counts {
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read_input_tokens: Option<u64>,
    output_tokens: u64,
}

impl Event<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::MessageStart { .. } => "message_start",
            Self::ContentBlockStart { .. } => "content_block_start",
            Self::Ping => "ping",
            Self::ContentBlockDelta { .. } => "content_block_delta",
            Self::ContentBlockStop { .. } => "content_block_stop",
            Self::MessageDelta { .. } => "message_delta",
            Self::MessageStop => "message_stop",
        }
    }

    fn render(&self) -> Bytes {
        let mut text = format!("event: {}\ndata: ", self.name()).into_bytes();
        // An event is plain data with text keys: it always serialises.
        if serde_json::to_writer(&mut text, self).is_err() {
            text.extend_from_slice(b"{}");
        }
        text.extend_from_slice(b"\n\n");
        text.into()
    }
}

/// Holds the events so far, and the number of the next block.
struct Blocks {
    events: Vec<Bytes>,
    index: usize,
    /// The position before the last piece of the newest block.
    half: usize,
}

impl Blocks {
    fn push(&mut self, event: &Event<'_>) {
        self.events.push(event.render());
    }

    fn block<'a>(&mut self, content_block: Block<'a>, deltas: impl IntoIterator<Item = Delta<'a>>) {
        let index = self.index;
        self.push(&Event::ContentBlockStart { index, content_block });
        if index == 0 {
            self.push(&Event::Ping);
        }
        for delta in deltas {
            self.half = self.events.len();
            self.push(&Event::ContentBlockDelta { index, delta });
        }
        self.push(&Event::ContentBlockStop { index });
        self.index += 1;
    }
}

/// Renders a reply as a stream.
pub(super) fn render(speech: &Speech<'_>) -> Rendering {
    let mut blocks = Blocks { events: Vec::new(), index: 0, half: 1 };
    let message = Start {
        id: "msg_scripted",
        r#type: "message",
        role: "assistant",
        model: speech.model,
        content: [],
        stop_reason: None,
        stop_sequence: None,
        usage: counts_at_start(speech),
    };
    blocks.push(&Event::MessageStart { message });
    push_blocks(&mut blocks, speech);
    let stop_reason = if speech.calls.is_empty() { "end_turn" } else { "tool_use" };
    let at_end = speech.variant.usage == UsagePosition::End;
    let usage = at_end.then_some(Counts {
        input_tokens: None,
        cache_creation_input_tokens: None,
        cache_read_input_tokens: None,
        output_tokens: speech.usage.output,
    });
    let delta = End { stop_reason, stop_sequence: None };
    let ending = vec![Event::MessageDelta { delta, usage }.render(), Event::MessageStop.render()];
    Rendering { content: blocks.events, half: blocks.half, ending }
}

fn push_blocks(blocks: &mut Blocks, speech: &Speech<'_>) {
    if let Some(thinking) = speech.thought {
        let signature = speech.signatures.sign(Wire::Anthropic, thinking);
        let deltas =
            [Delta::ThinkingDelta { thinking }, Delta::SignatureDelta { signature: &signature }];
        blocks.block(Block::Thinking { thinking: "", signature: "" }, deltas);
    }
    if !speech.text.is_empty() {
        let deltas = speech.text_pieces().map(|text| Delta::TextDelta { text });
        blocks.block(Block::Text { text: "" }, deltas);
    }
    for (number, call) in speech.calls.iter().enumerate() {
        let (first, second) = call.halves();
        let pieces = ["", first, second];
        let deltas = pieces.map(|partial_json| Delta::InputJsonDelta { partial_json });
        let id = format!("toolu_{number}");
        blocks.block(Block::ToolUse { id, name: &call.name, input: EmptyObject {} }, deltas);
    }
}

/// Returns the counts at the start. Anthropic counts cached input, and input written to the cache,
/// separately.
fn counts_at_start(speech: &Speech<'_>) -> Option<Counts> {
    let usage = &speech.usage;
    let output_tokens = match speech.variant.usage {
        UsagePosition::None => return None,
        UsagePosition::End => 1,
        UsagePosition::Early => usage.output,
    };
    Some(Counts {
        input_tokens: Some(usage.input.saturating_sub(usage.cached + usage.cache_write)),
        cache_creation_input_tokens: Some(usage.cache_write),
        cache_read_input_tokens: Some(usage.cached),
        output_tokens,
    })
}
