//! Implements Anthropic's Messages API.

mod order;
mod parse;
mod refusal;
mod render;
#[cfg(test)]
mod tests;
mod wire;

use hyper::Method;
use hyper::header::HeaderMap;

use crate::conversation::Conversation;
#[cfg(test)]
use crate::fixture::WireSample;
use crate::fixture::{Framing, WireFixture, WireProfile, WireRequest};
use crate::refusal::Refusal;
use crate::script::ErrorCase;
use crate::speech::{Rendering, Speech};

/// Names the header without which Anthropic accepts no request.
const VERSION_HEADER: &str = "anthropic-version";
const MODELS: &str = r#"{"data":[{"type":"model","id":"scripted","display_name":"Scripted","created_at":"2026-01-01T00:00:00Z"}],"has_more":false,"first_id":"scripted","last_id":"scripted"}"#;

static PROFILE: WireProfile = WireProfile {
    base_path: "",
    request_path: "/v1/messages",
    framing: Framing::Events,
    model_names: &["m"],
    counts_cached_tokens: true,
    refuses_content: true,
    environment: &[
        ("ANTHROPIC_BASE_URL", "{url}"),
        ("ANTHROPIC_API_KEY", "sk-ant-canary-1"),
        ("LANGO_MODEL_NAME", "anthropic/claude-sonnet-5-5"),
    ],
};

/// Implements the API of Anthropic.
pub(crate) struct Anthropic;

impl WireFixture for Anthropic {
    fn profile(&self) -> &'static WireProfile {
        &PROFILE
    }

    fn model_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        (path == "/v1/messages").then_some("")
    }

    fn parse<'a>(&self, request: &WireRequest<'a>) -> Result<Conversation<'a>, String> {
        if !request.headers.contains_key(VERSION_HEADER) {
            return Err(format!("{VERSION_HEADER}: header is required"));
        }
        parse::parse(request.body, request.signatures)
    }

    fn render(&self, speech: &Speech<'_>) -> Rendering {
        render::render(speech)
    }

    fn refusal(&self, status: u16, message: &str) -> Refusal {
        refusal::refusal(status, message)
    }

    fn refusal_in(&self, case: ErrorCase, model: &str) -> Option<Refusal> {
        Some(refusal::refusal_in(case, model))
    }

    fn error_event(&self) -> &'static str {
        "event: error\ndata: {\"type\":\"error\",\
         \"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
    }

    fn garbage(&self) -> &'static str {
        "event: content_block_delta\ndata: {\"type\": <html>\n\n"
    }

    fn models(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<&'static str> {
        let asked = method == Method::GET && path == "/v1/models";
        (asked && headers.contains_key(VERSION_HEADER)).then_some(MODELS)
    }

    fn is_end_mark(&self, piece: &[u8]) -> bool {
        piece.starts_with(b"event: message_stop\n")
    }

    fn noise(&self, index: usize) -> Option<&'static str> {
        match index % 3 {
            0 => Some(": keep-alive\n\n"),
            1 => Some("event: weather\ndata: {\"type\":\"weather\",\"index\":0,\"sun\":true}\n\n"),
            _ => None,
        }
    }

    #[cfg(test)]
    fn sample(&self) -> WireSample {
        tests::SAMPLE
    }
}
