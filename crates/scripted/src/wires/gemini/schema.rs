//! Checks Google's own kind of schema in `parameters`: a part of JSON Schema. Every other keyword
//! is refused.

use serde_json::{Map, Value};

/// Checks a schema; the error is what the provider says about it.
pub(super) fn check(schema: &Map<String, Value>, at: &str) -> Result<(), String> {
    for (name, value) in schema {
        let inner = format!("{at}.{name}");
        match (name.as_str(), value) {
            ("type", Value::String(kind)) if is_type(kind) => {}
            ("type", _) => return Err(format!("Invalid value at '{inner}' (Type), {value}")),
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    check_value(property, &format!("{inner}[{name}]"))?;
                }
            }
            ("items", _) => check_value(value, &inner)?,
            ("anyOf" | "any_of", Value::Array(cases)) => {
                cases.iter().try_for_each(|case| check_value(case, &inner))?;
            }
            (name, _) if is_known(name) => {}
            (name, _) => {
                return Err(format!(
                    "Invalid JSON payload received. Unknown name \"{name}\" at '{at}': Cannot find \
                     field."
                ));
            }
        }
    }
    Ok(())
}

fn check_value(value: &Value, at: &str) -> Result<(), String> {
    match value {
        Value::Object(schema) => check(schema, at),
        _ => Err(format!("Invalid value at '{at}' (Schema), {value}")),
    }
}

fn is_type(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    matches!(
        kind.as_str(),
        "string" | "number" | "integer" | "boolean" | "array" | "object" | "null"
    )
}

fn is_known(name: &str) -> bool {
    matches!(
        name,
        "format"
            | "title"
            | "description"
            | "nullable"
            | "enum"
            | "required"
            | "example"
            | "default"
            | "pattern"
            | "minimum"
            | "maximum"
            | "maxItems"
            | "minItems"
            | "maxLength"
            | "minLength"
            | "maxProperties"
            | "minProperties"
            | "propertyOrdering"
            | "max_items"
            | "min_items"
            | "max_length"
            | "min_length"
            | "max_properties"
            | "min_properties"
            | "property_ordering"
    )
}
