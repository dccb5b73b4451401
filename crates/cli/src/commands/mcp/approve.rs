//! Approves the entries of projects' files and the changes of servers, and takes approvals back.

use lango_mcp::client::{ConfigSource, EntryState, KnownServer, Server, Servers, ToolState};

use super::super::{CommandContext, ask_or_advise};
use crate::failure::{ExitStatus, Failure};

/// Tells a user who cannot be asked what to do.
const NO_PERSON: &str =
    "there is no terminal to ask at. Say --yes if you have looked at it and agree";

pub(super) async fn approve(
    context: &CommandContext,
    name: &str,
    tool: Option<&str>,
    yes: bool,
) -> Result<ExitStatus, Failure> {
    let (servers, environment) = super::load_stored_servers(context).await?;
    let server = servers.get(name)?;
    let known = server.find_stored();
    let is_entry_open = tool.is_none() && server.entry_state() != EntryState::Approved;
    let mut text = String::new();
    if is_entry_open {
        let homes = &environment.process_environment.homes;
        text += &server.config.describe_project_entry(homes).unwrap_or_default();
    }
    match &known {
        Some(known) => text += &describe_frozen_tools(server, known, tool)?,
        None if is_entry_open => {}
        None => {
            let advice = format!("{name} was not seen yet. To start it: lango mcp test {name}");
            return Err(Failure::usage(advice));
        }
    }
    if text.is_empty() {
        context.printer.print(&format!("No changes of {name} wait for approval.\n"))?;
        return Ok(ExitStatus::Success);
    }
    context.printer.print(&text)?;
    if !yes && !ask_or_advise("Agree to this?", NO_PERSON).await? {
        decline(&servers, server, is_entry_open).await?;
        context.printer.print("It is not used.\n")?;
        return Ok(ExitStatus::Failure);
    }
    let mut agreed = String::new();
    if is_entry_open {
        servers.known_servers().decide_entry(&server.config, true).await?;
        agreed += &format!("{name} is approved. To see whether it works: lango mcp test {name}\n");
    }
    let approved = servers.known_servers().approve(&server.config, tool).await?;
    if !approved.is_empty() || !is_entry_open {
        agreed += &format!("Agreed to {} tools of {name}.\n", approved.len());
    }
    context.printer.print(&agreed)?;
    Ok(ExitStatus::Success)
}

/// Stores that a person does not want an entry, so that it is not asked about again.
async fn decline(servers: &Servers, server: &Server, is_entry_open: bool) -> Result<(), Failure> {
    if is_entry_open {
        servers.known_servers().decide_entry(&server.config, false).await?;
    }
    Ok(())
}

/// Describes the tools that wait for approval, or the one that the user named.
fn describe_frozen_tools(
    server: &Server,
    known: &KnownServer,
    tool: Option<&str>,
) -> Result<String, Failure> {
    if let Some(tool) = tool
        && !known.tools.contains_key(tool)
    {
        let name = &server.config.name;
        return Err(Failure::usage(format!(
            "{name} has no tool {tool:?}. See: lango mcp tools {name}"
        )));
    }
    let wanted = |tool_name: &str| tool.is_none_or(|tool| tool == tool_name);
    let frozen = known.tools.values().filter(|known| known.state() == ToolState::Frozen);
    let mut text = String::new();
    for known in frozen.filter(|known| wanted(&known.name)) {
        let Some(current) = &known.current else { continue };
        let what = if known.approved.is_some() { "changed" } else { "new" };
        let shown = lango_text::make_visible(&known.name);
        text += &format!("{shown} ({what}):\n{}", current.difference(known.approved.as_ref()));
    }
    Ok(text)
}

pub(super) async fn revoke(context: &CommandContext, name: &str) -> Result<(), Failure> {
    let (servers, _) = super::load_stored_servers(context).await?;
    let server = servers.get(name)?;
    if server.config.source == ConfigSource::User {
        return Err(Failure::usage(format!(
            "{name} is in your own configuration, which needs no approval. To switch it off: \
             lango config set mcp_servers.{name}.enabled false"
        )));
    }
    servers.known_servers().decide_entry(&server.config, false).await?;
    Ok(context.printer.print(&format!(
        "{name} is not started any more. Programs that run go on until they end.\n"
    ))?)
}
