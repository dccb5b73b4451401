//! A reply as the events of the wire.

use bytes::Bytes;
use serde::Serialize;

use super::conversation::Conversation;
use super::script::{Fault, Reply};
use crate::estimate_tokens;

/// What is sent, in order, and how it ends.
pub(super) struct Rendered {
    pub(super) pieces: Vec<Bytes>,
    pub(super) end: End,
}

/// How a body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// As it should.
    Whole,
    /// The connection breaks.
    Broken,
    /// The connection stays open and nothing comes.
    Stalled,
}

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
    index: usize,
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
}

fn event(delta: Delta<'_>, finish_reason: Option<&'static str>) -> Bytes {
    data(&Chunk {
        id: "chatcmpl-scripted",
        object: "chat.completion.chunk",
        choices: vec![Choice { index: 0, delta, finish_reason }],
        usage: None,
    })
}

fn data(chunk: &Chunk<'_>) -> Bytes {
    let mut line = b"data: ".to_vec();
    // A chunk is plain data with text keys: it always serialises.
    if serde_json::to_writer(&mut line, chunk).is_err() {
        line.extend_from_slice(b"{}");
    }
    line.extend_from_slice(b"\n\n");
    line.into()
}

/// Renders a reply for a request of `request_bytes`.
pub(super) fn render(
    reply: &Reply,
    conversation: &Conversation<'_>,
    request_bytes: usize,
) -> Rendered {
    let mut pieces = Vec::new();
    if let Some(thought) = &reply.think {
        let delta = Delta { reasoning_content: Some(thought), ..Delta::default() };
        pieces.push(event(delta, None));
    }
    let text = text_of(reply, conversation);
    push_text(&mut pieces, &text);
    let calls = calls_of(reply);
    push_calls(&mut pieces, &calls);
    match reply.fault {
        None => {}
        Some(Fault::Cut | Fault::Stall) => {
            // The last piece carries the second half of the text or of the arguments.
            pieces.pop();
            let end = if reply.fault == Some(Fault::Cut) { End::Broken } else { End::Stalled };
            return Rendered { pieces, end };
        }
        Some(Fault::NoEnd) => return Rendered { pieces, end: End::Whole },
        Some(Fault::Garbage) => {
            pieces.push(Bytes::from_static(b"data: {\"choices\": <html>\n\n"));
        }
        Some(Fault::ErrorEvent) => {
            pieces.push(Bytes::from_static(
                b"data: {\"error\":{\"message\":\"the server is overloaded\"}}\n\n",
            ));
        }
        Some(Fault::Silence | Fault::Status) => {
            return Rendered { pieces: Vec::new(), end: End::Stalled };
        }
    }
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    pieces.push(event(Delta::default(), Some(reason)));
    let completion = estimate_tokens(&text)
        + calls
            .iter()
            .map(|(name, arguments)| estimate_tokens(name) + estimate_tokens(arguments))
            .sum::<u64>();
    let prompt = (request_bytes / 4) as u64;
    pieces.push(data(&Chunk {
        id: "chatcmpl-scripted",
        object: "chat.completion.chunk",
        choices: Vec::new(),
        usage: Some(WireUsage { prompt, completion, total: prompt + completion }),
    }));
    pieces.push(Bytes::from_static(b"data: [DONE]\n\n"));
    Rendered { pieces, end: End::Whole }
}

fn text_of(reply: &Reply, conversation: &Conversation<'_>) -> String {
    let mut text = reply.say.clone().unwrap_or_default();
    if text.contains('{') {
        text = text
            .replace("{user}", conversation.newest_user())
            .replace("{result}", conversation.results().last().copied().unwrap_or_default());
    }
    text.repeat(reply.repeat.unwrap_or(1))
}

/// Text goes out in halves, so that there is always something to cut between.
fn push_text(pieces: &mut Vec<Bytes>, text: &str) {
    const PIECE: usize = 64 * 1024;
    let mut rest = text;
    while !rest.is_empty() {
        let wanted = if rest.len() > PIECE { PIECE } else { rest.len().div_ceil(2).max(8) };
        let at = (wanted.min(rest.len())..=rest.len()).find(|at| rest.is_char_boundary(*at));
        let (piece, later) = rest.split_at(at.unwrap_or(rest.len()));
        let role = pieces.is_empty().then_some("assistant");
        pieces.push(event(Delta { role, content: Some(piece), ..Delta::default() }, None));
        rest = later;
    }
}

fn calls_of(reply: &Reply) -> Vec<(String, String)> {
    let once = reply.call.iter().map(|call| {
        let json = || serde_json::to_string(&call.arguments).unwrap_or_else(|_| "{}".into());
        (call.name.clone(), call.raw.clone().unwrap_or_else(json))
    });
    let once: Vec<_> = once.collect();
    std::iter::repeat_n(once, reply.copies.unwrap_or(1)).flatten().collect()
}

fn push_calls(pieces: &mut Vec<Bytes>, calls: &[(String, String)]) {
    for (index, (name, arguments)) in calls.iter().enumerate() {
        let middle = (arguments.len() / 2..=arguments.len())
            .find(|at| arguments.is_char_boundary(*at))
            .unwrap_or(arguments.len());
        let (first, second) = arguments.split_at(middle);
        let begin = CallPiece {
            index,
            id: Some(format!("call_{index}")),
            r#type: Some("function"),
            function: FunctionPiece { name: Some(name), arguments: first },
        };
        pieces.push(event(Delta { tool_calls: vec![begin], ..Delta::default() }, None));
        let rest = CallPiece {
            index,
            id: None,
            r#type: None,
            function: FunctionPiece { name: None, arguments: second },
        };
        pieces.push(event(Delta { tool_calls: vec![rest], ..Delta::default() }, None));
    }
}
