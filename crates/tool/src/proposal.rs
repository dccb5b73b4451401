//! What a call would do, said before it may.
//!
//! A tool describes; whether a call may run is decided elsewhere (`lango-runtime`), from this
//! description and from nothing the model wrote around it.

/// A description of one call, made without any effect.
///
/// It is made twice: when a person or a rule decides, and again right before the call runs. The
/// call runs only if both are equal, so whatever the decision rests on belongs in here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposal {
    /// The whole effect for a person, on plain lines, with nothing invisible in it.
    pub summary: String,
    /// The single things it would do, for rules. Empty where the tool has no finer grain.
    pub steps: Vec<Step>,
    /// Why `steps` may not be all of it. No rule allows such a call.
    pub unreadable: Option<String>,
    /// What else must be the same when it runs, such as the content of a script.
    pub bound: Vec<Bound>,
    /// Why a person must be asked whatever the rules allow.
    pub always_ask: Option<String>,
}

impl Proposal {
    /// A proposal that is only words.
    pub fn plain(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }

    /// A proposal of one thing.
    pub fn of<const N: usize>(summary: impl Into<String>, words: [&str; N]) -> Self {
        let words = words.map(str::to_owned).into();
        let steps = vec![Step { words, exact_only: None }];
        Self { summary: summary.into(), steps, ..Self::default() }
    }
}

/// One thing that a call would do: a command with its arguments, a path, an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The words that rules are compared with, without quotes and escapes.
    pub words: Vec<String>,
    /// Why only a rule for exactly these words may allow it: with other arguments it could do
    /// anything. None where a rule with a pattern may allow it too.
    pub exact_only: Option<String>,
}

/// Something outside the arguments that a decision rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// What it is, for a person.
    pub what: String,
    /// SHA-256 of its content; `missing` where it is not there.
    pub digest: String,
}
