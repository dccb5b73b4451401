//! Implements Google's `generateContent` API.

mod parse;
mod refusal;
mod render;
mod schema;
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

const MODELS: &str = r#"{"models":[{"name":"models/scripted","version":"001","displayName":"Scripted","description":"","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"],"thinking":true}]}"#;

static PROFILE: WireProfile = WireProfile {
    base_path: "/v1beta",
    request_path: "/models/model:streamGenerateContent?alt=sse",
    framing: Framing::Events,
    // From the third generation on signatures must be sent back.
    model_names: &["gemini-2.5-pro", "gemini-3-pro-preview"],
    counts_cached_tokens: true,
    refuses_content: true,
    environment: &[
        ("GEMINI_BASE_URL", "{url}"),
        ("GEMINI_API_KEY", "AIza-canary-2"),
        ("LANGO_MODEL_NAME", "gemini/gemini-3.8-flash"),
    ],
};

/// Implements the API of Google.
pub(crate) struct Gemini;

impl WireFixture for Gemini {
    fn profile(&self) -> &'static WireProfile {
        &PROFILE
    }

    fn model_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix("/v1beta/models/")?.strip_suffix(":streamGenerateContent")
    }

    fn parse<'a>(&self, request: &WireRequest<'a>) -> Result<Conversation<'a>, String> {
        parse::parse(request.body, request.model, request.signatures)
    }

    fn render(&self, speech: &Speech<'_>) -> Rendering {
        render::render(speech)
    }

    fn render_whole(&self, speech: &Speech<'_>) -> Option<Bytes> {
        Some(render::whole(speech))
    }

    fn wants_whole(&self, query: &str) -> bool {
        !query.contains("alt=sse")
    }

    fn refusal(&self, status: u16, message: &str) -> Refusal {
        refusal::refusal(status, message)
    }

    fn refusal_in(&self, case: ErrorCase, model: &str) -> Option<Refusal> {
        refusal::refusal_in(case, model)
    }

    fn blocked(&self, model: &str) -> Option<Bytes> {
        Some(render::blocked(model))
    }

    fn error_event(&self) -> &'static str {
        "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded. Please try again \
         later.\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n"
    }

    fn garbage(&self) -> &'static str {
        "data: {\"candidates\": <html>\r\n\r\n"
    }

    fn models(&self, method: &Method, path: &str, _: &HeaderMap) -> Option<&'static str> {
        (method == Method::GET && path == "/v1beta/models").then_some(MODELS)
    }

    #[cfg(test)]
    fn sample(&self) -> WireSample {
        tests::SAMPLE
    }
}
