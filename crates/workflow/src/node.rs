//! Reads YAML into a tree of nodes that know where they are, within limits that a small file cannot
//! turn into a large tree.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::{Budget, Options, Spanned};

use crate::error::Problem;

/// Limits the nodes of a definition, those of aliases included.
const MAX_NODE_COUNT: usize = 60_000;
/// Limits the aliases of a definition.
const MAX_ALIAS_COUNT: usize = 200;
/// Limits the depth of a definition.
const MAX_DEPTH: usize = 24;

/// A place in a definition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Position {
    pub(crate) fn problem(self, reason: impl Into<String>) -> Problem {
        Problem { line: self.line.max(1), column: self.column.max(1), reason: reason.into() }
    }
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Position,
    pub(crate) value: NodeValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeValue {
    /// Null, a boolean, a number or a text.
    Scalar(Value),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) place: Position,
    pub(crate) name: String,
}

impl Node {
    /// Describes the kind of the value for an error.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a mapping",
            NodeValue::Scalar(Value::Null) => "nothing",
            NodeValue::Scalar(Value::Bool(_)) => "a boolean",
            NodeValue::Scalar(Value::Number(_)) => "a number",
            NodeValue::Scalar(_) => "a text",
        }
    }

    /// Returns the text, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}

/// Reads the one document of a text.
pub(crate) fn read_document(text: &str) -> Result<Node, Problem> {
    let mut budget = Budget::default();
    budget.max_aliases = MAX_ALIAS_COUNT;
    budget.max_anchors = MAX_ALIAS_COUNT;
    budget.max_depth = MAX_DEPTH;
    budget.max_nodes = MAX_NODE_COUNT;
    budget.max_documents = 1;
    budget.max_merge_keys = MAX_ALIAS_COUNT;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.alias_limits.max_total_replayed_events = MAX_NODE_COUNT;
    options.strict_booleans = true;
    options.with_snippet = false;
    let read = serde_saphyr::from_str_with_options::<Spanned<NodeValue>>(text, options);
    match read {
        Ok(spanned) => Ok(to_node(spanned)),
        Err(error) => {
            let error = error.without_snippet();
            let place = error.location().map(to_place).unwrap_or_default();
            let reason = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
            let reason = reason.lines().next().unwrap_or_default();
            // The place is said by the problem itself.
            let reason = reason.split(" at line ").next().unwrap_or(reason);
            Err(place.problem(format!("this is not YAML that can be used: {reason}")))
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a definition has less lines than that")]
fn to_place(location: serde_saphyr::Location) -> Position {
    Position { line: location.line() as u32, column: location.column() as u32 }
}

fn to_node(spanned: Spanned<NodeValue>) -> Node {
    Node { place: to_place(spanned.referenced), value: spanned.value }
}

impl<'de> Deserialize<'de> for NodeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = NodeValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<NodeValue, E> {
        Ok(NodeValue::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<NodeValue, E> {
        Ok(NodeValue::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<NodeValue, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<NodeValue, E> {
        Ok(NodeValue::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<NodeValue, E> {
        Ok(NodeValue::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<NodeValue, E> {
        Ok(NodeValue::Scalar(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<NodeValue, E> {
        let number =
            Number::from_f64(value).ok_or_else(|| E::custom("the number is not finite"))?;
        Ok(NodeValue::Scalar(Value::Number(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<NodeValue, E> {
        Ok(NodeValue::Scalar(Value::String(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<NodeValue, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = access.next_element::<Spanned<NodeValue>>()? {
            nodes.push(to_node(node));
        }
        Ok(NodeValue::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<NodeValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = access.next_key::<Spanned<String>>()? {
            let value = access.next_value::<Spanned<NodeValue>>()?;
            let key = Key { place: to_place(key.referenced), name: key.value };
            entries.push((key, to_node(value)));
        }
        Ok(NodeValue::Map(entries))
    }
}
