//! Whether arguments fit what a server says it takes.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

/// Complaints that are told at once.
const MOST_COMPLAINTS: usize = 5;

/// Bytes of a schema that arguments are checked against here.
const LONGEST_CHECKED: usize = 64 * 1024;
/// References in it.
const MOST_REFERENCES: usize = 16;
/// `allOf`, `anyOf` and `oneOf` within each other.
const DEEPEST: usize = 8;

/// Whether checking against a schema may take for ever. It comes from a stranger: with two
/// references to the next level at each level, a schema of a few lines takes two to the power of
/// its levels. The server checks then, as it must anyway.
fn is_costly(text: &str, schema: &Value) -> bool {
    let mut references = 0;
    text.len() > LONGEST_CHECKED || is_deep(schema, 0, &mut references)
}

/// Whether there is too much of something within a value. Its depth is bounded by the reader.
fn is_deep(value: &Value, depth: usize, references: &mut usize) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| {
            // `$dynamicRef` and `$recursiveRef` are others.
            *references += usize::from(key.starts_with('$') && key.to_lowercase().ends_with("ref"));
            let depth = depth + usize::from(matches!(key.as_str(), "allOf" | "anyOf" | "oneOf"));
            depth > DEEPEST || *references > MOST_REFERENCES || is_deep(value, depth, references)
        }),
        Value::Array(items) => items.iter().any(|item| is_deep(item, depth, references)),
        _ => false,
    }
}

/// Reads a schema. References to other documents are not followed: nothing is fetched.
pub(crate) fn validator(text: &str) -> Result<Validator, String> {
    let mut schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if is_costly(text, &schema) {
        // Everything fits.
        schema = Value::Bool(true);
    }
    jsonschema::options()
        // Patterns come from strangers: this kind cannot be made to run for ever.
        .with_pattern_options(PatternOptions::regex())
        .build(&schema)
        .map_err(|error| lango_tool::visible_short(&error.to_string()))
}

/// The arguments of a call as the server gets them, or why they do not fit.
pub(crate) fn arguments(validator: &Validator, text: &str) -> Result<Map<String, Value>, String> {
    // Some models send nothing at all where a tool takes no arguments.
    let text = if text.trim().is_empty() { "{}" } else { text };
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let complaints: Vec<String> = validator
        .iter_errors(&value)
        .take(MOST_COMPLAINTS)
        .map(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "the whole".to_owned() } else { place };
            format!("{place}: {}", lango_tool::visible_short(&error.to_string()))
        })
        .collect();
    match value {
        Value::Object(map) if complaints.is_empty() => Ok(map),
        Value::Object(_) => Err(complaints.join("; ")),
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
        let validator = validator(schema).unwrap();
        assert!(arguments(&validator, r#"{"n":2,"s":"aa"}"#).is_ok());
        for (bad, place) in [
            ("", "n"),
            (r#"{"n":0}"#, "/n"),
            (r#"{"n":"1"}"#, "/n"),
            (r#"{"n":1,"s":"b"}"#, "/s"),
            (r#"{"n":1,"more":1}"#, "more"),
            ("[]", "array"),
        ] {
            let error = arguments(&validator, bad).map(|_| ()).unwrap_err();
            assert!(error.contains(place) || error.contains("object"), "{bad}: {error}");
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
        let long = format!(r#"{{"type":"null","title":"{}"}}"#, "x".repeat(LONGEST_CHECKED));
        let start = std::time::Instant::now();
        for schema in [references, nested, long] {
            let validator = validator(&schema).unwrap();
            assert!(arguments(&validator, "{}").is_ok());
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(5));
    }

    #[test]
    fn nothing_is_fetched_for_a_schema() {
        for reference in
            ["http://127.0.0.1:9/x.json", "file:///etc/passwd", "https://example.org/s"]
        {
            let schema = format!(r#"{{"properties":{{"a":{{"$ref":"{reference}"}}}}}}"#);
            assert!(validator(&schema).is_err(), "{reference}");
        }
    }
}
