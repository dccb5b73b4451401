//! Where something came from.

use lango_tool::ToolContext;
use serde::Serialize;

/// Where something that is kept came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// The text, document, page or message that supports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The conversation it was recorded in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// Who recorded it: an agent, or `user`.
    pub by: String,
}

impl Provenance {
    /// Of something that a tool call records.
    pub(crate) fn of_call(context: &ToolContext, source: Option<String>) -> Self {
        Self {
            source,
            session: Some(context.session.to_string()),
            turn: Some(context.turn.to_string()),
            by: context.agent.to_string(),
        }
    }
}
