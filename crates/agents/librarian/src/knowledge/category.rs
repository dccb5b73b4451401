//! Defines the categories of knowledge.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of knowledge something is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Category")]
pub enum KnowledgeCategory {
    /// Something that is so.
    #[default]
    Fact,
    /// Something that must be kept to.
    Rule,
    /// What a word means.
    Definition,
    /// What the user likes.
    Preference,
    /// What usually happens or works.
    Pattern,
    /// What was wrong before.
    Correction,
}

impl KnowledgeCategory {
    /// Lists all categories.
    pub const ALL: [Self; 6] = [
        Self::Fact,
        Self::Rule,
        Self::Definition,
        Self::Preference,
        Self::Pattern,
        Self::Correction,
    ];

    /// Returns the category's name, which is also the name of its collection in the index.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Rule => "rule",
            Self::Definition => "definition",
            Self::Preference => "preference",
            Self::Pattern => "pattern",
            Self::Correction => "correction",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str() == name)
    }
}

impl fmt::Display for KnowledgeCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
