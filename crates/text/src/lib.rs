//! Text that people read: made visible, cut to a length, counted, put into a sentence.
//!
//! Use this when a text has to be shown or bounded. What a text means is not decided here.

mod bounds;
mod sentence;
mod visible;

pub use bounds::{ellipsize, one_line, truncate};
pub use sentence::{code_span, hex, plural};
pub use visible::{visible, visible_lines, visible_short};
