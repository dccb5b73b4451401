//! Implements OpenAI's chat completions.

mod parse;
mod refusal;
mod render;
#[cfg(test)]
mod tests;
mod wire;

use bytes::Bytes;
use hyper::Method;
use hyper::header::HeaderMap;

use crate::conversation::Conversation;
#[cfg(test)]
use crate::fixture::WireSample;
use crate::fixture::{Framing, WireFixture, WireProfile, WireRequest};
use crate::refusal::Refusal;
use crate::script::ErrorCase;
use crate::speech::{Rendering, Speech};

const MODELS: &str = r#"{"object":"list","data":[{"id":"scripted","object":"model","created":1767225600,"owned_by":"lango"}]}"#;

static PROFILE: WireProfile = WireProfile {
    base_path: "/v1",
    request_path: "/chat/completions",
    framing: Framing::Events,
    model_names: &["m"],
    counts_cached_tokens: true,
    refuses_content: true,
    environment: &[("OPENAI_BASE_URL", "{url}")],
};

/// Implements the API of OpenAI.
pub(crate) struct OpenAi;

impl WireFixture for OpenAi {
    fn profile(&self) -> &'static WireProfile {
        &PROFILE
    }

    fn model_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.ends_with("/chat/completions").then_some("")
    }

    fn parse<'a>(&self, request: &WireRequest<'a>) -> Result<Conversation<'a>, String> {
        parse::parse(request.body, request.script)
    }

    fn render(&self, speech: &Speech<'_>) -> Rendering {
        render::render(speech)
    }

    fn render_whole(&self, speech: &Speech<'_>) -> Option<Bytes> {
        Some(render::whole(speech))
    }

    fn refusal(&self, status: u16, message: &str) -> Refusal {
        refusal::refusal(status, message)
    }

    fn refusal_in(&self, case: ErrorCase, model: &str) -> Option<Refusal> {
        Some(refusal::refusal_in(case, model))
    }

    fn error_event(&self) -> &'static str {
        "data: {\"error\":{\"message\":\"The server is overloaded\",\"type\":\"server_error\",\
         \"param\":null,\"code\":null}}\n\n"
    }

    fn garbage(&self) -> &'static str {
        "data: {\"choices\": <html>\n\n"
    }

    fn models(&self, method: &Method, path: &str, _: &HeaderMap) -> Option<&'static str> {
        (method == Method::GET && path == "/v1/models").then_some(MODELS)
    }

    fn is_end_mark(&self, piece: &[u8]) -> bool {
        piece == b"data: [DONE]\n\n"
    }

    #[cfg(test)]
    fn sample(&self) -> WireSample {
        tests::SAMPLE
    }
}
