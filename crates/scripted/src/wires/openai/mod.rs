//! OpenAI chat completions.

mod parse;
mod render;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use parse::parse;
pub(crate) use render::{render, whole};
