//! Anthropic's messages.

mod order;
mod parse;
mod render;
#[cfg(test)]
mod tests;
mod wire;

pub(super) use parse::parse;
pub(super) use render::render;
