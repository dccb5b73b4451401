//! `lango prompt show`: exactly what a model gets.

use lango_model::estimate_tokens;
use lango_orchestration::Root;
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
    tools: Vec<&'a ToolDeclaration>,
    tools_tokens: u64,
}

pub(crate) fn prompt(setting: &Setting, command: PromptCommand) -> Result<u8, Failure> {
    let PromptCommand::Show { agent, catalog: arguments } = command;
    let catalog = wiring::catalog(setting.config(), arguments.topology.as_deref(), None, None)?;
    let root = match &catalog.tree.root {
        Root::Team(team) => (team.name.as_str(), &team.system_prompt, &[][..]),
        Root::Single(single) => (single.name.as_str(), &single.system_prompt, &single.tools[..]),
    };
    let sub_agents = catalog.tree.sub_agents().iter();
    let mut agents =
        vec![root].into_iter().chain(sub_agents.map(|a| (a.name.as_str(), &a.system_prompt, a.tools())));
    let Some((name, instruction, tools)) = agents.find(|(name, _, _)| *name == agent) else {
        let mut known = vec![catalog.tree.root_name().as_str()];
        known.extend(catalog.tree.sub_agents().iter().map(|agent| agent.name.as_str()));
        return Err(Failure::usage(format!(
            "there is no agent {agent:?}. There are: {}",
            known.join(", ")
        )));
    };
    let tools: Vec<&ToolDeclaration> = tools.iter().map(|tool| &tool.declaration).collect();
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
        text.push_str(&format!("\n[tool] {}: {}\n  {}\n", tool.name, tool.description, tool.parameters));
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
