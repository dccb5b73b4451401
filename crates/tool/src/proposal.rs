//! Describes what a call would do, before it may.
//!
//! A tool describes; `lango-runtime` decides whether a call may run, from this description and from
//! nothing the model wrote around it.

use std::path::PathBuf;

use lango_protocol::{AgentName, Rights};

use crate::SafetyLevel;

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
    /// The call as one step, for a rule that allows exactly this call, if its steps together do not
    /// say all of it: in which order they happen, and under which conditions.
    pub whole: Option<ProposedStep>,
    /// The reason why `steps` may not be all of it. No rule allows such a call.
    pub unreadable: Option<String>,
    /// Other resources that must be the same when it runs, such as the content of a script.
    pub bound: Vec<BoundResource>,
    /// The reason why the user must be asked whatever the rules allow.
    pub always_ask: Option<String>,
    /// Set if all that the call does is to read in the workspace, confined. It needs no question
    /// then, whatever the level of its tool. These are the programs that read so.
    pub only_reads: Option<&'static [&'static str]>,
    /// How much harm this call can do, if that is more than its tool's level says.
    pub level: Option<SafetyLevel>,
    /// The rights that it asks for beyond those of every call of its tool. Only a rule that states
    /// them allows it.
    pub rights: Rights,
    /// The reason why the summary does not show all that the decision depends on. A user cannot
    /// approve such a call.
    pub not_shown: Option<String>,
    /// Text of the model that the call takes to where it has an effect later: into the prompts of
    /// other turns, or to a remote agent. In a conversation that has read text of others, the call
    /// is dangerous unless these are the user's own words.
    pub carried_text: Option<CarriedText>,
}

impl Proposal {
    /// Creates a proposal that consists of a summary only.
    pub fn plain(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }

    /// Creates a proposal of one step.
    pub fn of<const N: usize>(summary: impl Into<String>, words: [&str; N]) -> Self {
        Self::of_step(summary, ProposedStep::new(words))
    }

    /// Creates a proposal of one step.
    pub fn of_step(summary: impl Into<String>, step: ProposedStep) -> Self {
        Self { summary: summary.into(), steps: vec![step], ..Self::default() }
    }

    /// Creates a proposal to send something to an address. It is dangerous whatever the tool is:
    /// the address and everything in it are a model's words.
    pub fn outbound(summary: impl Into<String>, address: &str) -> Self {
        Self { level: Some(SafetyLevel::Dangerous), ..Self::of(summary, [address]) }
    }
}

impl Proposal {
    /// Creates a proposal to keep a text that later turns are shown.
    pub fn keeping<const N: usize>(summary: impl Into<String>, words: [&str; N]) -> Self {
        let carried_text = Some(CarriedText { text: words.join("\n"), to: None });
        Self { carried_text, ..Self::of(summary, words) }
    }
}

/// Is a text of the model that a call takes to where it has an effect later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarriedText {
    /// The text.
    pub text: String,
    /// The remote agent that gets it. Its own words, which the conversation may have, are no news to
    /// it.
    pub to: Option<AgentName>,
}

/// Describes one thing that a call would do: a command with its arguments, a path, an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProposedStep {
    /// The words that rules are compared with, without quotes and escapes. Paths and addresses are
    /// in their one resolved form.
    pub words: Vec<String>,
    /// Other spellings of the same step, such as a path as it was given. A rule that denies or asks
    /// holds if it matches any of them.
    pub spellings: Vec<Vec<String>>,
    /// The directory in which it would happen.
    pub directory: StepDirectory,
    /// The reason why only a rule for exactly these words may allow it: with other arguments it
    /// could do anything. None if a rule with a pattern may allow it too.
    pub exact_only: Option<String>,
}

impl ProposedStep {
    /// Creates a step of these words.
    pub fn new<const N: usize>(words: [&str; N]) -> Self {
        Self { words: words.map(str::to_owned).into(), ..Self::default() }
    }

    /// Adds another spelling, unless it is the same.
    #[must_use]
    pub fn with_spelling(mut self, words: Vec<String>) -> Self {
        if words != self.words && !self.spellings.contains(&words) {
            self.spellings.push(words);
        }
        self
    }
}

/// Says in which directory a step would happen. The same command does other things in another one:
/// programs read their configuration there, and relative paths lead to other files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StepDirectory {
    /// The workspace itself, or the directory does not matter.
    #[default]
    Workspace,
    /// Another directory, as an absolute path without links.
    At(PathBuf),
    /// It is known only when the call runs. A rule must allow the call as a whole.
    Unknown,
}

/// Names something outside the arguments that a decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundResource {
    /// Its description, for users.
    pub what: String,
    /// The SHA-256 of its content; `missing` if it does not exist.
    pub digest: String,
}
