//! Says what is wrong with a workflow, and where.

use std::fmt;

/// A mistake in a definition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What is wrong, and what to write instead.
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.reason)
    }
}

/// Says why a workflow cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkflowError {
    /// The definition has mistakes, in the order of the text.
    #[error("the workflow is not valid:\n{}", join(problems))]
    Invalid {
        /// The mistakes.
        problems: Vec<Problem>,
    },
    /// The inputs do not fit the definition.
    #[error("{0}")]
    Input(String),
    /// A template needs a value that is not there.
    #[error("{0}")]
    Value(String),
}

impl WorkflowError {
    /// Returns the mistakes of the definition.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Invalid { problems } => problems,
            Self::Input(_) | Self::Value(_) => &[],
        }
    }
}

fn join(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(|problem| format!("  {problem}")).collect();
    lines.join("\n")
}
