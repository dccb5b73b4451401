//! `lango prompt show`: exactly what a model gets.

use lango_model::estimate_tokens;
use lango_orchestration::Root;
use lango_runtime::offered_tools;
use lango_tool::ToolDeclaration;
use serde::Serialize;

use super::{Setting, print, print_json};
use crate::arguments::PromptCommand;
use crate::failure::{self, Failure};
use crate::wiring;

#[derive(Serialize)]
struct PromptView<'a> {
    agent: &'a str,
    instruction: &'a str,
    instruction_tokens: u64,
    tools: Vec<ToolDeclaration>,
    tools_tokens: u64,
}

pub(crate) fn prompt(setting: &Setting, command: PromptCommand) -> Result<u8, Failure> {
    let PromptCommand::Show { agent, catalog: arguments } = command;
    let catalog = wiring::catalog(
        setting.config(),
        &setting.home,
        arguments.topology.as_deref(),
        None,
        None,
    )?;
    let tree = &catalog.tree;
    let root = match &tree.root {
        Root::Team(team) => (team.name.as_str(), &team.system_prompt),
        Root::Single(single) => (single.name.as_str(), &single.system_prompt),
    };
    let sub_agents = tree.sub_agents().iter().map(|sub| (sub.name.as_str(), &sub.system_prompt));
    let agents: Vec<_> = std::iter::once(root).chain(sub_agents).collect();
    let found = agents.iter().find(|(name, _)| *name == agent);
    let (Some((name, instruction)), Some(tools)) = (found, offered_tools(tree, &agent)) else {
        let known: Vec<&str> = agents.iter().map(|(name, _)| *name).collect();
        let known = known.join(", ");
        return Err(Failure::usage(format!("there is no agent {agent:?}. There are: {known}")));
    };
    let text = serde_json::to_string(&tools).map_err(std::io::Error::from)?;
    let view = PromptView {
        agent: name,
        instruction,
        instruction_tokens: estimate_tokens(instruction),
        tools_tokens: if tools.is_empty() { 0 } else { estimate_tokens(&text) },
        tools,
    };
    if arguments.json {
        print_json(&view)?;
        return Ok(failure::ANSWERED);
    }
    let mut text = format!("{}\n", view.instruction.trim_end());
    for tool in &view.tools {
        text.push_str(&format!(
            "\n[tool] {}: {}\n  {}\n",
            tool.name, tool.description, tool.parameters
        ));
    }
    text.push_str(&format!(
        "\n-- about {} tokens: instruction {}, tools {}\n",
        view.instruction_tokens + view.tools_tokens,
        view.instruction_tokens,
        view.tools_tokens
    ));
    print(&text)?;
    Ok(failure::ANSWERED)
}
