//! `lango mcp`: MCP servers.

mod approve;
mod change;
mod look;
mod serve;

use std::sync::Arc;
use std::time::Duration;

use lango_app::{Stores, find_workspace, mcp as wired};
use lango_mcp::client::{
    ClientEnvironment, Login, NoPerson, Server, Servers, TransportConfig, logout,
};

use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::McpCommand;

/// Limits how long the user may take to sign in.
const SIGN_IN_TIMEOUT: Duration = Duration::from_mins(5);

pub(crate) async fn mcp(
    context: &CommandContext,
    command: McpCommand,
) -> Result<ExitStatus, Failure> {
    match command {
        McpCommand::List { json } => look::list(context, json).await?,
        McpCommand::Show { name, json } => {
            let server = find_server(context, &name).await?;
            look::show(context, &server, json)?;
        }
        McpCommand::Tools { name, json } => {
            let server = find_server(context, &name).await?;
            look::tools(context.printer, &server, json)?;
        }
        McpCommand::Resources { name, json } => {
            with_started_server(context, &name, async |server| {
                look::resources(context.printer, &server, json).await
            })
            .await?;
        }
        McpCommand::Read { name, uri } => {
            let text =
                with_started_server(context, &name, async |server| Ok(server.read(&uri).await?))
                    .await?;
            context.printer.print(&format!("{text}\n"))?;
        }
        McpCommand::Prompts { name, json } => {
            with_started_server(context, &name, async |server| {
                look::prompts(context.printer, &server, json).await
            })
            .await?;
        }
        McpCommand::Prompt { name, prompt, arguments } => {
            let pairs = arguments
                .iter()
                .map(|pair| change::split_pair(pair, '='))
                .collect::<Result<_, _>>()?;
            let text = with_started_server(context, &name, async |server| {
                Ok(server.prompt(&prompt, pairs).await?)
            })
            .await?;
            context.printer.print(&text)?;
        }
        McpCommand::Add(arguments) => change::add(context, arguments)?,
        McpCommand::Remove { name, files } => change::remove(context, &name, files).await?,
        McpCommand::Import { file, dry_run } => change::import(context, file.as_deref(), dry_run)?,
        McpCommand::Approve { name, tool, yes } => {
            return approve::approve(context, &name, tool.as_deref(), yes).await;
        }
        McpCommand::Revoke { name } => approve::revoke(context, &name).await?,
        McpCommand::Test { name, json } => {
            with_started_server(context, &name, async |server| {
                test(context.printer, &server, json).await
            })
            .await?;
        }
        McpCommand::Serve(arguments) => return serve::serve(context, arguments).await,
        McpCommand::Login { name, scope } => login(context, &name, scope.as_deref()).await?,
        McpCommand::Logout { name } => {
            let (servers, environment) = load_stored_servers(context).await?;
            let forgotten = logout(&servers.get(&name)?.config, &environment).await?;
            context.printer.print(if forgotten {
                "Its tokens are gone.\n"
            } else {
                "There were no tokens.\n"
            })?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Returns all servers with their stored state. Nothing is started.
async fn load_stored_servers(
    context: &CommandContext,
) -> Result<(Servers, ClientEnvironment), Failure> {
    let config = context.config();
    let workspace = find_workspace(None)?;
    let Stores { database, .. } = context.app.open_stores().await?;
    let store = context.app.open_key_store(database.clone()).await?;
    let configured = wired::read_configured_servers(config, &workspace, &store).await;
    for notice in &configured.notices {
        context.printer.note(notice);
    }
    let environment = || {
        wired::build_client_environment(
            config,
            &context.app.home,
            &workspace,
            Arc::new(NoPerson),
            None,
            store.clone(),
        )
    };
    let servers =
        wired::open(configured.servers, environment()?, database, config.mcp.fold_bytes).await?;
    Ok((servers, environment()?))
}

async fn find_server(context: &CommandContext, name: &str) -> Result<Arc<Server>, Failure> {
    Ok(Arc::clone(load_stored_servers(context).await?.0.get(name)?))
}

/// Starts a server, runs an action with it, and ends it afterwards.
async fn with_started_server<T>(
    context: &CommandContext,
    name: &str,
    work: impl AsyncFnOnce(Arc<Server>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let server = find_server(context, name).await?;
    let done = work(Arc::clone(&server)).await;
    server.stop().await;
    done
}

async fn test(printer: Printer, server: &Server, json: bool) -> Result<(), Failure> {
    let found = server.introduce().await?;
    if json {
        return Ok(printer.json(&found)?);
    }
    let mut text = format!(
        "{} works: {} {} speaks {}, with {} tools{}{}\n",
        server.config.name,
        found.name,
        found.version,
        found.protocol,
        found.tools,
        if found.resources { ", resources" } else { "" },
        if found.prompts { ", prompts" } else { "" },
    );
    for problem in server.problems() {
        text += &format!("note: {problem}\n");
    }
    let frozen = look::list_frozen_tools(server);
    if !frozen.is_empty() {
        let name = &server.config.name;
        text += &format!("frozen: {}; look at it: lango mcp approve {name}\n", frozen.join(", "));
    }
    Ok(printer.print(&text)?)
}

async fn login(context: &CommandContext, name: &str, scope: Option<&str>) -> Result<(), Failure> {
    let (servers, environment) = load_stored_servers(context).await?;
    let server = servers.get(name)?;
    if let TransportConfig::Http(address) = &server.config.transport
        && address.bearer_token.is_some()
    {
        return Err(Failure::usage(format!(
            "{name} has a token of its own (bearer_token or bearer_token_env_var); there is no sign-in"
        )));
    }
    let scopes: Vec<String> =
        scope.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let login = Login::begin(&server.config, &environment, None, &scopes).await?;
    context.printer.print(&format!(
        "Open this in a browser to sign in to {name}:\n\n  {}\n\nWaiting for the answer…\n",
        login.url()
    ))?;
    login.wait(SIGN_IN_TIMEOUT).await?;
    Ok(context
        .printer
        .print(&format!("Signed in. To see whether it works: lango mcp test {name}\n"))?)
}
