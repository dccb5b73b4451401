//! Defines marks, which are words of a step that no program gets.
//!
//! A step's words contain a redirection as its operator and its target, and a mark with positions
//! says which words the shell fills in. So `rm '*'` and `rm *` are different steps, and a rule for
//! the one is none for the other. An argument that looks like a mark would be ambiguous; the reader
//! refuses it.

/// Precedes the positions of the words that the shell fills in, counted from the command.
const EXPANSION_MARK: &str = "<*";

/// Builds the mark for the words at these positions.
pub(super) fn build_expansion_mark(positions: &[usize]) -> String {
    let positions: Vec<_> = positions.iter().map(usize::to_string).collect();
    format!("{EXPANSION_MARK}{}>", positions.join(","))
}

/// Tells whether an argument could be taken for a mark.
pub(super) fn is_mark(word: &str) -> bool {
    let operator = word.trim_start_matches(|first: char| first.is_ascii_digit() || first == '&');
    word.starts_with(EXPANSION_MARK)
        || (operator.starts_with(['<', '>'])
            && operator.chars().all(|character| matches!(character, '<' | '>' | '&' | '|' | '-')))
}
