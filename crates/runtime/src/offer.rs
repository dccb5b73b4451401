//! Defines what an agent may do in one model call. The model gets exactly this list, and its reply
//! is checked against it.

use std::sync::Arc;

use lango_orchestration::{AgentTree, RootAgent};
use lango_protocol::{AgentName, TRANSFER_TOOL};
use lango_tool::{RegisteredTool, SafetyLevel, ToolDeclaration, write_schema};
use serde::Serialize;

use crate::output::OutputRead;

/// Holds the tools that an agent may call and the agents that it may transfer to.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentOffer {
    pub(crate) tools: Vec<Arc<RegisteredTool>>,
    pub(crate) targets: Vec<AgentName>,
}

impl AgentOffer {
    /// Returns the offered tool with exactly this name.
    pub(crate) fn find_tool(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Returns the offered agent with exactly this name.
    pub(crate) fn find_target(&self, name: &str) -> Option<&AgentName> {
        self.targets.iter().find(|target| target.as_str() == name)
    }

    /// Returns the declarations that the model gets.
    pub(crate) fn declarations(&self) -> Vec<ToolDeclaration> {
        let tools = self.tools.iter().map(|tool| current_declaration(tool));
        tools.chain(self.declare_transfer()).collect()
    }

    /// Returns the declaration of the transfer tool, with the valid names as an `enum`.
    fn declare_transfer(&self) -> Option<ToolDeclaration> {
        if self.targets.is_empty() {
            return None;
        }
        let names: Vec<&str> = self.targets.iter().map(AgentName::as_str).collect();
        let schema = TransferSchema {
            r#type: "object",
            properties: TransferProperties {
                agent_name: Property {
                    r#type: "string",
                    r#enum: Some(names),
                    description: "The agent, exactly as listed.",
                },
                task: Property {
                    r#type: "string",
                    r#enum: None,
                    description: "What it shall do, complete in itself.",
                },
                r#return: Property {
                    r#type: "boolean",
                    r#enum: None,
                    description: "true: the result comes back to you. false (default): the \
                                  agent answers the user.",
                },
            },
            required: ["agent_name", "task"],
            additional_properties: false,
        };
        Some(ToolDeclaration {
            name: TRANSFER_TOOL.into(),
            description: "Hands a task to an agent. Call it several times in one reply for \
                          independent tasks."
                .into(),
            parameters: write_schema(&schema),
            level: SafetyLevel::Safe,
        })
    }
}

/// Returns the declaration of a tool with its current safety level.
pub(crate) fn current_declaration(tool: &RegisteredTool) -> ToolDeclaration {
    ToolDeclaration { level: tool.level(), ..tool.declaration.clone() }
}

/// Returns the tools that the model of an agent gets at the start of a turn, or none for an unknown
/// name.
pub fn offered_tools(tree: &AgentTree, agent: &str) -> Option<Vec<ToolDeclaration>> {
    let (tools, targets) = match &tree.root {
        RootAgent::Team(team) if team.name == *agent => {
            let targets = team.sub_agents.iter().map(|sub| sub.name.clone());
            (Vec::new(), targets.collect())
        }
        RootAgent::Single(single) if single.name == *agent => (single.tools.clone(), Vec::new()),
        _ => (tree.agent(agent)?.tools().to_vec(), Vec::new()),
    };
    let reads_outputs = !tools.is_empty();
    let mut declarations = AgentOffer { tools, targets }.declarations();
    if reads_outputs {
        declarations.push(ToolDeclaration::of::<OutputRead>());
    }
    Some(declarations)
}

#[derive(Serialize)]
struct TransferSchema<'a> {
    r#type: &'static str,
    properties: TransferProperties<'a>,
    required: [&'static str; 2],
    #[serde(rename = "additionalProperties")]
    additional_properties: bool,
}

#[derive(Serialize)]
struct TransferProperties<'a> {
    agent_name: Property<'a>,
    task: Property<'a>,
    r#return: Property<'a>,
}

#[derive(Serialize)]
struct Property<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<&'a str>>,
    description: &'static str,
}
