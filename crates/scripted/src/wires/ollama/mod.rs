//! Implements Ollama's own `/api/chat`.

mod parse;
mod render;
#[cfg(test)]
mod tests;

use hyper::Method;
use hyper::header::HeaderMap;

use crate::conversation::Conversation;
#[cfg(test)]
use crate::fixture::WireSample;
use crate::fixture::{Framing, WireFixture, WireProfile, WireRequest};
use crate::refusal::Refusal;
use crate::script::ErrorCase;
use crate::speech::{Rendering, Speech};

const TAGS: &str = r#"{"models":[{"name":"scripted:latest","model":"scripted:latest","modified_at":"2026-01-01T00:00:00Z","size":1,"digest":"0000000000000000","details":{"parent_model":"","format":"gguf","family":"scripted","families":["scripted"],"parameter_size":"1B","quantization_level":"Q4_K_M"}}]}"#;
const SHOW: &str = r#"{"modelfile":"","parameters":"num_ctx 32768","template":"{{ .Prompt }}","details":{"parent_model":"","format":"gguf","family":"scripted","families":["scripted"],"parameter_size":"1B","quantization_level":"Q4_K_M"},"model_info":{"general.architecture":"scripted","scripted.context_length":131072},"capabilities":["completion","tools","vision","thinking"]}"#;
const VERSION: &str = r#"{"version":"0.12.6"}"#;

static PROFILE: WireProfile = WireProfile {
    base_path: "",
    request_path: "/api/chat",
    framing: Framing::Lines,
    model_names: &["m"],
    counts_cached_tokens: false,
    refuses_content: false,
    environment: &[("OLLAMA_HOST", "{url}")],
};

/// Implements the API of Ollama.
pub(crate) struct Ollama;

impl WireFixture for Ollama {
    fn profile(&self) -> &'static WireProfile {
        &PROFILE
    }

    fn model_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        (path == "/api/chat").then_some("")
    }

    fn parse<'a>(&self, request: &WireRequest<'a>) -> Result<Conversation<'a>, String> {
        parse::parse(request.body, request.script)
    }

    fn render(&self, speech: &Speech<'_>) -> Rendering {
        render::render(speech)
    }

    fn refusal(&self, status: u16, message: &str) -> Refusal {
        render::refusal(status, message)
    }

    fn refusal_in(&self, case: ErrorCase, model: &str) -> Option<Refusal> {
        Some(render::refusal_in(case, model))
    }

    fn error_event(&self) -> &'static str {
        "{\"error\":\"an error was encountered while running the model: unexpected EOF\"}\n"
    }

    fn garbage(&self) -> &'static str {
        "{\"message\": <html>\n"
    }

    fn models(&self, method: &Method, path: &str, _: &HeaderMap) -> Option<&'static str> {
        let get = method == Method::GET;
        match path {
            "/api/tags" if get => Some(TAGS),
            "/api/version" if get => Some(VERSION),
            "/api/show" if method == Method::POST => Some(SHOW),
            _ => None,
        }
    }

    fn noise(&self, index: usize) -> Option<&'static str> {
        index.is_multiple_of(3).then_some("\n")
    }

    #[cfg(test)]
    fn sample(&self) -> WireSample {
        tests::SAMPLE
    }
}
