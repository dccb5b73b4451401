//! `lango a2a`: the agents elsewhere.

mod card;
mod try_out;

use std::time::Duration;

use lango_a2a::remote::{Directory, RemoteConfig, Sighting, Standing, sight};
use lango_protocol::AgentName;
use lango_tool::visible;
use serde::Serialize;

use super::table::table;
use super::{Setting, asked, print, print_json};
use crate::arguments::A2aCommand;
use crate::config::{self, RemoteAgentConfig};
use crate::failure::{self, Failure};
use crate::{remotes, wiring};

/// The list of agents elsewhere in the configuration.
const LIST: &str = "a2a.remoteAgents";

/// For those who cannot be asked.
const NOBODY: &str = "nobody is there to look at this. Say --yes if you have, and trust it";

pub(crate) async fn a2a(setting: &Setting, command: A2aCommand) -> Result<u8, Failure> {
    match command {
        A2aCommand::Card { url, token_env, json } => show(setting, url, token_env, json).await,
        A2aCommand::Add { name, url, token_env, yes } => {
            add(setting, &name, url, token_env, yes).await
        }
        A2aCommand::List { json } => list(setting, json).await,
        A2aCommand::Remove { name } => remove(setting, &name).await,
        A2aCommand::Test { name, text } => {
            let directory = directory(setting).await?;
            try_out::test(&directory, &known(&directory, &name)?, &text.join(" ")).await
        }
        A2aCommand::Approve { name, yes } => approve(setting, &name, yes).await,
    }
}

async fn directory(setting: &Setting) -> Result<Directory, Failure> {
    let (database, _) = wiring::open_store(setting.config(), &setting.home).await?;
    remotes::open_directory(setting.config(), &database).await
}

fn patience(setting: &Setting) -> Duration {
    Duration::from_secs(setting.config().a2a.timeout_seconds.clamp(1, 60))
}

/// The name, if there is an agent of it.
fn known(directory: &Directory, name: &str) -> Result<AgentName, Failure> {
    let found = directory.names().find(|known| known.as_str() == name);
    found.cloned().ok_or_else(|| {
        let names: Vec<&str> = directory.names().map(AgentName::as_str).collect();
        let there = match names.as_slice() {
            [] => "There is none yet. Add one: lango a2a add NAME URL".to_owned(),
            names => format!("There are: {}", names.join(", ")),
        };
        Failure::usage(format!("there is no agent {name:?} in {LIST}. {there}"))
    })
}

/// An agent that is not in the configuration.
fn stranger(
    setting: &Setting,
    name: &str,
    url: String,
    token_env: Option<String>,
) -> Result<(RemoteAgentConfig, RemoteConfig), Failure> {
    let agent = RemoteAgentConfig {
        name: name.to_owned(),
        agent_card_url: url,
        token_env,
        allow_hosts: Vec::new(),
        card_keys: Vec::new(),
        streaming: None,
        task_seconds: None,
        silence_seconds: None,
    };
    let config = remotes::remote_config(setting.config(), &agent)?;
    Ok((agent, config))
}

async fn look(setting: &Setting, config: &RemoteConfig) -> Result<Sighting, Failure> {
    let seen = sight(config, patience(setting)).await;
    seen.map_err(|error| Failure { code: failure::TURN_FAILED, message: error.to_string() })
}

async fn show(
    setting: &Setting,
    url: String,
    token_env: Option<String>,
    json: bool,
) -> Result<u8, Failure> {
    let (_, config) = stranger(setting, "card", url, token_env)?;
    let seen = look(setting, &config).await?;
    if json {
        print_json(&seen.card.json)?;
    } else {
        print(&card::in_words(&config, &seen))?;
    }
    Ok(failure::ANSWERED)
}

async fn add(
    setting: &Setting,
    name: &str,
    url: String,
    token_env: Option<String>,
    yes: bool,
) -> Result<u8, Failure> {
    let config = setting.config();
    if config.a2a.remote_agents.iter().any(|agent| agent.name == name) {
        return Err(Failure::usage(format!(
            "there is an agent {name} in {LIST} already. To replace it: lango a2a remove {name}"
        )));
    }
    let (agent, remote) = stranger(setting, name, url, token_env)?;
    let catalog = wiring::catalog(config, &setting.home, None, None, None)?;
    // Whether the name is free is the team's own question.
    let spec = lango_orchestration::RemoteAgentSpec {
        name: remote.name.clone(),
        description: String::new(),
        skills: Vec::new(),
    };
    catalog.team.build(Vec::new(), vec![spec])?;
    let seen = look(setting, &remote).await?;
    print(&card::in_words(&remote, &seen))?;
    if !yes && !asked(&format!("Take {name} into the team?"), NOBODY).await? {
        print("Nothing was changed.\n")?;
        return Ok(failure::TURN_FAILED);
    }
    let mut entry = toml_edit::Table::new();
    entry.insert("name", toml_edit::value(name));
    entry.insert("agentCardUrl", toml_edit::value(remote.card_url.as_str()));
    if let Some(variable) = &agent.token_env {
        entry.insert("tokenEnv", toml_edit::value(variable.as_str()));
    }
    config::add_to_list(&setting.home.config_file, LIST, &entry)?;
    config::set(&setting.home.config_file, "a2a.enabled", "true")?;
    let (database, _) = wiring::open_store(config, &setting.home).await?;
    let directory = Directory::open(database, vec![remote.clone()], patience(setting)).await?;
    // What was shown is what is trusted.
    directory.trust(&remote.name, &seen).await.map_err(failed)?;
    print(&format!("{name} is in the team. Try it: lango a2a test {name}\n"))?;
    Ok(failure::ANSWERED)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn failed(error: lango_a2a::remote::RemoteError) -> Failure {
    Failure { code: failure::TURN_FAILED, message: error.to_string() }
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

async fn list(setting: &Setting, json: bool) -> Result<u8, Failure> {
    let config = setting.config();
    let directory = directory(setting).await?;
    let mut views = Vec::new();
    for standing in directory.look().await {
        views.push(view(&directory, &standing).await?);
    }
    if json {
        print_json(&views)?;
        return Ok(failure::ANSWERED);
    }
    if views.is_empty() {
        print("There are no agents elsewhere. Add one: lango a2a add NAME URL\n")?;
        return Ok(failure::ANSWERED);
    }
    let row = |view: &RemoteView| {
        let seen = view.seen_at.as_deref().map_or("never", |time| time.get(..16).unwrap_or(time));
        vec![view.name.clone(), view.state.to_owned(), seen.replace('T', " "), view.detail.clone()]
    };
    let rows: Vec<Vec<String>> = views.iter().map(row).collect();
    let mut text = table(&["AGENT", "STATE", "SEEN (UTC)", "WHO OR WHY"], &rows);
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
    print(&text)?;
    Ok(failure::ANSWERED)
}

async fn view(directory: &Directory, standing: &Standing) -> Result<RemoteView, Failure> {
    let known = directory.cards().card(&standing.name).await?;
    let card_url = directory.config(&standing.name).map(|config| config.card_url.to_string());
    let (state, detail) = match &standing.found {
        Ok(present) => ("there", format!("{}: {}", present.card.name, present.card.description)),
        Err(error) => (card::state_of(error), error.to_string()),
    };
    Ok(RemoteView {
        name: standing.name.to_string(),
        card_url: card_url.unwrap_or_default(),
        state,
        detail: visible(&detail),
        endpoint: known.as_ref().map(|known| known.endpoint.clone()),
        digest: known.as_ref().map(|known| known.digest.clone()),
        pinned_at: known.as_ref().map(|known| known.pinned_at.to_string()),
        seen_at: known.as_ref().map(|known| known.seen_at.to_string()),
    })
}

async fn remove(setting: &Setting, name: &str) -> Result<u8, Failure> {
    if !config::remove_from_list(&setting.home.config_file, LIST, name)? {
        let directory = directory(setting).await?;
        known(&directory, name)?;
        return Err(Failure::usage(format!(
            "{name} is not in {}: it comes from the variable LANGO_A2A_REMOTEAGENTS",
            setting.home.config_file.display()
        )));
    }
    let (database, _) = wiring::open_store(setting.config(), &setting.home).await?;
    let agent: Result<AgentName, _> = name.parse();
    if let Ok(agent) = agent {
        lango_a2a::remote::CardBook::open(database).await?.remove(&agent).await?;
    }
    print(&format!("{name} is not in the team any more.\n"))?;
    Ok(failure::ANSWERED)
}

async fn approve(setting: &Setting, name: &str, yes: bool) -> Result<u8, Failure> {
    let directory = directory(setting).await?;
    let name = known(&directory, name)?;
    let Some(remote) = directory.config(&name) else { return Ok(failure::TURN_FAILED) };
    let trusted = directory.cards().card(&name).await?;
    let seen = look(setting, remote).await?;
    match &trusted {
        Some(trusted) if trusted.digest == seen.card.digest() => {
            directory.trust(&name, &seen).await.map_err(failed)?;
            print(&format!("{name} is as it was. There is nothing to decide.\n"))?;
            return Ok(failure::ANSWERED);
        }
        Some(trusted) => print(&card::difference(trusted, &seen))?,
        None => print(&card::in_words(remote, &seen))?,
    }
    if !yes && !asked(&format!("Trust {name} as it is now?"), NOBODY).await? {
        print(&format!("{name} stays away. To remove it: lango a2a remove {name}\n"))?;
        return Ok(failure::TURN_FAILED);
    }
    directory.trust(&name, &seen).await.map_err(failed)?;
    print(&format!("{name} is in the team again.\n"))?;
    Ok(failure::ANSWERED)
}
