//! The parameters of a tool, from its JSON Schema.

use std::collections::BTreeMap;

use lango_tool::ToolDeclaration;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A parameter as questions are asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) description: String,
    pub(crate) required: bool,
}

/// What a value of it can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Choice(Vec<String>),
    /// Several texts.
    List,
    /// An object, or what else no words of a request can be.
    Other,
}

/// The parameters that a declaration has.
pub(crate) fn parameters(tool: &ToolDeclaration) -> Vec<Parameter> {
    // What is not a schema has no parameters that could be asked about.
    let schema: Schema = serde_json::from_str(tool.parameters.get()).unwrap_or_default();
    let Schema { properties, required } = schema;
    let parameter = |(name, property): (String, Box<RawValue>)| {
        // A property may be `true`: anything goes, and nothing is known of it.
        let property: Property = serde_json::from_str(property.get()).unwrap_or_default();
        Parameter {
            kind: property.kind(),
            description: property.description(),
            required: required.contains(&name),
            name,
        }
    };
    properties.into_iter().map(parameter).collect()
}

#[derive(Default, Deserialize)]
struct Schema {
    #[serde(default)]
    properties: BTreeMap<String, Box<RawValue>>,
    #[serde(default)]
    required: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Property {
    #[serde(default)]
    r#type: Option<Types>,
    #[serde(default)]
    r#enum: Vec<serde_json::Value>,
    #[serde(default)]
    r#const: Option<serde_json::Value>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, rename = "anyOf")]
    any_of: Vec<Property>,
    #[serde(default, rename = "oneOf")]
    one_of: Vec<Property>,
    #[serde(default)]
    items: Option<Box<Property>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Types {
    One(String),
    Several(Vec<String>),
    /// A schema may hold anything.
    #[expect(dead_code, reason = "what is not understood is ignored")]
    Other(serde_json::Value),
}

impl Property {
    fn description(&self) -> String {
        self.description.clone().unwrap_or_default()
    }

    fn alternatives(&self) -> impl Iterator<Item = &Self> {
        self.any_of.iter().chain(&self.one_of)
    }

    fn choices(&self) -> Vec<String> {
        let own = self.r#enum.iter().chain(&self.r#const);
        let own = own.filter_map(|value| value.as_str().map(str::to_owned));
        own.chain(self.alternatives().flat_map(Self::choices)).collect()
    }

    fn type_name(&self) -> Option<&str> {
        let own = match &self.r#type {
            Some(Types::One(name)) => Some(name.as_str()),
            Some(Types::Several(names)) => {
                names.iter().map(String::as_str).find(|name| *name != "null")
            }
            _ => None,
        };
        own.or_else(|| self.alternatives().filter_map(Self::type_name).find(|n| *n != "null"))
    }

    fn kind(&self) -> Kind {
        let choices = self.choices();
        if !choices.is_empty() {
            return Kind::Choice(choices);
        }
        match self.type_name() {
            Some("string") => Kind::Text,
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Boolean,
            Some("array") if self.holds_texts() => Kind::List,
            _ => Kind::Other,
        }
    }

    fn holds_texts(&self) -> bool {
        let item = |property: &Self| {
            property.items.as_ref().is_some_and(|items| items.kind() == Kind::Text)
        };
        item(self) || self.alternatives().any(item)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lango_tool::SafetyLevel;

    use super::*;

    fn kinds(schema: &str) -> Vec<(String, Kind, bool)> {
        let tool = ToolDeclaration {
            name: "x".into(),
            description: "x".into(),
            parameters: Arc::from(RawValue::from_string(schema.to_owned()).unwrap()),
            level: SafetyLevel::Safe,
        };
        parameters(&tool).into_iter().map(|p| (p.name, p.kind, p.required)).collect()
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
        let expect = |name: &str, kind: Kind, required: bool| (name.to_owned(), kind, required);
        let choice = |values: [&str; 2]| Kind::Choice(values.map(str::to_owned).to_vec());
        assert_eq!(
            found,
            [
                expect("a", Kind::Text, true),
                expect("b", Kind::Integer, false),
                expect("c", choice(["x", "y"]), false),
                expect("d", choice(["in", "out"]), true),
                expect("e", Kind::List, false),
                expect("f", Kind::List, false),
                expect("g", Kind::Other, false),
                expect("h", Kind::Boolean, false),
                expect("i", Kind::Other, false),
            ]
        );
    }
}
