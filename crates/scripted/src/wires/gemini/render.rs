//! Renders a reply as chunks of generated content.

use bytes::Bytes;
use lango_model::Wire;
use serde::Serialize;

use crate::speech::{Rendering, Speech, Usage};
use crate::variant::UsagePosition;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Candidate<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_feedback: Option<PromptFeedback>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_metadata: Option<Counts>,
    model_version: &'a str,
    response_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'static str>,
    index: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_message: Option<String>,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part<'a>>,
    role: &'static str,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<String>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    name: &'a str,
    args: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the wire's own names")]
struct Counts {
    prompt_token_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates_token_count: Option<u64>,
    total_token_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_content_token_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thoughts_token_count: Option<u64>,
}

impl Counts {
    /// Returns the counts during the reply: only the request is counted.
    fn so_far(usage: Usage) -> Self {
        Self {
            prompt_token_count: usage.input,
            candidates_token_count: None,
            total_token_count: usage.input,
            cached_content_token_count: Some(usage.cached).filter(|count| *count > 0),
            thoughts_token_count: None,
        }
    }

    /// Returns the final counts. Google counts thoughts separately from the rest of the reply.
    fn whole(usage: Usage) -> Self {
        Self {
            candidates_token_count: Some(usage.output.saturating_sub(usage.reasoning)),
            total_token_count: usage.input + usage.output,
            thoughts_token_count: Some(usage.reasoning).filter(|count| *count > 0),
            ..Self::so_far(usage)
        }
    }
}

/// Renders a reply as a stream.
pub(super) fn render(speech: &Speech<'_>) -> Rendering {
    let event = |document: &Vec<u8>| [b"data: ", document.as_slice(), b"\r\n\r\n"].concat().into();
    let (content, ending) = documents(speech);
    let content: Vec<Bytes> = content.iter().map(event).collect();
    Rendering { half: content.len().saturating_sub(1), content, ending: vec![event(&ending)] }
}

/// Renders a reply as the list that comes where no events were asked for.
pub(super) fn whole(speech: &Speech<'_>) -> Bytes {
    let (mut documents, ending) = documents(speech);
    documents.push(ending);
    [b"[", documents.join(&b",\r\n"[..]).as_slice(), b"]"].concat().into()
}

/// Renders the reply to a request that is blocked for its content.
pub(super) fn blocked(model: &str) -> Bytes {
    let chunk = Chunk {
        candidates: Vec::new(),
        prompt_feedback: Some(PromptFeedback { block_reason: "PROHIBITED_CONTENT" }),
        usage_metadata: None,
        model_version: model,
        response_id: "scripted",
    };
    [b"data: ", json(&chunk).as_slice(), b"\r\n\r\n"].concat().into()
}

fn json(chunk: &Chunk<'_>) -> Vec<u8> {
    // A chunk is plain data with text keys: it always serialises.
    serde_json::to_vec(chunk).unwrap_or_else(|_| b"{}".to_vec())
}

/// Returns the chunks of a reply, and the last one.
fn documents(speech: &Speech<'_>) -> (Vec<Vec<u8>>, Vec<u8>) {
    let early = speech.variant.usage == UsagePosition::Early;
    let at_end = speech.variant.usage == UsagePosition::End;
    let chunk = |parts: Vec<Part<'_>>, usage_metadata: Option<Counts>| {
        json(&candidate(speech, parts, None, None, usage_metadata))
    };
    let mut documents = Vec::new();
    for part in parts(speech) {
        let first = early && documents.is_empty();
        let counts = first.then(|| Counts::whole(speech.usage));
        let counts = counts.or_else(|| at_end.then(|| Counts::so_far(speech.usage)));
        documents.push(chunk(vec![part], counts));
    }
    let (reason, message) = finish(speech);
    // A thought without a call is signed at the very end, with an empty text.
    let signed = speech.thought.is_some() && speech.calls.is_empty();
    let thought_signature = signed.then(|| speech.signatures.sign(Wire::Gemini, ""));
    let last = Part { text: Some(""), thought_signature, ..Part::default() };
    let due = at_end || early && documents.is_empty();
    let counts = due.then(|| Counts::whole(speech.usage));
    let ending = json(&candidate(speech, vec![last], Some(reason), message, counts));
    (documents, ending)
}

fn candidate<'a>(
    speech: &'a Speech<'_>,
    parts: Vec<Part<'a>>,
    finish_reason: Option<&'static str>,
    finish_message: Option<String>,
    usage_metadata: Option<Counts>,
) -> Chunk<'a> {
    let content = Content { parts, role: "model" };
    Chunk {
        candidates: vec![Candidate { content, finish_reason, index: 0, finish_message }],
        prompt_feedback: None,
        usage_metadata,
        model_version: speech.model,
        response_id: "scripted",
    }
}

fn parts<'a>(speech: &'a Speech<'_>) -> Vec<Part<'a>> {
    let thought =
        speech.thought.map(|text| Part { text: Some(text), thought: true, ..Part::default() });
    let texts = speech.text_pieces().map(|text| Part { text: Some(text), ..Part::default() });
    let calls = speech.calls.iter().enumerate().filter_map(|(number, call)| {
        // Only the first call of a reply is signed.
        let signature = || speech.signatures.sign(Wire::Gemini, &call.name);
        Some(Part {
            function_call: Some(FunctionCall { name: &call.name, args: call.object()? }),
            thought_signature: (number == 0).then(signature),
            ..Part::default()
        })
    });
    thought.into_iter().chain(texts).chain(calls).collect()
}

/// Returns the finish reason. Arguments that are not an object cannot be sent: the provider reports
/// that in its own way.
fn finish(speech: &Speech<'_>) -> (&'static str, Option<String>) {
    match speech.calls.iter().find(|call| call.object().is_none()) {
        None => ("STOP", None),
        Some(call) => (
            "MALFORMED_FUNCTION_CALL",
            Some(format!("Malformed function call: {}({})", call.name, call.arguments)),
        ),
    }
}
