//! The values that templates name.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::reference::Reference;
use crate::WorkflowError;

/// What is known when a template is filled in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values {
    /// The inputs of the run.
    pub inputs: Map<String, Value>,
    /// The results of the steps that have ended.
    pub steps: BTreeMap<String, StepResult>,
    /// The item of the list, in a step with `for_each`.
    pub item: Option<Value>,
}

/// The result of a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepResult {
    /// `done`, `failed` or `skipped`.
    pub state: &'static str,
    /// Its output; null if there is none.
    pub output: Value,
    /// Why it failed.
    pub error: Option<String>,
}

impl Values {
    pub(crate) fn look_up(&self, reference: &Reference) -> Result<Value, WorkflowError> {
        let missing = || WorkflowError::Value(format!("{reference} is not there"));
        let step = |id: &str| self.steps.get(id).ok_or_else(missing);
        match reference {
            Reference::Input { name, fields } => {
                select(self.inputs.get(name).ok_or_else(missing)?, fields, reference)
            }
            Reference::Output { step: id, fields } => select(&step(id)?.output, fields, reference),
            Reference::State { step: id } => Ok(Value::String(step(id)?.state.to_owned())),
            Reference::Error { step: id } => {
                Ok(step(id)?.error.clone().map_or(Value::Null, Value::String))
            }
            Reference::Item { fields } => {
                select(self.item.as_ref().ok_or_else(missing)?, fields, reference)
            }
        }
    }
}

/// Follows fields into a value.
fn select(value: &Value, fields: &[String], path: &Reference) -> Result<Value, WorkflowError> {
    let mut value = value;
    for field in fields {
        let next = match value {
            Value::Object(map) => map.get(field),
            Value::Array(list) => field.parse().ok().and_then(|index: usize| list.get(index)),
            _ => None,
        };
        value = next.ok_or_else(|| {
            let has = match value {
                Value::Object(map) => {
                    let names: Vec<&str> = map.keys().map(String::as_str).take(20).collect();
                    format!("there are the fields {}", names.join(", "))
                }
                Value::Array(list) => format!("it is a list of {}", list.len()),
                Value::Null => "it has no value".to_owned(),
                _ => "it is a single value without fields".to_owned(),
            };
            WorkflowError::Value(format!("{path} is not there: no {field:?}, {has}"))
        })?;
    }
    Ok(value.clone())
}
