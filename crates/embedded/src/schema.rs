//! Reads the parameters of a tool from its JSON Schema.
//!
//! Servers write these as they like. What is odd in one place says nothing about the others, so
//! every field is read by itself.

use std::cell::Cell;
use std::collections::BTreeMap;

use lango_tool::ToolDeclaration;
use serde_json::{Map, Value};

/// Limits the nesting of a schema, references included.
const MAX_DEPTH: usize = 6;
/// Limits the parts of a schema that are read for one parameter.
const MAX_PART_COUNT: usize = 512;

/// Represents a parameter as questions are asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) kind: ValueKind,
    pub(crate) description: String,
    pub(crate) required: bool,
}

/// The kind of a parameter's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Text,
    Integer,
    Number,
    Boolean,
    Choice(Vec<String>),
    /// Several texts.
    List,
    /// An object, or another value that a text cannot give.
    Other,
}

/// Returns the parameters of a declaration.
pub(crate) fn read_parameters(tool: &ToolDeclaration) -> Vec<Parameter> {
    // A schema that cannot be read has no parameters to ask about.
    parse_schema(tool.parameters.get()).unwrap_or_default()
}

/// Tells whether text can give all that a tool needs. For a tool where it cannot, no answer to a
/// question would ever be enough.
pub(crate) fn can_be_filled(tool: &ToolDeclaration) -> bool {
    let is_possible =
        |parameter: &Parameter| !parameter.required || parameter.kind != ValueKind::Other;
    parse_schema(tool.parameters.get()).is_some_and(|parameters| parameters.iter().all(is_possible))
}

/// Reads the parameters of a schema; `None` where it has parameters that cannot be read.
fn parse_schema(text: &str) -> Option<Vec<Parameter>> {
    let document: Value = serde_json::from_str(text).ok()?;
    let left = Cell::new(MAX_PART_COUNT);
    let root = SchemaPart { schema: &document, document: &document, depth: 0, left: &left };
    let schema = match root.resolve_reference().schema {
        Value::Object(schema) => schema,
        // Nothing is asked for.
        Value::Null | Value::Bool(true) => return Some(Vec::new()),
        _ => return None,
    };
    let nothing = Map::new();
    let properties = match schema.get("properties") {
        None => &nothing,
        Some(properties) => properties.as_object()?,
    };
    let required = RequiredParameters::of(schema.get("required"));
    let parameter = |(name, schema): (&String, &Value)| {
        let left = Cell::new(MAX_PART_COUNT);
        let part = SchemaPart { schema, document: &document, depth: 0, left: &left };
        let parameter = Parameter {
            kind: part.kind(),
            description: part.description(),
            required: required.contains(name) || schema.get("required") == Some(&Value::Bool(true)),
            name: name.clone(),
        };
        (name.clone(), parameter)
    };
    let mut all: BTreeMap<String, Parameter> = properties.iter().map(parameter).collect();
    if let RequiredParameters::These(names) = required {
        for name in names {
            // It is required but not described.
            let unknown = || Parameter {
                name: name.to_owned(),
                kind: ValueKind::Other,
                description: String::new(),
                required: true,
            };
            all.entry(name.to_owned()).or_insert_with(unknown);
        }
    }
    Some(all.into_values().collect())
}

/// Says which parameters a schema requires.
enum RequiredParameters<'a> {
    These(Vec<&'a str>),
    /// It says something that is not understood: better asked too much than called without.
    All,
}

impl<'a> RequiredParameters<'a> {
    fn of(value: Option<&'a Value>) -> Self {
        match value {
            None | Some(Value::Null | Value::Bool(false)) => Self::These(Vec::new()),
            Some(Value::Array(names)) => {
                Self::These(names.iter().filter_map(Value::as_str).collect())
            }
            Some(_) => Self::All,
        }
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            Self::These(names) => names.contains(&name),
            Self::All => true,
        }
    }
}

/// Represents a part of a schema.
#[derive(Clone, Copy)]
struct SchemaPart<'a> {
    schema: &'a Value,
    /// The document that references point into.
    document: &'a Value,
    depth: usize,
    /// The number of parts that may still be read: references can make a small schema very large.
    left: &'a Cell<usize>,
}

impl<'a> SchemaPart<'a> {
    fn resolve_in(self, schema: &'a Value) -> Option<Self> {
        let left = self.left.get().checked_sub(1)?;
        self.left.set(left);
        (self.depth < MAX_DEPTH).then_some(Self { schema, depth: self.depth + 1, ..self })
    }

    /// Returns the part itself, or the part that it refers to.
    fn resolve_reference(self) -> Self {
        let referred = self.schema.get("$ref").and_then(Value::as_str).and_then(|reference| {
            let place = reference.strip_prefix('#')?;
            let is_definition = place.starts_with("/$defs/") || place.starts_with("/definitions/");
            self.resolve_in(self.document.pointer(place).filter(|_| is_definition)?)
        });
        referred.map_or(self, Self::resolve_reference)
    }

    fn description(self) -> String {
        let own = |part: Self| part.schema.get("description").and_then(Value::as_str);
        own(self).or_else(|| own(self.resolve_reference())).unwrap_or_default().to_owned()
    }

    fn alternatives(self) -> Vec<Self> {
        let several = ["anyOf", "oneOf", "allOf"].into_iter();
        let several = several.filter_map(|name| self.schema.get(name)?.as_array());
        several
            .flatten()
            .filter_map(|schema| self.resolve_in(schema))
            .map(Self::resolve_reference)
            .collect()
    }

    fn choices(self, alternatives: &[Self]) -> Vec<String> {
        let own = self.schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        let own = own.chain(self.schema.get("const"));
        let own = own.filter_map(|value| value.as_str().map(str::to_owned));
        own.chain(alternatives.iter().flat_map(|part| part.choices(&part.alternatives()))).collect()
    }

    fn type_name(self, alternatives: &[Self]) -> Option<&'a str> {
        let text = |value: &'a Value| value.as_str().filter(|name| *name != "null");
        let own = match self.schema.get("type") {
            Some(Value::Array(names)) => names.iter().find_map(text),
            Some(name) => text(name),
            None => None,
        };
        let other = || alternatives.iter().find_map(|part| part.type_name(&part.alternatives()));
        own.or_else(other)
    }

    fn kind(self) -> ValueKind {
        let part = self.resolve_reference();
        let alternatives = part.alternatives();
        let choices = part.choices(&alternatives);
        if !choices.is_empty() {
            return ValueKind::Choice(choices);
        }
        match part.type_name(&alternatives) {
            Some("string") => ValueKind::Text,
            Some("integer") => ValueKind::Integer,
            Some("number") => ValueKind::Number,
            Some("boolean") => ValueKind::Boolean,
            Some("array") if part.holds_texts(&alternatives) => ValueKind::List,
            _ => ValueKind::Other,
        }
    }

    fn holds_texts(self, alternatives: &[Self]) -> bool {
        let item = |part: &Self| {
            let items = part.schema.get("items").and_then(|items| part.resolve_in(items));
            items.is_some_and(|items| items.kind() == ValueKind::Text)
        };
        item(&self) || alternatives.iter().any(item)
    }
}

#[cfg(test)]
mod tests;
