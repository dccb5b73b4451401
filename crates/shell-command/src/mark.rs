//! Marks: words of a step that no program gets.
//!
//! A redirection stands in a step's words as its operator and its target, and a mark with
//! positions says which words the shell fills in. So `rm '*'` and `rm *` are different steps, and
//! a rule for the one is none for the other. An argument that looks like a mark would blur that;
//! the reader refuses it.

/// Before the positions of the words that the shell fills in, counted from the command.
const FILLED_IN: &str = "<*";

/// The mark for the words at these positions.
pub(super) fn filled_in(positions: &[usize]) -> String {
    let positions: Vec<_> = positions.iter().map(usize::to_string).collect();
    format!("{FILLED_IN}{}>", positions.join(","))
}

/// Whether an argument could be taken for a mark.
pub(super) fn is_mark(word: &str) -> bool {
    let operator = word.trim_start_matches(|first: char| first.is_ascii_digit() || first == '&');
    word.starts_with(FILLED_IN)
        || (operator.starts_with(['<', '>'])
            && operator.chars().all(|character| matches!(character, '<' | '>' | '&' | '|' | '-')))
}
