//! `lango agents` and `lango tools`: the agents and their tools.

use lango_app::{InspectOptions, Roster, TeamOptions};
use lango_orchestration::{
    RootAgent, SubAgentKind, UnmatchedToolPolicy, capability_description, tool_capability,
};
use lango_text::make_visible;
use lango_tool::{RegisteredTool, SafetyLevel};
use serde::Serialize;

use super::CommandContext;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{AgentsCommand, TeamViewArguments, ToolsCommand};
use lango_terminal::{render_table, render_wrapped_table};

#[derive(Serialize)]
struct AgentView {
    name: String,
    role: &'static str,
    capabilities: String,
    tools: Vec<String>,
    keywords: Vec<String>,
    accepts: String,
    returns: String,
    cannot_do: Vec<String>,
}

#[derive(Serialize)]
struct UnmatchedView {
    tool: String,
    why: String,
}

#[derive(Serialize)]
struct MissingView {
    agent: String,
    why: String,
}

#[derive(Serialize)]
struct AgentsView {
    topology: String,
    agents: Vec<AgentView>,
    not_created: Vec<MissingView>,
    unmatched_tools: Vec<UnmatchedView>,
}

pub(crate) async fn agents(
    context: &CommandContext,
    command: AgentsCommand,
) -> Result<ExitStatus, Failure> {
    match command {
        AgentsCommand::List(arguments) => list(context, &arguments).await,
        AgentsCommand::Show { name, view } => show(context, &name, &view).await,
    }
}

/// Returns the team with the tools of MCP servers and the remote agents.
async fn load_roster(
    context: &CommandContext,
    arguments: &TeamViewArguments,
) -> Result<Roster, Failure> {
    let team = TeamOptions { topology: arguments.topology.clone(), ..TeamOptions::default() };
    let options = InspectOptions { team, mcp_tools: true, remote_agents: true };
    Ok(context.app.inspect(options).await?.roster)
}

async fn list(
    context: &CommandContext,
    arguments: &TeamViewArguments,
) -> Result<ExitStatus, Failure> {
    let view = build_view(&load_roster(context, arguments).await?);
    if arguments.json {
        context.printer.json(&view)?;
        return Ok(ExitStatus::Success);
    }
    let rows: Vec<Vec<String>> = view
        .agents
        .iter()
        .map(|agent| {
            vec![agent.name.clone(), agent.tools.len().to_string(), agent.capabilities.clone()]
        })
        .collect();
    let mut text = format!("topology {}\n\n", view.topology);
    text.push_str(&render_wrapped_table(&["AGENT", "TOOLS", "CAPABILITIES"], &rows));
    if !view.not_created.is_empty() {
        text.push_str("\nNot created:\n");
        for missing in &view.not_created {
            text.push_str(&format!("  {}: {}\n", missing.agent, missing.why));
        }
    }
    if view.unmatched_tools.is_empty() {
        text.push_str("\nEvery tool has an owner.\n");
    } else {
        text.push_str("\nTools that no agent can use:\n");
        for unmatched in &view.unmatched_tools {
            text.push_str(&format!("  {}: {}\n", unmatched.tool, unmatched.why));
        }
    }
    context.printer.print(&text)?;
    Ok(ExitStatus::Success)
}

async fn show(
    context: &CommandContext,
    name: &str,
    arguments: &TeamViewArguments,
) -> Result<ExitStatus, Failure> {
    let roster = load_roster(context, arguments).await?;
    let view = build_view(&roster);
    let Some(agent) = view.agents.iter().find(|agent| agent.name == name) else {
        let names: Vec<&str> = view.agents.iter().map(|agent| agent.name.as_str()).collect();
        let known = names.join(", ");
        return Err(Failure::usage(format!("there is no agent {name:?}. There are: {known}")));
    };
    if arguments.json {
        context.printer.json(agent)?;
        return Ok(ExitStatus::Success);
    }
    let facts = [
        ("role", agent.role.to_owned()),
        ("capabilities", agent.capabilities.clone()),
        ("keywords", agent.keywords.join(", ")),
        ("accepts", agent.accepts.clone()),
        ("returns", agent.returns.clone()),
        ("cannot do", agent.cannot_do.join("; ")),
        ("tools", if agent.tools.is_empty() { "none".to_owned() } else { String::new() }),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
    let rows: Vec<Vec<String>> = facts.map(|(what, value)| vec![what.to_owned(), value]).collect();
    let mut text = render_wrapped_table(&["AGENT", &agent.name], &rows);
    let tools = agent.tools.iter().filter_map(|name| roster.tools.get(name));
    let rows: Vec<Vec<String>> = tools
        .map(|tool| {
            let description = tool.declaration.description.to_string();
            vec![tool.name().to_owned(), tool.level().to_string(), description]
        })
        .collect();
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&render_wrapped_table(&["TOOL", "LEVEL", "DESCRIPTION"], &rows));
    }
    text.push_str(&format!("\nIts prompt: lango prompt show {}\n", agent.name));
    context.printer.print(&text)?;
    Ok(ExitStatus::Success)
}

fn tool_names(tools: &[std::sync::Arc<RegisteredTool>]) -> Vec<String> {
    tools.iter().map(|tool| tool.name().to_owned()).collect()
}

fn build_view(roster: &Roster) -> AgentsView {
    let plain = |name: &str, role, capabilities: String, tools| AgentView {
        name: name.to_owned(),
        role,
        capabilities,
        tools,
        keywords: Vec::new(),
        accepts: String::new(),
        returns: String::new(),
        cannot_do: Vec::new(),
    };
    let (mut agents, unmatched) = match &roster.tree.root {
        RootAgent::Single(single) => {
            let capabilities = capability_description(&single.tools).to_string();
            let tools = tool_names(&single.tools);
            let agent = plain(single.name.as_str(), "single agent", capabilities, tools);
            (vec![agent], Vec::new())
        }
        RootAgent::Team(team) => {
            let capabilities = "answers or delegates".to_owned();
            let root = plain(team.name.as_str(), "orchestrator", capabilities, Vec::new());
            (vec![root], team.unmatched.clone())
        }
    };
    for sub_agent in roster.tree.sub_agents() {
        let tools = tool_names(sub_agent.tools());
        let name = sub_agent.name.as_str();
        let role = match sub_agent.kind {
            SubAgentKind::Local { .. } => "specialist",
            SubAgentKind::Remote { .. } => "remote specialist",
        };
        let mut agent = plain(name, role, sub_agent.description.clone(), tools);
        if let Some(spec) = roster.topology().agent(name) {
            agent.keywords.clone_from(&spec.keywords);
            agent.accepts.clone_from(&spec.accepts);
            agent.returns.clone_from(&spec.returns);
            agent.cannot_do.clone_from(&spec.cannot_do);
        }
        agents.push(agent);
    }
    let created = |name: &str| roster.tree.agent(name).is_some();
    let is_team = matches!(roster.tree.root, RootAgent::Team(_));
    let specs =
        roster.topology().agents().iter().filter(|spec| is_team && !created(spec.name.as_str()));
    let not_created = specs.map(|spec| MissingView {
        agent: spec.name.to_string(),
        why: format!("no tool begins with {}", spec.prefixes.join(", ")),
    });
    let reason = match roster.topology().unmatched() {
        UnmatchedToolPolicy::NoAgent => {
            "no agent's prefixes match it, and this topology gives such tools to no agent"
        }
        UnmatchedToolPolicy::Agent(_) => "the agent for unmatched tools was not created",
    };
    AgentsView {
        topology: roster.topology().name().to_owned(),
        not_created: not_created.chain(list_absent_agents(roster)).collect(),
        unmatched_tools: unmatched
            .iter()
            .map(|tool| UnmatchedView { tool: tool.name().to_owned(), why: reason.to_owned() })
            .collect(),
        agents,
    }
}

/// Returns the remote agents that are not reachable.
fn list_absent_agents(roster: &Roster) -> impl Iterator<Item = MissingView> {
    let statuses = roster.remotes.iter().flat_map(|remotes| &remotes.statuses);
    statuses.filter_map(|status| {
        let error = status.availability.as_ref().err()?;
        Some(MissingView { agent: status.name.to_string(), why: make_visible(&error.to_string()) })
    })
}

#[derive(Serialize)]
struct ToolView<'a> {
    name: &'a str,
    owner: Option<&'a str>,
    level: SafetyLevel,
    read_only: bool,
    capability: &'a str,
    description: &'a str,
}

pub(crate) async fn tools(
    context: &CommandContext,
    command: ToolsCommand,
) -> Result<ExitStatus, Failure> {
    let ToolsCommand::List(arguments) = command;
    let roster = load_roster(context, &arguments).await?;
    let owner = |name: &str| match &roster.tree.root {
        RootAgent::Single(single) => Some(single.name.as_str()),
        RootAgent::Team(team) => team
            .sub_agents
            .iter()
            .find(|agent| agent.tools().iter().any(|tool| tool.name() == name))
            .map(|agent| agent.name.as_str()),
    };
    let views: Vec<ToolView<'_>> = roster
        .tools
        .iter()
        .map(|tool| ToolView {
            name: tool.name(),
            owner: owner(tool.name()),
            level: tool.level(),
            read_only: tool.read_only,
            capability: tool.capability.as_deref().unwrap_or_else(|| tool_capability(tool.name())),
            description: &tool.declaration.description,
        })
        .collect();
    if arguments.json {
        context.printer.json(&views)?;
        return Ok(ExitStatus::Success);
    }
    let rows: Vec<Vec<String>> = views
        .iter()
        .map(|tool| {
            vec![
                tool.name.to_owned(),
                tool.owner.unwrap_or("none").to_owned(),
                tool.level.to_string(),
                if tool.read_only { "yes" } else { "no" }.to_owned(),
                tool.description.to_owned(),
            ]
        })
        .collect();
    context
        .printer
        .print(&render_table(&["TOOL", "OWNER", "LEVEL", "READ-ONLY", "DESCRIPTION"], &rows))?;
    Ok(ExitStatus::Success)
}
