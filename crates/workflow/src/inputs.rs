//! Checks the inputs of a run against its definition.

use serde_json::{Map, Value};

use crate::error::WorkflowError;
use crate::{Definition, Input};

/// Limits the bytes of the inputs of a run, as JSON.
const MAX_INPUTS_BYTES: usize = 256 * 1024;

/// Returns the inputs of a run: those that were given, and the defaults of the others.
pub fn check_inputs(
    definition: &Definition,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, WorkflowError> {
    let refuse = |reason: String| Err(WorkflowError::Input(reason));
    let known = || {
        let names: Vec<&str> = definition.inputs.iter().map(|input| input.name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    if let Some(unknown) =
        given.keys().find(|name| !definition.inputs.iter().any(|input| input.name == **name))
    {
        return refuse(format!("there is no input {unknown:?}. The inputs are: {}", known()));
    }
    let mut checked = Map::new();
    for Input { name, kind, default, required, .. } in &definition.inputs {
        let value = match given.get(name) {
            Some(value) if kind.fits(value) => value.clone(),
            Some(value) => {
                let reason =
                    format!("the input {name} is {value}, and must be a {}", kind.as_str());
                return refuse(reason);
            }
            None => match default {
                Some(value) => value.clone(),
                None if *required => {
                    return refuse(format!("the input {name} is missing. Give it: {name}=…"));
                }
                None => Value::Null,
            },
        };
        checked.insert(name.clone(), value);
    }
    if Value::Object(checked.clone()).to_string().len() > MAX_INPUTS_BYTES {
        return refuse(format!("the inputs have more than {MAX_INPUTS_BYTES} bytes"));
    }
    Ok(checked)
}
