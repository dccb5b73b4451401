//! Holds the tools that the model was trained on, as the training described them.
//!
//! A tool of one of these names is read with its text of the training, whatever its declaration
//! says: the figures were measured with that text. All other tools are read as they describe
//! themselves.

use std::collections::BTreeMap;

use lango_model::Colleague;
use lango_tool::{SafetyLevel, ToolDeclaration, write_schema};
use serde::{Deserialize, Serialize};

use super::schema::{Parameter, ValueKind};
use super::weights::AGENTS;

/// The position of the first card that is no tool: small talk. Those of a plan, help, writing, a
/// question back and stray text follow, in this order.
pub(crate) const SMALL_TALK_CARD: usize = 83;
/// The number of agents; the classes after them are for what no agent does.
const AGENT_COUNT: usize = 7;

/// Holds the known tools, in the order of their cards.
#[derive(Debug)]
pub(crate) struct TrainedTools {
    tools: Vec<KnownTool>,
    by_name: BTreeMap<String, usize>,
}

/// Describes a tool of the training.
#[derive(Debug)]
pub(crate) struct KnownTool {
    pub(crate) name: String,
    /// The class of its agent among [`AGENTS`].
    pub(crate) agent: usize,
    pub(crate) description: String,
    pub(crate) level: SafetyLevel,
    pub(crate) parameters: Vec<Parameter>,
}

#[derive(Deserialize)]
struct ToolEntry {
    agent: AgentName,
    description: String,
    level: SafetyLevelName,
    parameters: Vec<ParameterEntry>,
}

#[derive(Deserialize)]
struct ParameterEntry {
    name: String,
    r#type: TypeName,
    description: String,
    #[serde(default)]
    values: Option<Vec<String>>,
    required: bool,
}

/// The class of an agent.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct AgentName(usize);

impl TryFrom<String> for AgentName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let class = AGENTS.iter().position(|agent| *agent == name);
        class.map(Self).ok_or_else(|| format!("no agent is called {name:?}"))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SafetyLevelName {
    Safe,
    Moderate,
    Dangerous,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum TypeName {
    String,
    Enum,
    Boolean,
    Integer,
    Number,
    Array,
}

impl TrainedTools {
    pub(crate) fn load() -> Self {
        let text = include_str!("../weights/tools.json");
        let entries = match serde_json::from_str::<OrderedEntries>(text) {
            Ok(entries) => entries.0,
            // With another number of tools, cards would belong to other tools.
            Err(error) => unreachable!("a test reads this file of the program: {error}"),
        };
        let tools: Vec<KnownTool> = entries.into_iter().map(KnownTool::of).collect();
        let names = tools.iter().enumerate().map(|(at, tool)| (tool.name.clone(), at));
        Self { by_name: names.collect(), tools }
    }

    /// Returns the tool of this name, and the number of its card.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, &KnownTool)> {
        let card = *self.by_name.get(name)?;
        Some((card, &self.tools[card]))
    }

    /// Returns all tools, in the order of their cards.
    pub(crate) fn tools(&self) -> &[KnownTool] {
        &self.tools
    }
}

/// Returns the agents and tools that the embedded model was trained on, as colleagues of an
/// orchestrator: the team that labelled requests are about. The planner has no tools.
pub fn known_team() -> Vec<Colleague> {
    let trained_tools = TrainedTools::load();
    let agent = |(class, name): (usize, &&str)| Colleague {
        name: (*name).to_owned(),
        description: super::orchestrator::agent_purpose(name).to_owned(),
        tools: trained_tools
            .tools()
            .iter()
            .filter(|tool| tool.agent == class)
            .map(KnownTool::declaration)
            .collect(),
    };
    AGENTS.iter().enumerate().skip(1).take(AGENT_COUNT).map(agent).collect()
}

impl KnownTool {
    /// Returns the tool's declaration as a request would have it.
    fn declaration(&self) -> ToolDeclaration {
        let property = |parameter: &Parameter| {
            let (name, values) = match &parameter.kind {
                ValueKind::Choice(values) => ("string", Some(values.clone())),
                ValueKind::Integer => ("integer", None),
                ValueKind::Number => ("number", None),
                ValueKind::Boolean => ("boolean", None),
                ValueKind::List => ("array", None),
                ValueKind::Text | ValueKind::Other => ("string", None),
            };
            let items =
                (parameter.kind == ValueKind::List).then_some(ItemSchema { r#type: "string" });
            let description = parameter.description.clone();
            PropertySchema { r#type: name, description, r#enum: values, items }
        };
        let named = |p: &Parameter| (p.name.clone(), property(p));
        let required = self.parameters.iter().filter(|p| p.required).map(|p| p.name.clone());
        let schema = ToolSchema {
            r#type: "object",
            properties: self.parameters.iter().map(named).collect(),
            required: required.collect(),
        };
        ToolDeclaration {
            name: self.name.as_str().into(),
            description: self.description.as_str().into(),
            parameters: write_schema(&schema),
            level: self.level,
        }
    }

    fn of((name, entry): (String, ToolEntry)) -> Self {
        let parameters = entry.parameters.into_iter().map(|parameter| {
            let kind = match parameter.r#type {
                TypeName::Enum => ValueKind::Choice(parameter.values.unwrap_or_default()),
                TypeName::Boolean => ValueKind::Boolean,
                TypeName::Integer => ValueKind::Integer,
                TypeName::Number => ValueKind::Number,
                TypeName::Array => ValueKind::List,
                TypeName::String => ValueKind::Text,
            };
            Parameter {
                name: parameter.name,
                kind,
                description: parameter.description,
                required: parameter.required,
            }
        });
        Self {
            name,
            agent: entry.agent.0,
            description: entry.description,
            level: match entry.level {
                SafetyLevelName::Safe => SafetyLevel::Safe,
                SafetyLevelName::Moderate => SafetyLevel::Moderate,
                SafetyLevelName::Dangerous => SafetyLevel::Dangerous,
            },
            parameters: parameters.collect(),
        }
    }
}

#[derive(Serialize)]
struct ToolSchema {
    r#type: &'static str,
    properties: BTreeMap<String, PropertySchema>,
    required: Vec<String>,
}

#[derive(Serialize)]
struct PropertySchema {
    r#type: &'static str,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<ItemSchema>,
}

#[derive(Serialize)]
struct ItemSchema {
    r#type: &'static str,
}

/// Represents an object whose order counts.
struct OrderedEntries(Vec<(String, ToolEntry)>);

impl<'de> Deserialize<'de> for OrderedEntries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = OrderedEntries;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("tools by name")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<OrderedEntries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(OrderedEntries(entries))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

#[cfg(test)]
mod tests;
