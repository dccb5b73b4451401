//! The parameters of a request: which are read, and what is said about one that does not fit.

use serde_json::{Map, Value};

use super::error::ApiError;

/// The parameters as they came. What nobody asks for is ignored.
pub(super) struct Parameters {
    fields: Map<String, Value>,
    /// Where they are, in front of names in errors.
    place: String,
}

impl Parameters {
    /// The body of a request.
    pub(super) fn of_body(body: &[u8]) -> Result<Self, ApiError> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(Self { fields, place: String::new() }),
            Ok(_) => Err(ApiError::invalid("body", "the body must be a JSON object")),
            Err(error) => {
                Err(ApiError::invalid("body", format!("the body is not valid JSON: {error}")))
            }
        }
    }

    /// A value that has parameters of its own.
    pub(super) fn of_value(value: Value, place: impl Into<String>) -> Result<Self, ApiError> {
        let place = place.into();
        match value {
            Value::Object(fields) => Ok(Self { fields, place }),
            other => Err(wrong(&place, "an object", &other)),
        }
    }

    /// The name of a parameter in errors.
    pub(super) fn name(&self, field: &str) -> String {
        if self.place.is_empty() { field.to_owned() } else { format!("{}.{field}", self.place) }
    }

    /// A value, whatever it is. `null` is as good as absent.
    pub(super) fn take(&mut self, field: &str) -> Option<Value> {
        self.fields.remove(field).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, field: &str) -> Result<Option<String>, ApiError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(&self.name(field), "a string", &other)),
        }
    }

    pub(super) fn required_text(&mut self, field: &str) -> Result<String, ApiError> {
        let name = self.name(field);
        self.text(field)?.ok_or_else(|| missing(&name))
    }

    pub(super) fn flag(&mut self, field: &str) -> Result<bool, ApiError> {
        match self.take(field) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(other) => Err(wrong(&self.name(field), "a boolean", &other)),
        }
    }

    pub(super) fn whole_number(&mut self, field: &str) -> Result<Option<u64>, ApiError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Number(number)) if number.is_u64() => Ok(number.as_u64()),
            Some(other) => Err(wrong(&self.name(field), "a whole number", &other)),
        }
    }

    pub(super) fn number(&mut self, field: &str) -> Result<Option<f64>, ApiError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(number.as_f64()),
            Some(other) => Err(wrong(&self.name(field), "a number", &other)),
        }
    }

    pub(super) fn list(&mut self, field: &str) -> Result<Option<Vec<Value>>, ApiError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Array(values)) => Ok(Some(values)),
            Some(other) => Err(wrong(&self.name(field), "an array", &other)),
        }
    }

    pub(super) fn object(&mut self, field: &str) -> Result<Option<Self>, ApiError> {
        let name = self.name(field);
        self.take(field).map(|value| Self::of_value(value, name)).transpose()
    }
}

pub(super) fn missing(name: &str) -> ApiError {
    ApiError::invalid(name, format!("the parameter {name:?} is required"))
        .coded("missing_required_parameter")
}

/// A value of the wrong type.
pub(super) fn wrong(name: &str, wanted: &str, found: &Value) -> ApiError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let message = format!("invalid type for {name:?}: expected {wanted}, but got {found}");
    ApiError::invalid(name, message).coded("invalid_type")
}
