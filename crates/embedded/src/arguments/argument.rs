//! Defines the values that an argument can have.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The value of one argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Argument {
    Boolean(bool),
    Integer(i64),
    Number(f64),
    /// A text, or one of the offered choices.
    Text(String),
    /// Several texts.
    List(Vec<String>),
}

impl Argument {
    /// Returns the text, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Renders the arguments of a call as a JSON object.
pub(crate) fn to_json(arguments: &BTreeMap<String, Argument>) -> String {
    // Names are texts and numbers are finite, so that there is nothing that cannot be written.
    serde_json::to_string(arguments).unwrap_or_else(|_| "{}".to_owned())
}
