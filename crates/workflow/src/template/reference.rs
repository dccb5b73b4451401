//! Names in templates: inputs, results of steps, and the item of a list.

use std::fmt;

use serde_json::Value;

use super::token::{Token, tokenize};
use super::values::Values;
use crate::WorkflowError;

/// What a template names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// `inputs.NAME`, and fields of it.
    Input { name: String, fields: Vec<String> },
    /// `steps.ID.output`, and fields of it.
    Output { step: String, fields: Vec<String> },
    /// `steps.ID.state`: `done`, `failed` or `skipped`.
    State { step: String },
    /// `steps.ID.error`: why it failed.
    Error { step: String },
    /// `item`, and fields of it.
    Item { fields: Vec<String> },
}

impl Reference {
    /// Returns the step whose result it names.
    pub(crate) fn step(&self) -> Option<&str> {
        match self {
            Self::Output { step, .. } | Self::State { step } | Self::Error { step } => Some(step),
            Self::Input { .. } | Self::Item { .. } => None,
        }
    }

    pub(crate) fn is_item(&self) -> bool {
        matches!(self, Self::Item { .. })
    }

    fn parse(path: &str) -> Result<Self, String> {
        let parts: Vec<String> = path.split('.').map(str::to_owned).collect();
        if parts.iter().any(String::is_empty) {
            return Err(format!("{path:?} has an empty name between its dots"));
        }
        let rest = |from: usize| parts[from..].to_vec();
        let names: Vec<&str> = parts.iter().map(String::as_str).collect();
        match names.as_slice() {
            ["item", ..] => Ok(Self::Item { fields: rest(1) }),
            ["inputs", name, ..] => Ok(Self::Input { name: (*name).to_owned(), fields: rest(2) }),
            ["steps", step, "output", ..] => {
                Ok(Self::Output { step: (*step).to_owned(), fields: rest(3) })
            }
            ["steps", step, "state"] => Ok(Self::State { step: (*step).to_owned() }),
            ["steps", step, "error"] => Ok(Self::Error { step: (*step).to_owned() }),
            _ => Err(format!(
                "{path:?} names nothing. Write inputs.NAME, steps.ID.output, steps.ID.output.FIELD, \
                 steps.ID.state, steps.ID.error or item"
            )),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = match self {
            Self::Input { name, fields } => {
                write!(f, "inputs.{name}")?;
                fields
            }
            Self::Output { step, fields } => {
                write!(f, "steps.{step}.output")?;
                fields
            }
            Self::State { step } => return write!(f, "steps.{step}.state"),
            Self::Error { step } => return write!(f, "steps.{step}.error"),
            Self::Item { fields } => {
                f.write_str("item")?;
                fields
            }
        };
        fields.iter().try_for_each(|field| write!(f, ".{field}"))
    }
}

/// A name, or a value that is written out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Reference(Reference),
    Literal(Value),
}

impl Operand {
    /// Reads what is between `{{` and `}}`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match tokenize(text)?.as_slice() {
            [token] => Self::from_token(token),
            [] => Err("a template is empty. Write a name in it, such as inputs.NAME".to_owned()),
            _ => Err(format!("{:?} is more than one name", text.trim())),
        }
    }

    pub(crate) fn from_token(token: &Token) -> Result<Self, String> {
        let word = match token {
            Token::Text(text) => return Ok(Self::Literal(Value::String(text.clone()))),
            Token::Word(word) => word,
            Token::Sign(_) | Token::Open | Token::Close => {
                return Err("a name or a value is missing".to_owned());
            }
        };
        match word.as_str() {
            "true" => return Ok(Self::Literal(Value::Bool(true))),
            "false" => return Ok(Self::Literal(Value::Bool(false))),
            "null" => return Ok(Self::Literal(Value::Null)),
            _ => {}
        }
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            let number =
                serde_json::from_str(word).map_err(|_| format!("{word:?} is no number"))?;
            return Ok(Self::Literal(Value::Number(number)));
        }
        Reference::parse(word).map(Self::Reference)
    }

    pub(crate) fn reference(&self) -> Option<&Reference> {
        match self {
            Self::Reference(reference) => Some(reference),
            Self::Literal(_) => None,
        }
    }

    pub(crate) fn evaluate(&self, values: &Values) -> Result<Value, WorkflowError> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Reference(reference) => values.look_up(reference),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference(reference) => reference.fmt(f),
            Self::Literal(Value::String(text)) => write!(f, "'{text}'"),
            Self::Literal(value) => value.fmt(f),
        }
    }
}
