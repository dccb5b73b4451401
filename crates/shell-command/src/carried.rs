//! What surrounds a command and goes over to what it wraps.

/// Assignments before a command and redirections behind it, its own and those of its wrappers.
#[derive(Debug, Clone, Default)]
pub(super) struct Carried {
    /// `NAME=value`, as the program gets them.
    pub(super) assignments: Vec<String>,
    /// An operator and its target, again and again.
    pub(super) redirections: Vec<String>,
    /// Whether one of them is input.
    pub(super) input: bool,
    /// What these mean for rules.
    pub(super) exact_only: Option<String>,
}

impl Carried {
    pub(super) fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.redirections.is_empty()
    }

    pub(super) fn assign(&mut self, assignment: &str) {
        self.assignments.push(assignment.to_owned());
        self.limit(|| "sets a variable that changes what commands do".to_owned());
    }

    /// The first reason stays.
    pub(super) fn limit(&mut self, reason: impl FnOnce() -> String) {
        self.exact_only.get_or_insert_with(reason);
    }
}
