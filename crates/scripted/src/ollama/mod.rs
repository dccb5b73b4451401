//! Ollama's own `/api/chat`.

mod parse;
mod render;
#[cfg(test)]
mod tests;

pub(super) use parse::parse;
pub(super) use render::render;
