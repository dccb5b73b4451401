//! Defines the errors in a set of agents. All of them are found before the first turn.

use lango_protocol::{AgentName, InvalidName};

/// The reason why agents could not be read or combined. Each text names the file or agent to
/// change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrchestrationError {
    /// The file does not start with front matter.
    #[error("{file}: no front matter; begin the file with a line '---', the fields, and '---'")]
    NoFrontMatter {
        /// The file to change.
        file: String,
    },
    /// The front matter has no end.
    #[error("{file}: the front matter is not closed; add a line '---' after the last field")]
    UnclosedFrontMatter {
        /// The file to change.
        file: String,
    },
    /// A field that does not exist, most often misspelt.
    #[error("{file}: unknown field {field:?}; did you mean {nearest:?}?")]
    UnknownField {
        /// The file to change.
        file: String,
        /// The field as written.
        field: String,
        /// The known field that is spelt most alike.
        nearest: &'static str,
    },
    /// Not YAML, a missing field, or a value of the wrong kind.
    #[error("{file}: {reason}")]
    InvalidFrontMatter {
        /// The file to change.
        file: String,
        /// The error of the parser.
        reason: String,
    },
    /// A value of the right kind that makes no sense.
    #[error("{file}: {field} {problem}")]
    InvalidValue {
        /// The file to change.
        file: String,
        /// The field to change.
        field: &'static str,
        /// The problem.
        problem: String,
    },
    /// An agent without an instruction.
    #[error("{file}: no instruction; write what the agent does below the front matter")]
    NoInstruction {
        /// The file to change.
        file: String,
    },
    /// A topology without agents.
    #[error("topology {topology:?} has no agents; add at least one agent file")]
    NoAgents {
        /// The topology.
        topology: String,
    },
    /// Two agents with one name.
    #[error("two agents are called {name:?}; rename one of them")]
    DuplicateAgent {
        /// The name both have.
        name: AgentName,
    },
    /// A name that a root agent has.
    #[error("{name:?} is the name of a root agent; choose another name")]
    ReservedName {
        /// The name.
        name: AgentName,
    },
    /// A topology's header names an agent for which there is no file.
    #[error("topology {topology:?}: {field} names {name:?}, but no agent file has that name")]
    UnknownAgent {
        /// The topology.
        topology: String,
        /// The header's field.
        field: &'static str,
        /// The unknown name.
        name: AgentName,
    },
    /// A topology's header leaves out an agent that has a file.
    #[error("topology {topology:?}: {field} leaves out {name:?}; add it or remove its file")]
    MissingAgent {
        /// The topology.
        topology: String,
        /// The header's field.
        field: &'static str,
        /// The name that is missing.
        name: AgentName,
    },
    /// A remote agent has the name of another agent.
    #[error("remote agent {name:?} has the name of another agent; rename it in a2a.remoteAgents")]
    RemoteNameTaken {
        /// The name both have.
        name: AgentName,
    },
    /// A prompt file in a directory where it would mean something else.
    #[error("{file}: not read from here; {advice}")]
    MisplacedPromptFile {
        /// The file, as given.
        file: String,
        /// The right directory.
        advice: &'static str,
    },
    /// The folder of a per-agent prompt file is not an agent's name.
    #[error("{file}: {problem}")]
    InvalidPromptFolder {
        /// The file, as given.
        file: String,
        /// The rule that the name breaks.
        problem: InvalidName,
    },
    /// A root agent's name breaks the rule for names, which is a bug.
    #[error("a bug in the names of the root agents: {0}")]
    RootName(#[from] InvalidName),
}
