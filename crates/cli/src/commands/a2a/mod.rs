//! `lango a2a`: the remote agents.

mod card;
mod try_out;

use std::time::Duration;

use lango_a2a::remote::{Directory, FetchedCard, RemoteConfig, RemoteStatus, fetch_card};
use lango_app::config::{self, RemoteAgentConfig};
use lango_app::{InspectOptions, Stores, remotes};
use lango_protocol::AgentName;
use lango_text::make_visible;
use serde::Serialize;

use super::{CommandContext, ask_or_advise};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::A2aCommand;
use lango_terminal::render_table;

/// Names the list of remote agents in the configuration.
const REMOTE_AGENTS_KEY: &str = "a2a.remoteAgents";

/// Tells a user who cannot be asked what to do.
const NO_PERSON: &str =
    "there is no terminal to ask at. Say --yes if you have looked at it and trust it";

pub(crate) async fn a2a(
    context: &CommandContext,
    command: A2aCommand,
) -> Result<ExitStatus, Failure> {
    match command {
        A2aCommand::Card { url, token_env, json } => show(context, url, token_env, json).await,
        A2aCommand::Add { name, url, description, token_env, yes } => {
            let (agent, remote) = unlisted_agent(context, &name, url, token_env)?;
            add(context, RemoteAgentConfig { description, ..agent }, remote, yes).await
        }
        A2aCommand::List { json } => list(context, json).await,
        A2aCommand::Remove { name } => remove(context, &name).await,
        A2aCommand::Test { name, text } => {
            let directory = open_directory(context).await?;
            try_out::test(
                context.printer,
                &directory,
                &find_agent_name(&directory, &name)?,
                &text.join(" "),
                &context.app.scrubber,
            )
            .await
        }
        A2aCommand::Approve { name, yes } => approve(context, &name, yes).await,
    }
}

async fn open_directory(context: &CommandContext) -> Result<Directory, Failure> {
    let Stores { database, .. } = context.app.open_stores().await?;
    let config = context.app.config_with_keys().await?;
    Ok(remotes::open_directory(&config, &database).await?)
}

fn check_timeout(context: &CommandContext) -> Duration {
    Duration::from_secs(context.config().a2a.timeout_seconds.clamp(1, 60))
}

/// Returns the name, if there is an agent with it.
fn find_agent_name(directory: &Directory, name: &str) -> Result<AgentName, Failure> {
    let found = directory.names().find(|known| known.as_str() == name);
    found.cloned().ok_or_else(|| {
        let names: Vec<&str> = directory.names().map(AgentName::as_str).collect();
        let there = match names.as_slice() {
            [] => "There is none yet. Add one: lango a2a add NAME URL".to_owned(),
            names => format!("There are: {}", names.join(", ")),
        };
        Failure::usage(format!("there is no agent {name:?} in {REMOTE_AGENTS_KEY}. {there}"))
    })
}

/// Returns the configuration of an agent that is not in the file.
fn unlisted_agent(
    context: &CommandContext,
    name: &str,
    url: String,
    token_env: Option<String>,
) -> Result<(RemoteAgentConfig, RemoteConfig), Failure> {
    let agent = RemoteAgentConfig {
        name: name.to_owned(),
        agent_card_url: url,
        description: None,
        token_env,
        token: None,
        resolved_token: None,
        allow_hosts: Vec::new(),
        card_keys: Vec::new(),
        streaming: None,
        task_seconds: None,
        silence_seconds: None,
    };
    let config = remotes::remote_config(context.config(), &agent)?;
    Ok((agent, config))
}

async fn fetch_now(
    context: &CommandContext,
    config: &RemoteConfig,
) -> Result<FetchedCard, Failure> {
    let seen = fetch_card(config, check_timeout(context)).await;
    Ok(seen?)
}

async fn show(
    context: &CommandContext,
    url: String,
    token_env: Option<String>,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let (_, config) = unlisted_agent(context, "card", url, token_env)?;
    let seen = fetch_now(context, &config).await?;
    if json {
        context.printer.json(&seen.card.json)?;
    } else {
        context.printer.print(&card::describe_card(&config, &seen))?;
    }
    Ok(ExitStatus::Success)
}

async fn add(
    context: &CommandContext,
    agent: RemoteAgentConfig,
    remote: RemoteConfig,
    yes: bool,
) -> Result<ExitStatus, Failure> {
    let config = context.config();
    let name = agent.name.as_str();
    if config.a2a.remote_agents.iter().any(|agent| agent.name == name) {
        return Err(Failure::usage(format!(
            "there is an agent {name} in {REMOTE_AGENTS_KEY} already. To replace it: \
             lango a2a remove {name}"
        )));
    }
    // Only the team knows whether the name is free.
    let inspection = context.app.inspect(InspectOptions::default()).await?;
    inspection.roster.check_remote_name(&remote.name)?;
    let seen = fetch_now(context, &remote).await?;
    context.printer.print(&card::describe_card(&remote, &seen))?;
    if !yes && !ask_or_advise(&format!("Take {name} into the team?"), NO_PERSON).await? {
        context.printer.print("Nothing was changed.\n")?;
        return Ok(ExitStatus::Failure);
    }
    let mut entry = toml_edit::Table::new();
    entry.insert("name", toml_edit::value(name));
    entry.insert("agentCardUrl", toml_edit::value(remote.card_url.as_str()));
    if let Some(description) = &agent.description {
        entry.insert("description", toml_edit::value(description.as_str()));
    }
    if let Some(variable) = &agent.token_env {
        entry.insert("tokenEnv", toml_edit::value(variable.as_str()));
    }
    config::add_to_list(&context.app.home.config_file, REMOTE_AGENTS_KEY, &entry)?;
    config::set_key(&context.app.home.config_file, "a2a.enabled", "true")?;
    let database = inspection.stores.database;
    let directory = Directory::open(database, vec![remote.clone()], check_timeout(context)).await?;
    // The card that was shown is the one that is trusted.
    directory.trust(&remote.name, &seen).await?;
    context.printer.print(&format!("{name} is in the team. Try it: lango a2a test {name}\n"))?;
    Ok(ExitStatus::Success)
}

#[derive(Serialize)]
struct RemoteView {
    name: String,
    card_url: String,
    state: &'static str,
    detail: String,
    endpoint: Option<String>,
    digest: Option<String>,
    pinned_at: Option<String>,
    seen_at: Option<String>,
}

async fn list(context: &CommandContext, json: bool) -> Result<ExitStatus, Failure> {
    let config = context.config();
    let directory = open_directory(context).await?;
    let mut views = Vec::new();
    for status in directory.check_agents().await {
        views.push(build_view(&directory, &status).await?);
    }
    if json {
        context.printer.json(&views)?;
        return Ok(ExitStatus::Success);
    }
    if views.is_empty() {
        context.printer.print("No remote agents yet. Add one: lango a2a add NAME URL\n")?;
        return Ok(ExitStatus::Success);
    }
    let row = |view: &RemoteView| {
        let seen = view.seen_at.as_deref().map_or("never", |time| time.get(..16).unwrap_or(time));
        vec![view.name.clone(), view.state.to_owned(), seen.replace('T', " "), view.detail.clone()]
    };
    let rows: Vec<Vec<String>> = views.iter().map(row).collect();
    let mut text = render_table(&["AGENT", "STATE", "SEEN (UTC)", "WHO OR WHY"], &rows);
    if !config.a2a.enabled {
        text.push_str(
            "\nNone of them is in the team. To change that: lango config set a2a.enabled true\n",
        );
    } else if !config.agent.multi_agent {
        text.push_str(
            "\nNone of them is used: there is no team. To change that: \
             lango config set agent.multiAgent true\n",
        );
    }
    context.printer.print(&text)?;
    Ok(ExitStatus::Success)
}

async fn build_view(directory: &Directory, status: &RemoteStatus) -> Result<RemoteView, Failure> {
    let known = directory.cards().find_card(&status.name).await?;
    let card_url = directory.config(&status.name).map(|config| config.card_url.to_string());
    let (state, detail) = match &status.availability {
        Ok(present) => ("there", format!("{}: {}", present.card.name, present.card.description)),
        Err(error) => (card::describe_error_state(error), error.to_string()),
    };
    Ok(RemoteView {
        name: status.name.to_string(),
        card_url: card_url.unwrap_or_default(),
        state,
        detail: make_visible(&detail),
        endpoint: known.as_ref().map(|known| known.endpoint.clone()),
        digest: known.as_ref().map(|known| known.digest.clone()),
        pinned_at: known.as_ref().map(|known| known.pinned_at.to_string()),
        seen_at: known.as_ref().map(|known| known.seen_at.to_string()),
    })
}

async fn remove(context: &CommandContext, name: &str) -> Result<ExitStatus, Failure> {
    if !config::remove_from_list(&context.app.home.config_file, REMOTE_AGENTS_KEY, name)? {
        let directory = open_directory(context).await?;
        find_agent_name(&directory, name)?;
        return Err(Failure::usage(format!(
            "{name} is not in {}: it comes from the variable LANGO_A2A_REMOTEAGENTS",
            context.app.home.config_file.display()
        )));
    }
    let Stores { database, .. } = context.app.open_stores().await?;
    let agent: Result<AgentName, _> = name.parse();
    if let Ok(agent) = agent {
        lango_a2a::remote::CardStore::open(database).await?.remove(&agent).await?;
    }
    context.printer.print(&format!("{name} is not in the team any more.\n"))?;
    Ok(ExitStatus::Success)
}

async fn approve(context: &CommandContext, name: &str, yes: bool) -> Result<ExitStatus, Failure> {
    let directory = open_directory(context).await?;
    let name = find_agent_name(&directory, name)?;
    let Some(remote) = directory.config(&name) else { return Ok(ExitStatus::Failure) };
    let trusted = directory.cards().find_card(&name).await?;
    let seen = fetch_now(context, remote).await?;
    match &trusted {
        Some(trusted) if trusted.digest == seen.card.digest() => {
            directory.trust(&name, &seen).await?;
            context
                .printer
                .print(&format!("{name} is as it was. There is nothing to decide.\n"))?;
            return Ok(ExitStatus::Success);
        }
        Some(trusted) => context.printer.print(&card::describe_card_changes(trusted, &seen))?,
        None => context.printer.print(&card::describe_card(remote, &seen))?,
    }
    if !yes && !ask_or_advise(&format!("Trust {name} as it is now?"), NO_PERSON).await? {
        context
            .printer
            .print(&format!("{name} stays away. To remove it: lango a2a remove {name}\n"))?;
        return Ok(ExitStatus::Failure);
    }
    directory.trust(&name, &seen).await?;
    context.printer.print(&format!("{name} is in the team again.\n"))?;
    Ok(ExitStatus::Success)
}
