//! Holds what surrounds a command and applies to the command that it wraps.

/// Holds the assignments before a command and the redirections after it, its own and those of its
/// wrappers.
#[derive(Debug, Clone, Default)]
pub(super) struct CommandContext {
    /// `NAME=value`, as the program gets them.
    pub(super) assignments: Vec<String>,
    /// An operator and its target, repeated.
    pub(super) redirections: Vec<String>,
    /// True if one of them is input.
    pub(super) input: bool,
    /// The reason why only an exact rule may allow it.
    pub(super) exact_only: Option<String>,
}

impl CommandContext {
    pub(super) fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.redirections.is_empty()
    }

    pub(super) fn assign(&mut self, assignment: &str) {
        self.assignments.push(assignment.to_owned());
        self.limit(|| "sets a variable that changes what commands do".to_owned());
    }

    /// Restricts the command to exact rules. The first reason is kept.
    pub(super) fn limit(&mut self, reason: impl FnOnce() -> String) {
        self.exact_only.get_or_insert_with(reason);
    }
}
