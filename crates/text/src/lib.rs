//! Prepares text for users: makes it visible, cuts it to a length, counts, builds sentences.
//!
//! Use this when a text has to be shown or bounded. What a text means is not decided here.

mod bounds;
mod json;
mod sentence;
mod visible;

pub use bounds::{ellipsize, one_line, truncate};
pub use json::json_markdown;
pub use sentence::{code_span, hex, plural};
pub use visible::{visible, visible_lines, visible_short};
