//! Compiles the patterns that are part of this crate.

use regex::Regex;

/// Compiles a built-in pattern. One that does not compile is a defect that the tests of its file find:
/// it must never switch a check off in silence.
pub(crate) fn compile_pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| unreachable!("a built-in pattern is wrong: {error}"))
}
