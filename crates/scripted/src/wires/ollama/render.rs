//! Renders replies as lines, and refusals.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::refusal::Refusal;
use crate::script::ErrorCase;
use crate::speech::{Rendering, ReplyCall, Speech, Usage};
use crate::variant::UsagePosition;

#[derive(Serialize)]
struct Line<'a> {
    model: &'a str,
    created_at: &'static str,
    message: Message<'a>,
    done: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    done_reason: Option<&'static str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    counts: Option<Counts>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: String,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    index: usize,
    name: &'a str,
    arguments: Map<String, Value>,
}

#[derive(Serialize)]
struct Counts {
    total_duration: u64,
    load_duration: u64,
    prompt_eval_count: u64,
    prompt_eval_duration: u64,
    eval_count: u64,
    eval_duration: u64,
}

#[derive(Serialize)]
struct Failure {
    error: String,
}

impl From<Usage> for Counts {
    fn from(usage: Usage) -> Self {
        Self {
            total_duration: 5_000_000,
            load_duration: 1_000_000,
            prompt_eval_count: usage.input,
            prompt_eval_duration: 1_000_000,
            eval_count: usage.output,
            eval_duration: 3_000_000,
        }
    }
}

fn line(document: &impl Serialize) -> Bytes {
    // A line is plain data with text keys: it always serialises.
    let mut line = serde_json::to_vec(document).unwrap_or_else(|_| b"{}".to_vec());
    line.push(b'\n');
    line.into()
}

fn saying(content: &str) -> Message<'_> {
    Message { role: "assistant", content, thinking: None, tool_calls: Vec::new() }
}

/// Renders a reply as a stream.
pub(super) fn render(speech: &Speech<'_>) -> Rendering {
    let place = speech.variant.usage;
    let mut content: Vec<Bytes> = Vec::new();
    let mut push = |message: Message<'_>| {
        let first = place == UsagePosition::Early && content.is_empty();
        let counts = first.then(|| speech.usage.into());
        content.push(line(&part(speech, message, None, counts)));
    };
    if let Some(thought) = speech.thought {
        push(Message { thinking: Some(thought), ..saying("") });
    }
    for text in speech.text_pieces() {
        push(saying(text));
    }
    for (index, call) in speech.calls.iter().enumerate() {
        let Some(tool_calls) = tool_calls(index, call) else {
            content.push(malformed(call));
            return Rendering { half: content.len() - 1, content, ending: Vec::new() };
        };
        push(Message { tool_calls, ..saying("") });
    }
    let due = place == UsagePosition::End || place == UsagePosition::Early && content.is_empty();
    let counts = due.then(|| speech.usage.into());
    let ending = vec![line(&part(speech, saying(""), Some("stop"), counts))];
    Rendering { half: content.len().saturating_sub(1), content, ending }
}

fn part<'a>(
    speech: &'a Speech<'_>,
    message: Message<'a>,
    done_reason: Option<&'static str>,
    counts: Option<Counts>,
) -> Line<'a> {
    Line {
        model: speech.model,
        created_at: "2026-01-01T00:00:00.000000Z",
        message,
        done: done_reason.is_some(),
        done_reason,
        counts,
    }
}

fn tool_calls(index: usize, call: &ReplyCall) -> Option<Vec<Call<'_>>> {
    let function = Function { index, name: &call.name, arguments: call.object()? };
    Some(vec![Call { id: format!("call_{index}"), function }])
}

/// Renders an error for arguments that are not an object: they cannot be sent.
fn malformed(call: &ReplyCall) -> Bytes {
    let raw = &call.arguments;
    let reason = "unexpected end of JSON input";
    line(&Failure { error: format!("error parsing tool call: raw='{raw}', err={reason}") })
}

/// Puts a refusal into Ollama's shape.
pub(super) fn refusal(status: u16, message: &str) -> Refusal {
    Refusal::new(status, &Failure { error: message.to_owned() })
}

/// Refuses a request as Ollama does in a case.
pub(super) fn refusal_in(case: ErrorCase, model: &str) -> Refusal {
    match case {
        ErrorCase::ContextTooLong => {
            refusal(400, "prompt too long; exceeded max context length by 4096 tokens")
        }
        ErrorCase::Quota => refusal(
            429,
            "you (scripted) have reached your weekly usage limit, upgrade for higher limits: \
             https://ollama.com/upgrade",
        ),
        ErrorCase::Auth => refusal(401, "unauthorized"),
        ErrorCase::UnknownModel => {
            refusal(404, &format!("model '{model}' not found, try pulling it first"))
        }
        ErrorCase::NoTools => {
            refusal(400, &format!("registry.ollama.ai/library/{model} does not support tools"))
        }
        ErrorCase::ContentRefused => {
            refusal(422, "the script wants a refusal for content, which Ollama does not have")
        }
        ErrorCase::Overloaded => {
            refusal(503, "server busy, please try again.  maximum pending requests exceeded")
        }
    }
}
