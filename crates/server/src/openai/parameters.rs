//! Reads the parameters of a request and reports invalid ones.

use serde_json::{Map, Value};

use super::error::ApiError;

/// Holds the parameters of a request. Those that are not read are ignored.
pub(super) struct RequestParameters {
    fields: Map<String, Value>,
    /// The path of the object, a prefix of names in errors.
    path: String,
}

impl RequestParameters {
    /// Parses the body of a request.
    pub(super) fn of_body(body: &[u8]) -> Result<Self, ApiError> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(Self { fields, path: String::new() }),
            Ok(_) => Err(ApiError::invalid("body", "the body must be a JSON object")),
            Err(error) => {
                Err(ApiError::invalid("body", format!("the body is not valid JSON: {error}")))
            }
        }
    }

    /// Reads a value that has parameters of its own.
    pub(super) fn of_value(value: Value, path: impl Into<String>) -> Result<Self, ApiError> {
        let path = path.into();
        match value {
            Value::Object(fields) => Ok(Self { fields, path }),
            other => Err(wrong_type_error(&path, "an object", &other)),
        }
    }

    /// Returns the name of a parameter in errors.
    pub(super) fn name(&self, field: &str) -> String {
        if self.path.is_empty() { field.to_owned() } else { format!("{}.{field}", self.path) }
    }

    /// Takes a value of any type. `null` counts as absent.
    pub(super) fn take(&mut self, field: &str) -> Option<Value> {
        self.fields.remove(field).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, field: &str) -> Result<Option<String>, ApiError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type_error(&self.name(field), "a string", &other)),
        }
    }

    pub(super) fn required_text(&mut self, field: &str) -> Result<String, ApiError> {
        let name = self.name(field);
        self.text(field)?.ok_or_else(|| missing_error(&name))
    }

    pub(super) fn flag(&mut self, field: &str) -> Result<bool, ApiError> {
        match self.take(field) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(other) => Err(wrong_type_error(&self.name(field), "a boolean", &other)),
        }
    }

    pub(super) fn whole_number(&mut self, field: &str) -> Result<Option<u64>, ApiError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Number(number)) if number.is_u64() => Ok(number.as_u64()),
            Some(other) => Err(wrong_type_error(&self.name(field), "a whole number", &other)),
        }
    }

    pub(super) fn number(&mut self, field: &str) -> Result<Option<f64>, ApiError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(number.as_f64()),
            Some(other) => Err(wrong_type_error(&self.name(field), "a number", &other)),
        }
    }

    pub(super) fn list(&mut self, field: &str) -> Result<Option<Vec<Value>>, ApiError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Array(values)) => Ok(Some(values)),
            Some(other) => Err(wrong_type_error(&self.name(field), "an array", &other)),
        }
    }

    pub(super) fn object(&mut self, field: &str) -> Result<Option<Self>, ApiError> {
        let name = self.name(field);
        self.take(field).map(|value| Self::of_value(value, name)).transpose()
    }
}

pub(super) fn missing_error(name: &str) -> ApiError {
    ApiError::invalid(name, format!("the parameter {name:?} is required"))
        .with_code("missing_required_parameter")
}

/// Reports a value of the wrong type.
pub(super) fn wrong_type_error(name: &str, wanted: &str, found: &Value) -> ApiError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let message = format!("invalid type for {name:?}: expected {wanted}, but got {found}");
    ApiError::invalid(name, message).with_code("invalid_type")
}
