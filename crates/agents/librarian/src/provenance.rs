//! Records where stored data came from.

use lango_tool::ToolContext;
use serde::Serialize;

/// Says where stored data came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// The text, document, page or message that supports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The session in which it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The author: an agent, or `user`.
    pub by: String,
}

impl Provenance {
    /// Returns the provenance of data that a tool call records.
    pub(crate) fn of_call(context: &ToolContext, source: Option<String>) -> Self {
        Self {
            source,
            session: Some(context.session.to_string()),
            turn: Some(context.turn.to_string()),
            by: context.agent.to_string(),
        }
    }
}
