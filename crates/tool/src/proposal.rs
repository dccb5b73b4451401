//! Describes what a call would do, before it may.
//!
//! A tool describes; `lango-runtime` decides whether a call may run, from this description and from
//! nothing the model wrote around it.

/// Describes one call, without any effect.
///
/// It is built twice: when a user or a rule decides, and again right before the call runs. The call
/// runs only if both are equal, so everything the decision depends on belongs in here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposal {
    /// The whole effect for users, on plain lines, with nothing invisible in it.
    pub summary: String,
    /// The single steps of the call, for rules. Empty if the tool has no finer grain.
    pub steps: Vec<ProposedStep>,
    /// The reason why `steps` may not be all of it. No rule allows such a call.
    pub unreadable: Option<String>,
    /// Other resources that must be the same when it runs, such as the content of a script.
    pub bound: Vec<BoundResource>,
    /// The reason why the user must be asked whatever the rules allow.
    pub always_ask: Option<String>,
}

impl Proposal {
    /// Creates a proposal that consists of a summary only.
    pub fn plain(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }

    /// Creates a proposal of one step.
    pub fn of<const N: usize>(summary: impl Into<String>, words: [&str; N]) -> Self {
        let words = words.map(str::to_owned).into();
        let steps = vec![ProposedStep { words, exact_only: None }];
        Self { summary: summary.into(), steps, ..Self::default() }
    }
}

/// Describes one thing that a call would do: a command with its arguments, a path, an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedStep {
    /// The words that rules are compared with, without quotes and escapes.
    pub words: Vec<String>,
    /// The reason why only a rule for exactly these words may allow it: with other arguments it
    /// could do anything. None if a rule with a pattern may allow it too.
    pub exact_only: Option<String>,
}

/// Names something outside the arguments that a decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundResource {
    /// Its description, for users.
    pub what: String,
    /// The SHA-256 of its content; `missing` if it does not exist.
    pub digest: String,
}
