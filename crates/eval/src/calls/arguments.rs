//! Defines the arguments of a call, of a label or of a model.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The arguments of a call, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Arguments(pub BTreeMap<String, Argument>);

/// The value of one argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    /// An explicit nothing.
    Null,
    /// A boolean.
    Boolean(bool),
    /// A number without a fraction.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Argument>),
    /// An object.
    Object(Arguments),
}

impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
