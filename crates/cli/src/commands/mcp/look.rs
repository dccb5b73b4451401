//! Shows servers and their tools.

use lango_app::mcp as wired;
use lango_mcp::client::{ConfigSource, EntryState, Server, ToolState, is_signed_in, tool_name};
use serde::Serialize;
use serde_json::value::RawValue;

use super::super::{CommandContext, Printer};
use crate::failure::Failure;
use lango_terminal::render_table;

#[derive(Serialize)]
struct ServerView {
    name: String,
    place: String,
    source: String,
    agent: Option<String>,
    enabled: bool,
    signed_in: bool,
    /// `None` for a server that was never started.
    tools: Option<usize>,
    frozen: Vec<String>,
    entry: EntryState,
    objection: Option<String>,
}

#[derive(Serialize)]
struct ToolView {
    name: String,
    tool: String,
    state: ToolState,
    used: bool,
    description: String,
    schema: Option<Box<RawValue>>,
    digest: String,
}

fn build_server_view(server: &Server, signed_in: bool) -> ServerView {
    let config = &server.config;
    let known = server.find_stored();
    ServerView {
        name: config.name.to_string(),
        place: config.location(),
        source: match &config.source {
            ConfigSource::User => "configuration".to_owned(),
            ConfigSource::Project(entry) => {
                format!("{}/{}", entry.directory.display(), wired::PROJECT_FILE)
            }
        },
        agent: config.agent.as_ref().map(ToString::to_string),
        enabled: config.enabled,
        signed_in,
        tools: known.map(|known| {
            known.tools.values().filter(|tool| tool.state() != ToolState::Gone).count()
        }),
        frozen: list_frozen_tools(server),
        entry: server.entry_state(),
        objection: server.reason_not_to_start().map(|objection| objection.to_string()),
    }
}

/// Returns the tools that wait for approval.
pub(super) fn list_frozen_tools(server: &Server) -> Vec<String> {
    let known = server.find_stored().map(|known| known.tools).unwrap_or_default();
    let frozen = known.values().filter(|tool| tool.state() == ToolState::Frozen);
    frozen.map(|tool| lango_text::make_visible_short(&tool.name)).collect()
}

pub(super) async fn list(context: &CommandContext, json: bool) -> Result<(), Failure> {
    let (servers, environment) = super::load_stored_servers(context).await?;
    let mut views = Vec::new();
    for server in servers.iter() {
        let signed_in = is_signed_in(&server.config, &environment).await?;
        views.push(build_server_view(server, signed_in));
    }
    if json {
        return Ok(context.printer.json(&views)?);
    }
    if views.is_empty() {
        return Ok(context
            .printer
            .print("There are no MCP servers. To add one: lango mcp add --help\n")?);
    }
    let row = |view: &ServerView| {
        let state = match (view.enabled, view.entry, view.tools) {
            (false, ..) => "off".to_owned(),
            (_, EntryState::New, _) => "not approved".to_owned(),
            (_, EntryState::Changed, _) => "changed".to_owned(),
            (_, EntryState::Declined, _) => "declined".to_owned(),
            (_, EntryState::Approved, None) => "not seen yet".to_owned(),
            (.., Some(tools)) if view.frozen.is_empty() => format!("{tools} tools"),
            (.., Some(tools)) => format!("{tools} tools, {} frozen", view.frozen.len()),
        };
        let agent = view.agent.clone().unwrap_or_else(|| "-".to_owned());
        vec![view.name.clone(), state, agent, view.place.clone()]
    };
    let mut text = render_table(
        &["NAME", "STATE", "AGENT", "PLACE"],
        &views.iter().map(row).collect::<Vec<_>>(),
    );
    for view in views.iter().filter(|view| view.enabled) {
        if let Some(objection) = &view.objection {
            text += &format!("{objection}\n");
        } else if !view.frozen.is_empty() {
            let frozen = view.frozen.join(", ");
            text += &format!("{}: {frozen}: lango mcp approve {}\n", view.name, view.name);
        }
    }
    Ok(context.printer.print(&text)?)
}

pub(super) fn show(context: &CommandContext, server: &Server, json: bool) -> Result<(), Failure> {
    let (config, printer) = (&server.config, context.printer);
    let home = wired::find_server_home(&context.app, config).map(|home| home.display().to_string());
    let tools = build_tool_views(server);
    if json {
        #[derive(Serialize)]
        struct Whole {
            name: String,
            place: String,
            agent: Option<String>,
            enabled: bool,
            home: Option<String>,
            safety: lango_tool::SafetyLevel,
            startup_timeout_sec: u64,
            tool_timeout_sec: u64,
            tools: Vec<ToolView>,
        }
        return Ok(printer.json(&Whole {
            name: config.name.to_string(),
            place: config.location(),
            agent: config.agent.as_ref().map(ToString::to_string),
            enabled: config.enabled,
            home,
            safety: config.safety,
            startup_timeout_sec: config.startup_timeout.as_secs(),
            tool_timeout_sec: config.tool_timeout.as_secs(),
            tools,
        })?);
    }
    let agent = config.agent.as_ref().map_or("no agent by name", |agent| agent.as_str());
    let mut text = format!(
        "{}\n  place    {}\n  agent    {agent}\n  safety   {}\n  limits   {} s to start, {} s for a \
         call\n",
        config.name,
        config.location(),
        config.safety,
        config.startup_timeout.as_secs(),
        config.tool_timeout.as_secs(),
    );
    if let Some(home) = home {
        text += &format!("  home     {home}\n");
    }
    text += &describe_server(server, &tools);
    Ok(printer.print(&text)?)
}

pub(super) fn tools(printer: Printer, server: &Server, json: bool) -> Result<(), Failure> {
    let tools = build_tool_views(server);
    if json {
        Ok(printer.json(&tools)?)
    } else {
        Ok(printer.print(&describe_server(server, &tools))?)
    }
}

fn describe_server(server: &Server, tools: &[ToolView]) -> String {
    let name = &server.config.name;
    if server.find_stored().is_none() {
        if let Some(objection) = server.reason_not_to_start() {
            return format!("{objection}\n");
        }
        return format!("It was not seen yet. To start it: lango mcp test {name}\n");
    }
    let row = |tool: &ToolView| {
        let state = match tool.state {
            ToolState::Approved if tool.used => "approved",
            ToolState::Approved => "not used",
            ToolState::Frozen => "frozen",
            ToolState::Gone => "gone",
        };
        let words =
            lango_text::make_visible_short(tool.description.lines().next().unwrap_or_default());
        vec![lango_text::make_visible_short(&tool.tool), state.to_owned(), words]
    };
    render_table(&["TOOL", "STATE", "DESCRIPTION"], &tools.iter().map(row).collect::<Vec<_>>())
}

fn build_tool_views(server: &Server) -> Vec<ToolView> {
    let known = server.find_stored().map(|known| known.tools).unwrap_or_default();
    let view = |tool: &lango_mcp::client::KnownTool| {
        let version = tool.current.as_ref().or(tool.approved.as_ref());
        ToolView {
            name: tool_name(&server.config.name, &tool.name),
            tool: tool.name.clone(),
            state: tool.state(),
            used: server.config.enables_tool(&tool.name),
            description: version.map(|version| version.description.clone()).unwrap_or_default(),
            // A schema that is no JSON cannot be shown as such; its digest still tells versions apart.
            schema: version.and_then(|v| RawValue::from_string(v.schema.clone()).ok()),
            digest: version.map(|version| version.digest.clone()).unwrap_or_default(),
        }
    };
    known.values().map(view).collect()
}

pub(super) async fn resources(
    printer: Printer,
    server: &Server,
    json: bool,
) -> Result<(), Failure> {
    let found = server.list_resources().await?;
    if json {
        return Ok(printer.json(&found)?);
    }
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|one| vec![one.uri.clone(), one.name.clone(), first_line(&one.description)])
        .collect();
    Ok(printer.print(&render_table(&["ADDRESS", "NAME", "DESCRIPTION"], &rows))?)
}

pub(super) async fn prompts(printer: Printer, server: &Server, json: bool) -> Result<(), Failure> {
    let found = server.list_prompts().await?;
    if json {
        return Ok(printer.json(&found)?);
    }
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|one| vec![one.name.clone(), one.arguments.join(" "), first_line(&one.description)])
        .collect();
    Ok(printer.print(&render_table(&["PROMPT", "TAKES", "DESCRIPTION"], &rows))?)
}

fn first_line(text: &str) -> String {
    lango_text::make_visible_short(text.lines().next().unwrap_or_default())
}
