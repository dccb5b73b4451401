//! What an agent elsewhere says, whichever version and binding it speaks.
//!
//! Versions 1.0 and 0.3 differ in spelling, and little in meaning. What is read here has one meaning;
//! how it is spelt stays in this folder.

mod events;
mod read;
mod write;

use serde_json::Value;

pub(crate) use events::Events;
pub(crate) use read::{check_depth, read_rpc, read_task, read_update, refusal_in};
pub(crate) use write::{Operation, Outgoing, Picture, Request};

/// The versions that are spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 1.0 and what follows it.
    One,
    /// 0.3.
    ZeroThree,
}

impl Version {
    /// As the header `A2A-Version` has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::One => crate::wire::VERSION_1,
            Self::ZeroThree => crate::wire::VERSION_03,
        }
    }
}

/// How requests are carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// JSON-RPC: every request goes to the same address.
    JsonRpc,
    /// HTTP+JSON: each operation has an address.
    HttpJson,
}

impl Binding {
    /// As cards spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::HttpJson => "HTTP+JSON",
        }
    }
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Submitted,
    Working,
    Completed,
    Failed,
    Canceled,
    InputRequired,
    AuthRequired,
    Rejected,
    /// A state that nobody has heard of: not an end.
    Unknown,
}

impl State {
    /// Whether nothing more comes unless somebody acts.
    pub(crate) fn is_settled(self) -> bool {
        !matches!(self, Self::Submitted | Self::Working | Self::Unknown)
    }
}

/// A piece of content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Data(Value),
    File { name: String, media_type: String, place: FilePlace },
}

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilePlace {
    Url(String),
    Bytes(Vec<u8>),
}

/// A result, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Artifact {
    pub(crate) id: String,
    pub(crate) parts: Vec<Part>,
}

/// Where a task stands, and what the agent says about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Status {
    pub(crate) state: State,
    pub(crate) message: Vec<Part>,
}

/// A task as a whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    pub(crate) names: Names,
    pub(crate) status: Status,
    pub(crate) artifacts: Vec<Artifact>,
    /// The agent's newest message in the task's history.
    pub(crate) said: Vec<Part>,
}

/// Which task of which conversation, where it is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) task: Option<String>,
    pub(crate) context: Option<String>,
}

/// One thing that an agent said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Update {
    Task(Task),
    /// An answer without a task.
    Message {
        names: Names,
        parts: Vec<Part>,
    },
    Status {
        names: Names,
        status: Status,
    },
    Artifact {
        names: Names,
        artifact: Artifact,
        append: bool,
    },
}

impl Update {
    pub(crate) fn names(&self) -> &Names {
        match self {
            Self::Task(task) => &task.names,
            Self::Message { names, .. }
            | Self::Status { names, .. }
            | Self::Artifact { names, .. } => names,
        }
    }
}
