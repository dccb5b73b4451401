//! Declares what others may know of a tool.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

/// Tells how much harm a call can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SafetyLevel {
    /// The call reads; it has no effect outside.
    Safe,
    /// The call changes our own stores.
    Moderate,
    /// The call acts on the world: it asks for approval by default.
    Dangerous,
}

impl fmt::Display for SafetyLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Safe => "safe",
            Self::Moderate => "moderate",
            Self::Dangerous => "dangerous",
        })
    }
}

/// Describes a tool as a model sees it.
#[derive(Debug, Clone, Serialize)]
pub struct ToolDeclaration {
    /// Its name, unique in the registry.
    pub name: Arc<str>,
    /// Its purpose, for a model.
    pub description: Arc<str>,
    /// JSON Schema of its arguments, rendered once.
    pub parameters: Arc<RawValue>,
    /// The harm that a call can do. It is not sent to providers.
    #[serde(skip)]
    pub level: SafetyLevel,
}
