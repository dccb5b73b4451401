//! Ollama's own `/api/chat`.

mod parse;
mod render;
#[cfg(test)]
mod tests;

pub(crate) use parse::parse;
pub(crate) use render::render;
