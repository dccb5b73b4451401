//! Checks the arguments that a skill is called with.
//!
//! It supports a small part of JSON schema, enough for a script: an object of texts, numbers and
//! choices. Everything else is refused when the skill is read, not ignored when it is called.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Describes the parameters of a skill.
#[derive(Debug, Clone)]
pub(crate) struct Parameters {
    schema: Box<RawValue>,
    object: ObjectSchema,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ObjectSchema {
    #[expect(dead_code, reason = "there is only one type")]
    r#type: ObjectType,
    #[serde(default)]
    properties: BTreeMap<String, Property>,
    #[serde(default)]
    required: Vec<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "additional properties are never accepted")]
    additional_properties: Option<bool>,
    #[serde(default)]
    #[expect(dead_code, reason = "the model reads it in the schema")]
    description: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ObjectType {
    Object,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Property {
    r#type: PropertyType,
    #[serde(default)]
    r#enum: Option<Vec<Value>>,
    #[serde(default)]
    items: Option<Items>,
    #[serde(default)]
    #[expect(dead_code, reason = "the model reads it in the schema")]
    description: Option<String>,
    #[serde(default)]
    default: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Items {
    r#type: PropertyType,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PropertyType {
    String,
    Number,
    Integer,
    Boolean,
    Array,
}

impl Parameters {
    /// Parses the text of a schema.
    pub(crate) fn parse(schema: &str) -> Result<Self, String> {
        let wrong = |error: serde_json::Error| format!("parameters: {error}");
        let object: ObjectSchema = serde_json::from_str(schema).map_err(wrong)?;
        if let Some(name) =
            object.required.iter().find(|name| !object.properties.contains_key(*name))
        {
            return Err(format!("parameters: {name:?} is required and not described"));
        }
        let schema = RawValue::from_string(schema.trim().to_owned()).map_err(wrong)?;
        Ok(Self { schema, object })
    }

    /// Returns an empty set of parameters.
    pub(crate) fn none() -> Self {
        Self::of_scripts(std::iter::empty())
    }

    /// Returns the parameters of a skill that only has scripts: the script, and its arguments.
    pub(crate) fn of_scripts<'a>(scripts: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = scripts.collect();
        let schema = if names.is_empty() {
            r#"{"type":"object","properties":{},"additionalProperties":false}"#.to_owned()
        } else {
            let schema = serde_json::json!({
                "type": "object",
                "properties": {
                    "script": {
                        "type": "string",
                        "enum": names,
                        "description": "Run this script. Without it the instructions are returned."
                    },
                    "arguments": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "The script's arguments."
                    }
                },
                "additionalProperties": false
            });
            schema.to_string()
        };
        Self::parse(&schema).unwrap_or_else(|why| {
            unreachable!("the schema is written above, so it is well formed: {why}")
        })
    }

    /// Returns the schema for a model.
    pub(crate) fn schema(&self) -> Box<RawValue> {
        self.schema.clone()
    }

    /// Checks arguments and fills in defaults.
    pub(crate) fn check(&self, text: &str) -> Result<Map<String, Value>, String> {
        let text = if text.trim().is_empty() { "{}" } else { text };
        let mut given: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        if let Some(name) = given.keys().find(|name| !self.object.properties.contains_key(*name)) {
            return Err(format!("there is no parameter {name:?}"));
        }
        for (name, property) in &self.object.properties {
            match given.get(name) {
                Some(value) => property.check(value).map_err(|why| format!("{name}: {why}"))?,
                None => {
                    if let Some(default) = &property.default {
                        given.insert(name.clone(), default.clone());
                    } else if self.object.required.contains(name) {
                        return Err(format!("the parameter {name:?} is missing"));
                    }
                }
            }
        }
        Ok(given)
    }
}

impl Property {
    fn check(&self, value: &Value) -> Result<(), String> {
        if !self.r#type.fits(value) {
            return Err(format!("{value} is not of the type {:?}", self.r#type).to_lowercase());
        }
        if let (Some(items), Value::Array(values)) = (&self.items, value)
            && let Some(other) = values.iter().find(|value| !items.r#type.fits(value))
        {
            return Err(format!("{other} is not of the type {:?}", items.r#type).to_lowercase());
        }
        match &self.r#enum {
            Some(choices) if !choices.contains(value) => {
                let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
                Err(format!("{value} is none of {}", choices.join(", ")))
            }
            _ => Ok(()),
        }
    }
}

impl PropertyType {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_checked_and_defaults_filled_in() {
        let schema = r#"{"type":"object","properties":{
            "place":{"type":"string","enum":["test","production"]},
            "times":{"type":"integer","default":1}},"required":["place"]}"#;
        let parameters = Parameters::parse(schema).unwrap();
        let checked = parameters.check(r#"{"place":"test"}"#).unwrap();
        assert_eq!(serde_json::to_string(&checked).unwrap(), r#"{"place":"test","times":1}"#);
        for bad in [
            "{}",
            r#"{"place":"moon"}"#,
            r#"{"place":1}"#,
            r#"{"place":"test","times":"2"}"#,
            r#"{"place":"test","other":1}"#,
            "[]",
            "nonsense",
        ] {
            assert!(parameters.check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_schema_that_is_not_understood_is_refused() {
        for bad in [
            r#"{"type":"string"}"#,
            r#"{"type":"object","properties":{"a":{"type":"string","pattern":"x"}}}"#,
            r#"{"type":"object","oneOf":[]}"#,
            r#"{"type":"object","required":["a"]}"#,
            "place: string",
        ] {
            assert!(Parameters::parse(bad).is_err(), "{bad}");
        }
    }
}
