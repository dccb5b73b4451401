//! Holds our script for pages, and builds calls of its functions.

const SCRIPT: &str = include_str!("page.js");

/// Returns the declaration of a function that calls one function of the script.
pub(crate) fn function_calling(function: &str) -> String {
    format!("function(...values) {{ {SCRIPT}\nreturn {function}.apply(this, values); }}")
}
