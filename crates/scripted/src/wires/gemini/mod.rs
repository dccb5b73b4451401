//! Google's `generateContent`.

mod parse;
mod render;
mod schema;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use parse::parse;
pub(crate) use render::{blocked, render, whole};
