//! `lango mcp`: servers elsewhere.

mod change;
mod look;
mod serve;

use std::sync::Arc;
use std::time::Duration;

use lango_mcp::client::{Login, Nobody, Outside, Server, Servers, TransportConfig, logout};

use super::{Setting, print, print_json};
use crate::arguments::McpCommand;
use crate::failure::{self, Failure};
use crate::mcp as wired;
use crate::wiring;

/// How long a person may take to sign in.
const SIGN_IN: Duration = Duration::from_mins(5);

pub(crate) async fn mcp(setting: &Setting, command: McpCommand) -> Result<u8, Failure> {
    match command {
        McpCommand::List { json } => look::list(setting, json).await?,
        McpCommand::Show { name, json } => {
            let server = known(setting, &name).await?;
            look::show(&server, json)?;
        }
        McpCommand::Tools { name, json } => {
            let server = known(setting, &name).await?;
            look::tools(&server, json)?;
        }
        McpCommand::Resources { name, json } => {
            with(setting, &name, async |server| look::resources(&server, json).await).await?;
        }
        McpCommand::Read { name, uri } => {
            let text = with(setting, &name, async |server| Ok(server.read(&uri).await?)).await?;
            print(&format!("{text}\n"))?;
        }
        McpCommand::Prompts { name, json } => {
            with(setting, &name, async |server| look::prompts(&server, json).await).await?;
        }
        McpCommand::Prompt { name, prompt, arguments } => {
            let pairs =
                arguments.iter().map(|pair| change::pair(pair, '=')).collect::<Result<_, _>>()?;
            let text =
                with(setting, &name, async |server| Ok(server.prompt(&prompt, pairs).await?))
                    .await?;
            print(&text)?;
        }
        McpCommand::Add(arguments) => change::add(setting, arguments)?,
        McpCommand::Remove { name } => change::remove(setting, &name).await?,
        McpCommand::Import { file, dry_run } => change::import(setting, file.as_deref(), dry_run)?,
        McpCommand::Approve { name, tool, yes } => {
            return change::approve(setting, &name, tool.as_deref(), yes).await;
        }
        McpCommand::Test { name, json } => {
            with(setting, &name, async |server| test(&server, json).await).await?;
        }
        McpCommand::Serve(arguments) => return serve::serve(setting, arguments).await,
        McpCommand::Login { name, scope } => login(setting, &name, scope.as_deref()).await?,
        McpCommand::Logout { name } => {
            let (servers, outside) = servers(setting).await?;
            let forgotten = logout(&servers.get(&name)?.config, &outside)?;
            print(if forgotten { "Its tokens are gone.\n" } else { "There were no tokens.\n" })?;
        }
    }
    Ok(failure::ANSWERED)
}

/// All servers, with what is known of them. Nothing is started.
async fn servers(setting: &Setting) -> Result<(Servers, Outside), Failure> {
    let config = setting.config();
    let workspace = wiring::workspace(None)?;
    let configured = wired::servers(config, &workspace);
    for notice in &configured.notices {
        super::tell(notice);
    }
    let outside = || wired::outside(config, &setting.home, &workspace, Arc::new(Nobody), None);
    let (database, _) = wiring::open_store(config, &setting.home).await?;
    let servers =
        wired::open(configured.servers, outside()?, database, config.mcp.fold_bytes).await?;
    Ok((servers, outside()?))
}

async fn known(setting: &Setting, name: &str) -> Result<Arc<Server>, Failure> {
    Ok(Arc::clone(servers(setting).await?.0.get(name)?))
}

/// Does something with a server that runs, and ends it afterwards.
async fn with<T>(
    setting: &Setting,
    name: &str,
    work: impl AsyncFnOnce(Arc<Server>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let server = known(setting, name).await?;
    let done = work(Arc::clone(&server)).await;
    server.stop().await;
    done
}

async fn test(server: &Server, json: bool) -> Result<(), Failure> {
    let found = server.introduce().await?;
    if json {
        return print_json(&found);
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
    let frozen = look::frozen(server);
    if !frozen.is_empty() {
        let name = &server.config.name;
        text += &format!("frozen: {}; look at it: lango mcp approve {name}\n", frozen.join(", "));
    }
    print(&text)
}

async fn login(setting: &Setting, name: &str, scope: Option<&str>) -> Result<(), Failure> {
    let (servers, outside) = servers(setting).await?;
    let server = servers.get(name)?;
    if let TransportConfig::Http(address) = &server.config.transport
        && address.bearer_token.is_some()
    {
        return Err(Failure::usage(format!(
            "{name} has a token of its own (bearer_token_env_var); nobody signs in to it"
        )));
    }
    let scopes: Vec<String> =
        scope.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let login = Login::begin(&server.config, &outside, None, &scopes).await?;
    print(&format!(
        "Open this in a browser to sign in to {name}:\n\n  {}\n\nWaiting for the answer…\n",
        login.url()
    ))?;
    login.wait(SIGN_IN).await?;
    print(&format!("Signed in. To see whether it works: lango mcp test {name}\n"))
}
