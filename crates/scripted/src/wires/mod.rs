//! Lists the APIs, each in a folder of its own.

mod anthropic;
mod gemini;
mod ollama;
mod openai;

use lango_model::Wire;

use crate::fixture::WireFixture;

/// Returns how a wire is spoken.
pub(crate) fn fixture(wire: Wire) -> &'static dyn WireFixture {
    match wire {
        Wire::OpenAi => &openai::OpenAi,
        Wire::Anthropic => &anthropic::Anthropic,
        Wire::Gemini => &gemini::Gemini,
        Wire::Ollama => &ollama::Ollama,
    }
}
