//! Our script for pages, and how its functions are called.

const SCRIPT: &str = include_str!("page.js");

/// The declaration of a function that calls one function of the script.
pub(crate) fn calling(function: &str) -> String {
    format!("function(...values) {{ {SCRIPT}\nreturn {function}.apply(this, values); }}")
}
