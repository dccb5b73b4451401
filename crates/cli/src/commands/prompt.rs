//! `lango prompt show`: exactly what a model gets.

use lango_model::{ContextBlock, estimate_tokens};
use lango_orchestration::Root;
use lango_protocol::{SessionId, TurnId};
use lango_runtime::{ContextRequest, collect_context, offered_tools};
use lango_tool::ToolDeclaration;
use serde::Serialize;

use super::{Setting, print, print_json};
use crate::arguments::PromptCommand;
use crate::failure::{self, Failure};
use crate::mcp;
use crate::wiring::{self, Catalog};

#[derive(Serialize)]
struct PromptView<'a> {
    agent: &'a str,
    instruction: &'a str,
    instruction_tokens: u64,
    tools: Vec<ToolDeclaration>,
    tools_tokens: u64,
    /// What the agent would be told beside its instruction.
    context: Vec<BlockView>,
    context_tokens: u64,
}

#[derive(Serialize)]
struct BlockView {
    source: &'static str,
    text: String,
}

pub(crate) async fn prompt(setting: &Setting, command: PromptCommand) -> Result<u8, Failure> {
    let PromptCommand::Show { agent, message, session, catalog: arguments } = command;
    let mut catalog = wiring::catalog(
        setting.config(),
        &setting.home,
        arguments.topology.as_deref(),
        None,
        None,
    )?;
    let (database, journal) = wiring::open_store(setting.config(), &setting.home).await?;
    catalog.connect(setting.config(), &database, &journal).await?;
    catalog.find_remotes(setting.config(), &database).await?;
    mcp::add_known(setting, &mut catalog).await?;
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
    let session = session.unwrap_or_else(SessionId::generate);
    let context = context(setting, &catalog, name, &session, &message.join(" ")).await?;
    let view = PromptView {
        agent: name,
        instruction,
        instruction_tokens: estimate_tokens(instruction),
        tools_tokens: if tools.is_empty() { 0 } else { estimate_tokens(&text) },
        tools,
        context_tokens: context.iter().map(|block| estimate_tokens(&block.text)).sum(),
        context,
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
    print(&text)?;
    Ok(failure::ANSWERED)
}

/// What the agent would be told beside its instruction, if this was the user's message.
async fn context(
    setting: &Setting,
    catalog: &Catalog,
    agent: &str,
    session: &SessionId,
    message: &str,
) -> Result<Vec<BlockView>, Failure> {
    let config = setting.config();
    let agent = agent.parse().map_err(|_| Failure::usage(format!("{agent:?} is no name")))?;
    let request = ContextRequest { session, turn: TurnId::generate(), agent: &agent, message };
    let blocks = collect_context(&wiring::context(config, catalog), request).await;
    let view = |block: ContextBlock| BlockView { source: block.source, text: block.text };
    Ok(blocks.into_iter().map(view).collect())
}
