//! Defines the transfer of a task to a specialist, as an orchestrator's model writes it.

use serde::{Deserialize, Serialize};

/// Names the action with which an orchestrator transfers a task. No agent owns it.
pub const TRANSFER_TOOL: &str = "transfer_to_agent";

/// Holds the arguments of a transfer. Unknown ones are ignored: models like to add a reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferArguments {
    /// The agent that should do the task.
    #[serde(default)]
    pub agent_name: String,
    /// The task, complete in itself.
    #[serde(default)]
    pub task: String,
    /// True if the result goes back to the orchestrator instead of to the user.
    #[serde(default, rename = "return")]
    pub returns: bool,
}

impl TransferArguments {
    /// Creates the arguments of a transfer.
    pub fn new(agent_name: &str, task: &str, returns: bool) -> Self {
        Self { agent_name: agent_name.to_owned(), task: task.to_owned(), returns }
    }

    /// Reads the arguments as a model wrote them.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Writes the arguments as a model would.
    pub fn to_json(&self) -> String {
        // A struct of two strings and a flag always serializes; the arguments of a call must be an
        // object whatever happens.
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}
