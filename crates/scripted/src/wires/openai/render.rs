//! Renders a reply as chunks of a chat completion.

use bytes::Bytes;
use serde::Serialize;

use crate::speech::{Rendering, ReplyCall, Speech, Usage};
use crate::variant::UsagePosition;

#[derive(Serialize)]
struct Chunk<'a> {
    id: &'static str,
    object: &'static str,
    choices: Vec<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<WireUsage>,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    delta: Delta<'a>,
    finish_reason: Option<&'static str>,
}

#[derive(Default, Serialize)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallPiece<'a>>,
}

#[derive(Serialize)]
struct CallPiece<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    function: FunctionPiece<'a>,
}

#[derive(Serialize)]
struct FunctionPiece<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

#[derive(Serialize)]
struct WireUsage {
    #[serde(rename = "prompt_tokens")]
    prompt: u64,
    #[serde(rename = "completion_tokens")]
    completion: u64,
    #[serde(rename = "total_tokens")]
    total: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Serialize)]
struct PromptDetails {
    cached_tokens: u64,
}

#[derive(Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
}

impl From<Usage> for WireUsage {
    fn from(usage: Usage) -> Self {
        Self {
            prompt: usage.input,
            completion: usage.output,
            total: usage.input + usage.output,
            prompt_tokens_details: PromptDetails { cached_tokens: usage.cached },
            completion_tokens_details: CompletionDetails { reasoning_tokens: usage.reasoning },
        }
    }
}

/// The whole document of a server that does not stream.
#[derive(Serialize)]
struct Completion<'a> {
    id: &'static str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: [WholeChoice<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<WireUsage>,
}

#[derive(Serialize)]
struct WholeChoice<'a> {
    index: u32,
    message: Delta<'a>,
    finish_reason: &'static str,
}

fn event(delta: Delta<'_>, finish_reason: Option<&'static str>) -> Bytes {
    chunk(vec![Choice { index: 0, delta, finish_reason }], None)
}

fn chunk(choices: Vec<Choice<'_>>, usage: Option<WireUsage>) -> Bytes {
    let chunk = Chunk { id: "chatcmpl-scripted", object: "chat.completion.chunk", choices, usage };
    let mut line = b"data: ".to_vec();
    // A chunk is plain data with text keys: it always serialises.
    if serde_json::to_writer(&mut line, &chunk).is_err() {
        line.extend_from_slice(b"{}");
    }
    line.extend_from_slice(b"\n\n");
    line.into()
}

/// Renders a reply as a stream.
pub(super) fn render(speech: &Speech<'_>) -> Rendering {
    let usage = || chunk(Vec::new(), Some(speech.usage.into()));
    let mut content = Vec::new();
    if speech.variant.usage == UsagePosition::Early {
        content.push(usage());
    }
    if let Some(thought) = speech.thought {
        let delta = Delta { reasoning_content: Some(thought), ..Delta::default() };
        content.push(event(delta, None));
    }
    for piece in speech.text_pieces() {
        let role = content.is_empty().then_some("assistant");
        content.push(event(Delta { role, content: Some(piece), ..Delta::default() }, None));
    }
    for (number, call) in speech.calls.iter().enumerate() {
        push_call(&mut content, number, call, speech.variant.duplicate_index);
    }
    let mut ending = vec![event(Delta::default(), Some(finish_reason(speech)))];
    if speech.variant.usage == UsagePosition::End {
        ending.push(usage());
    }
    ending.push(Bytes::from_static(b"data: [DONE]\n\n"));
    // The last piece carries the second half of the text or of the arguments.
    Rendering { half: content.len().saturating_sub(1), content, ending }
}

fn push_call(content: &mut Vec<Bytes>, number: usize, call: &ReplyCall, same_index: bool) {
    let index = Some(if same_index { 0 } else { number });
    let (first, second) = call.halves();
    let begin = CallPiece {
        index,
        id: Some(format!("call_{number}")),
        r#type: Some("function"),
        function: FunctionPiece { name: Some(&call.name), arguments: first },
    };
    let rest = CallPiece {
        index,
        id: None,
        r#type: None,
        function: FunctionPiece { name: None, arguments: second },
    };
    for piece in [begin, rest] {
        content.push(event(Delta { tool_calls: vec![piece], ..Delta::default() }, None));
    }
}

fn finish_reason(speech: &Speech<'_>) -> &'static str {
    if speech.calls.is_empty() { "stop" } else { "tool_calls" }
}

/// Renders a reply as one document.
pub(super) fn whole(speech: &Speech<'_>) -> Bytes {
    let calls = speech.calls.iter().enumerate().map(|(number, call)| CallPiece {
        index: None,
        id: Some(format!("call_{number}")),
        r#type: Some("function"),
        function: FunctionPiece { name: Some(&call.name), arguments: &call.arguments },
    });
    let message = Delta {
        role: Some("assistant"),
        content: (!speech.text.is_empty()).then_some(&speech.text),
        reasoning_content: speech.thought,
        tool_calls: calls.collect(),
    };
    let completion = Completion {
        id: "chatcmpl-scripted",
        object: "chat.completion",
        created: 1_767_225_600,
        model: speech.model,
        choices: [WholeChoice { index: 0, message, finish_reason: finish_reason(speech) }],
        usage: (speech.variant.usage != UsagePosition::None).then(|| speech.usage.into()),
    };
    serde_json::to_vec(&completion).unwrap_or_default().into()
}
