//! Google's `generateContent`.

mod parse;
mod render;
mod schema;
#[cfg(test)]
mod tests;
mod wire;

pub(super) use parse::parse;
pub(super) use render::{blocked, render, whole};
