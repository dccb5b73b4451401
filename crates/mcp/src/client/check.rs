//! Checks arguments against the schema of a server's tool.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

/// Limits the errors that are reported at once.
const MAX_ERROR_COUNT: usize = 5;

/// Limits the size of a schema that is checked here.
const MAX_SCHEMA_BYTES: usize = 64 * 1024;
/// Limits the references in a schema.
const MAX_REFERENCE_COUNT: usize = 16;
/// Limits the nesting of `allOf`, `anyOf` and `oneOf`.
const MAX_NESTING: usize = 8;

/// Tells whether checking against a schema may take too long. The schema is untrusted: with two
/// references to the next level at each level, a schema of a few lines takes time exponential in
/// its levels. Such arguments are checked by the server only.
fn is_costly(text: &str, schema: &Value) -> bool {
    let mut references = 0;
    text.len() > MAX_SCHEMA_BYTES || is_deep(schema, 0, &mut references)
}

/// Tells whether a value has too many references or too deep nesting. The JSON parser limits the
/// total depth.
fn is_deep(value: &Value, depth: usize, references: &mut usize) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| {
            // `$dynamicRef` and `$recursiveRef` are others.
            *references += usize::from(key.starts_with('$') && key.to_lowercase().ends_with("ref"));
            let depth = depth + usize::from(matches!(key.as_str(), "allOf" | "anyOf" | "oneOf"));
            depth > MAX_NESTING
                || *references > MAX_REFERENCE_COUNT
                || is_deep(value, depth, references)
        }),
        Value::Array(items) => items.iter().any(|item| is_deep(item, depth, references)),
        _ => false,
    }
}

/// Reads a schema. References to other documents are not followed: nothing is fetched.
pub(crate) fn compile_validator(text: &str) -> Result<Validator, String> {
    let mut schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if is_costly(text, &schema) {
        // This schema accepts everything.
        schema = Value::Bool(true);
    }
    jsonschema::options()
        // Patterns are untrusted: this regex engine runs in linear time.
        .with_pattern_options(PatternOptions::regex())
        .build(&schema)
        .map_err(|error| lango_text::make_visible_short(&error.to_string()))
}

/// Returns the arguments of a call for the server, or the reason why they are invalid.
pub(crate) fn check_arguments(
    validator: &Validator,
    text: &str,
) -> Result<Map<String, Value>, String> {
    // Some models send an empty text for a tool without arguments.
    let text = if text.trim().is_empty() { "{}" } else { text };
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let errors: Vec<String> = validator
        .iter_errors(&value)
        .take(MAX_ERROR_COUNT)
        .map(|error| {
            let path = error.instance_path().to_string();
            let path = if path.is_empty() { "the whole".to_owned() } else { path };
            format!("{path}: {}", lango_text::make_visible_short(&error.to_string()))
        })
        .collect();
    match value {
        Value::Object(map) if errors.is_empty() => Ok(map),
        Value::Object(_) => Err(errors.join("; ")),
        _ => Err("expected a JSON object".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        let schema = r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1},
            "s":{"type":"string","pattern":"^a+$"}},"required":["n"],"additionalProperties":false}"#;
        let validator = compile_validator(schema).unwrap();
        assert!(check_arguments(&validator, r#"{"n":2,"s":"aa"}"#).is_ok());
        for (bad, path) in [
            ("", "n"),
            (r#"{"n":0}"#, "/n"),
            (r#"{"n":"1"}"#, "/n"),
            (r#"{"n":1,"s":"b"}"#, "/s"),
            (r#"{"n":1,"more":1}"#, "more"),
            ("[]", "array"),
        ] {
            let error = check_arguments(&validator, bad).map(|_| ()).unwrap_err();
            assert!(error.contains(path) || error.contains("object"), "{bad}: {error}");
        }
    }

    #[test]
    fn a_schema_that_would_take_for_ever_is_left_to_the_server() {
        let levels = (0..40).map(|level| {
            let next = format!(r##"{{"$ref":"#/$defs/l{}"}}"##, level + 1);
            format!(r#""l{level}":{{"allOf":[{next},{next}]}}"#)
        });
        let levels = levels.collect::<Vec<_>>().join(",");
        let references =
            format!(r##"{{"$ref":"#/$defs/l0","$defs":{{{levels},"l40":{{"type":"null"}}}}}}"##);
        let nested = format!("{}{{\"type\":\"null\"}}{}", "{\"anyOf\":[".repeat(9), "]}".repeat(9));
        let long = format!(r#"{{"type":"null","title":"{}"}}"#, "x".repeat(MAX_SCHEMA_BYTES));
        let start = std::time::Instant::now();
        for schema in [references, nested, long] {
            let validator = compile_validator(&schema).unwrap();
            assert!(check_arguments(&validator, "{}").is_ok());
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(5));
    }

    #[test]
    fn nothing_is_fetched_for_a_schema() {
        for reference in
            ["http://127.0.0.1:9/x.json", "file:///etc/passwd", "https://example.org/s"]
        {
            let schema = format!(r#"{{"properties":{{"a":{{"$ref":"{reference}"}}}}}}"#);
            assert!(compile_validator(&schema).is_err(), "{reference}");
        }
    }
}
