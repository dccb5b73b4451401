//! `lango prompt show`: shows exactly what a model gets.

use lango_app::{InspectOptions, Inspection, TeamOptions};
use lango_model::{ContextBlock, estimate_tokens};
use lango_orchestration::RootAgent;
use lango_protocol::{SessionId, Space, SpaceAccess, TurnId};
use lango_runtime::{ContextRequest, collect_context, describe_cards, offered_tools};
use lango_tool::ToolDeclaration;
use serde::Serialize;

use super::CommandContext;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::PromptCommand;

#[derive(Serialize)]
struct PromptView<'a> {
    agent: &'a str,
    instruction: &'a str,
    instruction_tokens: u64,
    tools: Vec<ToolDeclaration>,
    tools_tokens: u64,
    /// The context that the agent would get besides its instruction.
    context: Vec<BlockView>,
    context_tokens: u64,
}

#[derive(Serialize)]
struct BlockView {
    source: &'static str,
    text: String,
}

pub(crate) async fn prompt(
    context: &CommandContext,
    command: PromptCommand,
) -> Result<ExitStatus, Failure> {
    let PromptCommand::Show { agent, message, session, view: arguments } = command;
    let team = TeamOptions { topology: arguments.topology, ..TeamOptions::default() };
    let options = InspectOptions { team, mcp_tools: true, remote_agents: true };
    let inspection = context.app.inspect(options).await?;
    let tree = &inspection.roster.tree;
    let root = match &tree.root {
        RootAgent::Team(team) => (team.name.as_str(), &team.system_prompt),
        RootAgent::Single(single) => (single.name.as_str(), &single.system_prompt),
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
    let session = session.unwrap_or_else(SessionId::generate);
    let mut blocks = context_blocks(&inspection, name, &session, &message.join(" ")).await?;
    if *name == root.0 {
        blocks.extend(describe_cards(tree.sub_agents()).map(view_block));
    }
    let view = PromptView {
        agent: name,
        instruction,
        instruction_tokens: estimate_tokens(instruction),
        tools_tokens: if tools.is_empty() { 0 } else { estimate_tokens(&text) },
        tools,
        context_tokens: blocks.iter().map(|block| estimate_tokens(&block.text)).sum(),
        context: blocks,
    };
    if arguments.json {
        context.printer.json(&view)?;
        return Ok(ExitStatus::Success);
    }
    let mut text = format!("{}\n", view.instruction.trim_end());
    for tool in &view.tools {
        text.push_str(&format!(
            "\n[tool] {}: {}\n  {}\n",
            tool.name, tool.description, tool.parameters
        ));
    }
    for block in &view.context {
        text.push_str(&format!("\n[context] {}\n{}\n", block.source, block.text.trim_end()));
    }
    text.push_str(&format!(
        "\n-- about {} tokens: instruction {}, tools {}, context {}\n",
        view.instruction_tokens + view.tools_tokens + view.context_tokens,
        view.instruction_tokens,
        view.tools_tokens,
        view.context_tokens
    ));
    context.printer.print(&text)?;
    Ok(ExitStatus::Success)
}

/// Returns the context that the agent would get besides its instruction, if this were the user's
/// message.
async fn context_blocks(
    inspection: &Inspection,
    agent: &str,
    session: &SessionId,
    message: &str,
) -> Result<Vec<BlockView>, Failure> {
    let agent = agent.parse()?;
    let space = SpaceAccess::to(Space::Owner);
    let turn = TurnId::generate();
    let request = ContextRequest { session, turn, agent: &agent, message, space: &space };
    let blocks = collect_context(&inspection.context_sources(), request).await;
    Ok(blocks.into_iter().map(view_block).collect())
}

fn view_block(block: ContextBlock) -> BlockView {
    BlockView { source: block.source, text: block.text }
}
