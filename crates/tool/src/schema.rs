//! Writes the schemas of tools as models read them: in as few tokens as say all.

use std::sync::Arc;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Returns the schema of `A`, without the keys that cost tokens and tell a model nothing.
pub(crate) fn parameters_of<A: JsonSchema>() -> Arc<RawValue> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.remove("title");
    schema.remove("description");
    RecursiveTransform(remove_obvious_keys).transform(&mut schema);
    write_schema(&schema)
}

/// Removes what a model knows without being told: that what need not be given may be null, and what
/// it is then; and how this program stores a number.
fn remove_obvious_keys(schema: &mut Schema) {
    let is_null = |value: &Value| value.is_null() || value == "null" || value["type"] == "null";
    let is_obvious = |default: &Value| match default {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if schema.get("default").is_some_and(is_obvious) {
        schema.remove("default");
    }
    if schema.get("type").is_some_and(|name| name != "string") {
        schema.remove("format");
        if schema.get("minimum").and_then(Value::as_u64) == Some(0) {
            schema.remove("minimum");
        }
    }
    if let Some(Value::Array(names)) = schema.get_mut("type") {
        names.retain(|name| !is_null(name));
        if let [name] = names.as_slice() {
            let name = name.clone();
            schema.insert("type".to_owned(), name);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let mut only = None;
    if let Some(Value::Array(cases)) = schema.get_mut("anyOf") {
        cases.retain(|case| !is_null(case));
        if let [Value::Object(case)] = cases.as_slice() {
            only = Some(case.clone());
        }
    }
    if let Some(case) = only {
        schema.remove("anyOf");
        for (key, value) in case {
            schema.insert(key, value);
        }
    }
}

/// Returns a schema of this program as JSON.
pub fn write_schema(schema: &impl Serialize) -> Arc<RawValue> {
    match serde_json::value::to_raw_value(schema) {
        Ok(text) => Arc::from(text),
        Err(error) => unreachable!("a schema is plain data, which JSON can express: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        Red,
        Green,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Optional {
        #[serde(default)]
        number: Option<u64>,
        /// The colour.
        #[serde(default)]
        colour: Option<Colour>,
        #[serde(default)]
        flag: bool,
        #[serde(default)]
        list: Vec<String>,
        #[serde(default = "seven")]
        seven: u32,
    }

    fn seven() -> u32 {
        7
    }

    #[test]
    fn what_need_not_be_given_is_declared_in_few_words() {
        let schema = parameters_of::<Optional>();
        let value: Value = serde_json::from_str(schema.get()).unwrap();
        let colours = serde_json::json!(["red", "green"]);
        assert_eq!(
            value["properties"],
            serde_json::json!({
                "number": {"type": "integer"},
                "colour": {"description": "The colour.", "type": "string", "enum": colours},
                "flag": {"type": "boolean"},
                "list": {"type": "array", "items": {"type": "string"}},
                "seven": {"type": "integer", "default": 7},
            })
        );
    }
}
