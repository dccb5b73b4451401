use std::sync::Arc;

use lango_tool::SafetyLevel;
use serde_json::value::RawValue;

use super::*;

fn tool(schema: &str) -> ToolDeclaration {
    ToolDeclaration {
        name: "x".into(),
        description: "x".into(),
        parameters: Arc::from(RawValue::from_string(schema.to_owned()).unwrap()),
        level: SafetyLevel::Safe,
    }
}

fn kinds(schema: &str) -> Vec<(String, ValueKind, bool)> {
    read_parameters(&tool(schema)).into_iter().map(|p| (p.name, p.kind, p.required)).collect()
}

#[test]
fn parameters_are_read_as_generators_write_them() {
    let schema = r#"{"type":"object","required":["a","d"],"properties":{
        "a":{"type":"string","description":"A."},
        "b":{"type":["integer","null"],"default":null},
        "c":{"anyOf":[{"type":"string","enum":["x","y"]},{"type":"null"}]},
        "d":{"oneOf":[{"const":"in","description":"I"},{"const":"out"}]},
        "e":{"type":"array","items":{"type":"string"}},
        "f":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]},
        "g":{"type":"object"},"h":{"type":"boolean"},"i":true}}"#;
    let found = kinds(schema);
    let expect = |name: &str, kind: ValueKind, required: bool| (name.to_owned(), kind, required);
    let choice = |values: [&str; 2]| ValueKind::Choice(values.map(str::to_owned).to_vec());
    assert_eq!(
        found,
        [
            expect("a", ValueKind::Text, true),
            expect("b", ValueKind::Integer, false),
            expect("c", choice(["x", "y"]), false),
            expect("d", choice(["in", "out"]), true),
            expect("e", ValueKind::List, false),
            expect("f", ValueKind::List, false),
            expect("g", ValueKind::Other, false),
            expect("h", ValueKind::Boolean, false),
            expect("i", ValueKind::Other, false),
        ]
    );
}

#[test]
fn references_within_the_schema_are_followed() {
    let found = kinds(
        r##"{"type":"object","required":["zone","size"],"properties":{
        "zone":{"$ref":"#/$defs/Zone"},
        "maybe":{"anyOf":[{"$ref":"#/$defs/Zone"},{"type":"null"}]},
        "size":{"allOf":[{"$ref":"#/definitions/Size"}],"default":1},
        "away":{"$ref":"https://example.org/schema.json"},
        "here":{"$ref":"#/properties/zone"},
        "tags":{"type":"array","items":{"$ref":"#/$defs/Tag"}},
        "loop":{"$ref":"#/$defs/Loop"}},
        "$defs":{"Zone":{"enum":["north","south"],"type":"string"},"Tag":{"type":"string"},
            "Loop":{"anyOf":[{"$ref":"#/$defs/Loop"},{"$ref":"#/$defs/Loop"}]}},
        "definitions":{"Size":{"type":"integer"}}}"##,
    );
    let zone = || ValueKind::Choice(vec!["north".to_owned(), "south".to_owned()]);
    let kinds: Vec<_> = found.iter().map(|(name, kind, _)| (name.as_str(), kind)).collect();
    assert_eq!(
        kinds,
        [
            ("away", &ValueKind::Other),
            ("here", &ValueKind::Other),
            ("loop", &ValueKind::Other),
            ("maybe", &zone()),
            ("size", &ValueKind::Integer),
            ("tags", &ValueKind::List),
            ("zone", &zone()),
        ]
    );
}

#[test]
fn one_odd_entry_does_not_hide_the_others() {
    let found = kinds(
        r#"{"required":["a",7],"properties":{
        "a":{"type":"string","description":5,"enum":"x"},
        "b":{"type":"integer","anyOf":true,"required":true},
        "c":{"anyOf":[true,{"type":"string"}]},"d":{"type":17},"e":5}}"#,
    );
    let expect = |name: &str, kind: ValueKind, required: bool| (name.to_owned(), kind, required);
    assert_eq!(
        found,
        [
            expect("a", ValueKind::Text, true),
            expect("b", ValueKind::Integer, true),
            expect("c", ValueKind::Text, false),
            expect("d", ValueKind::Other, false),
            expect("e", ValueKind::Other, false),
        ]
    );
    // Whatever it means, a call without the parameter would be a guess.
    let all = kinds(r#"{"required":true,"properties":{"a":{"type":"string"}}}"#);
    assert_eq!(all, [expect("a", ValueKind::Text, true)]);
}

#[test]
fn tools_that_need_more_than_words_are_known() {
    for (schema, expected) in [
        (r#"{"type":"object"}"#, true),
        ("true", true),
        (r#"{"properties":{"a":{"type":"object"},"b":{"type":"string"}},"required":["b"]}"#, true),
        (r#"{"properties":{"a":{"type":"object"}},"required":["a"]}"#, false),
        (r#"{"properties":{"a":true},"required":["a"]}"#, false),
        (r#"{"properties":{"a":{"type":"string"}},"required":["a","b"]}"#, false),
        (r#"{"properties":["a"]}"#, false),
        (r#""words""#, false),
    ] {
        assert_eq!(can_be_filled(&tool(schema)), expected, "{schema}");
    }
}
