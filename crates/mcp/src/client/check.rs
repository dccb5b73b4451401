//! Whether arguments fit what a server says it takes.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

/// Complaints that are told at once.
const MOST_COMPLAINTS: usize = 5;

/// Reads a schema. References to other documents are not followed: nothing is fetched.
pub(crate) fn validator(schema: &str) -> Result<Validator, String> {
    let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
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
    fn nothing_is_fetched_for_a_schema() {
        for reference in
            ["http://127.0.0.1:9/x.json", "file:///etc/passwd", "https://example.org/s"]
        {
            let schema = format!(r#"{{"properties":{{"a":{{"$ref":"{reference}"}}}}}}"#);
            assert!(validator(&schema).is_err(), "{reference}");
        }
    }
}
