//! Defines what a remote agent says, independent of version and binding.
//!
//! Versions 1.0 and 0.3 differ in spelling, and little in meaning. This module maps both to the
//! same types.

mod read;
mod write;

use serde_json::Value;

pub(crate) use read::{check_depth, read_rpc, read_task, read_update, refusal_in};
pub(crate) use write::{Operation, OutgoingMessage, Picture, Request};

/// The supported versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 1.0 and later.
    One,
    /// 0.3.
    ZeroThree,
}

impl Version {
    /// Returns the value of the header `A2A-Version`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::One => crate::wire::VERSION_1,
            Self::ZeroThree => crate::wire::VERSION_03,
        }
    }
}

/// The supported bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// JSON-RPC: every request goes to the same address.
    JsonRpc,
    /// HTTP+JSON: each operation has an address.
    HttpJson,
}

impl Binding {
    /// Returns the name as cards spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::HttpJson => "HTTP+JSON",
        }
    }
}

/// The state of a task.
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
    /// An unknown state, which is not an end.
    Unknown,
}

impl State {
    /// Tells whether nothing more happens by itself.
    pub(crate) fn is_settled(self) -> bool {
        !matches!(self, Self::Submitted | Self::Working | Self::Unknown)
    }
}

/// A piece of content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Data(Value),
    File { name: String, media_type: String, source: FileSource },
}

/// The content or the address of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileSource {
    Url(String),
    Bytes(Vec<u8>),
}

/// A result, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Artifact {
    pub(crate) id: String,
    pub(crate) parts: Vec<Part>,
}

/// The state of a task, and the agent's message about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Status {
    pub(crate) state: State,
    pub(crate) message: Vec<Part>,
}

/// A whole task.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    pub(crate) ids: TaskIds,
    pub(crate) status: Status,
    pub(crate) artifacts: Vec<Artifact>,
    /// The agent's newest message in the task's history.
    pub(crate) last_message: Vec<Part>,
}

/// The ids of the task and its conversation, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TaskIds {
    pub(crate) task: Option<String>,
    pub(crate) context: Option<String>,
}

/// One update from an agent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Update {
    Task(Task),
    /// An answer without a task.
    Message {
        ids: TaskIds,
        parts: Vec<Part>,
    },
    Status {
        ids: TaskIds,
        status: Status,
    },
    Artifact {
        ids: TaskIds,
        artifact: Artifact,
        append: bool,
    },
}

impl Update {
    pub(crate) fn ids(&self) -> &TaskIds {
        match self {
            Self::Task(task) => &task.ids,
            Self::Message { ids, .. } | Self::Status { ids, .. } | Self::Artifact { ids, .. } => {
                ids
            }
        }
    }
}
