//! Prepares text for users: makes it visible, cuts it to a length, builds sentences, compares words.
//!
//! Use this when a text has to be shown, bounded or compared by its words. What a text means is not
//! decided here.

mod bounds;
mod front_matter;
mod json;
mod sentence;
mod visible;
mod words;

pub use bounds::{
    ellipsize, ellipsize_characters, tail, to_one_line, to_single_spaced, truncate,
    truncate_characters,
};
pub use front_matter::{FrontMatterError, split_front_matter};
pub use json::render_json_markdown;
pub use sentence::{code_span, hex, plural};
pub use visible::{
    VisibleStream, make_json_visible, make_line_visible, make_lines_visible, make_text_visible,
    make_visible, make_visible_short,
};
pub use words::{
    is_stop_word, jaccard_similarity, significant_words, split_words, stem_word, word_coverage,
};
