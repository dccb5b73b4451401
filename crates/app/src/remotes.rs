//! Builds the remote agents from the configuration.

use std::sync::Arc;
use std::time::Duration;

use lango_a2a::remote::{
    Directory, OpenQuestions, RemoteConfig, RemoteLimits, RemoteStatus, card_url,
};
use lango_a2a::signature::TrustedKey;
use lango_egress::{HeaderValue, Rules};
use lango_protocol::InstructionText;
use lango_runtime::ContextSource;
use lango_store::Database;
use lango_text::to_single_spaced;
use tokio::sync::mpsc;

use crate::AppError;
use crate::config::{Config, RemoteAgentConfig};
use crate::home;
use crate::secret_values::find_secret_name;
use crate::team::{RemoteTeam, TeamWatcher};

/// Limits the remote agents of a team.
const MAX_REMOTE_AGENT_COUNT: usize = 64;
/// Limits the number of messages that may wait to be shown.
const MAX_PENDING_MESSAGE_COUNT: usize = 16;

/// Holds the remote agents and their status.
#[derive(Clone)]
pub struct RemoteAgents {
    /// The directory that checks them.
    pub(crate) directory: Arc<Directory>,
    /// The status of each of them.
    pub statuses: Vec<RemoteStatus>,
}

impl RemoteAgents {
    /// Checks the remote agents, if any are configured.
    pub async fn check_configured(
        config: &Config,
        database: &Database,
    ) -> Result<Option<Self>, AppError> {
        let is_used = config.a2a.enabled && config.agent.multi_agent;
        if !is_used || config.a2a.remote_agents.is_empty() {
            return Ok(None);
        }
        let directory = Arc::new(open_directory(config, database).await?);
        let statuses = directory.check_agents().await;
        Ok(Some(Self { directory, statuses }))
    }

    /// Returns the agents that are available.
    pub(crate) fn available_team(&self) -> RemoteTeam {
        RemoteTeam::from_statuses(&self.statuses)
    }

    /// Returns one line for each agent that is not available.
    pub fn warnings(&self) -> Vec<String> {
        self.statuses.iter().filter_map(RemoteStatus::warning).collect()
    }

    pub(crate) fn open_questions(&self) -> Box<dyn ContextSource> {
        Box::new(OpenQuestions::of(&self.directory))
    }

    /// Checks the agents again as long as the program runs, so that the team has those that are
    /// available. The channel reports an agent that comes; the next turn reports one that goes.
    pub(crate) fn watch(self, watcher: TeamWatcher) -> mpsc::Receiver<String> {
        let (news, receiver) = mpsc::channel(MAX_PENDING_MESSAGE_COUNT);
        let changed = move |statuses: &[RemoteStatus], changes: &[RemoteStatus]| {
            if let Err(error) = watcher.replace_remotes(RemoteTeam::from_statuses(statuses)) {
                watcher.announce_absence(error.to_string());
            }
            for change in changes {
                match change.warning() {
                    Some(warning) => watcher.announce_absence(warning),
                    // If the receiver is gone, there is no client to tell.
                    None => _ = news.try_send(format!("{} is in the team now", change.name)),
                }
            }
        };
        tokio::spawn(self.directory.watch(self.statuses, changed));
        receiver
    }
}

/// Opens the directory of all configured remote agents.
pub async fn open_directory(config: &Config, database: &Database) -> Result<Directory, AppError> {
    let given = &config.a2a.remote_agents;
    if given.len() > MAX_REMOTE_AGENT_COUNT {
        return Err(AppError::usage(format!(
            "a2a.remoteAgents has {} agents; at most {MAX_REMOTE_AGENT_COUNT} are used",
            given.len()
        )));
    }
    let configs: Result<Vec<_>, _> =
        given.iter().map(|agent| remote_config(config, agent)).collect();
    let timeout = Duration::from_secs(config.a2a.timeout_seconds.clamp(1, 60));
    Ok(Directory::open(database.clone(), configs?, timeout).await?)
}

/// Converts the configuration of one agent to that of the protocol crate.
pub fn remote_config(config: &Config, agent: &RemoteAgentConfig) -> Result<RemoteConfig, AppError> {
    let wrong = |key: &str, why: String| {
        AppError::usage(format!("a2a.remoteAgents, {}: {key}: {why}", agent.name))
    };
    let usual = RemoteLimits::default();
    let seconds = |given: Option<u64>, usual: Duration| {
        given.map_or(usual, |seconds| Duration::from_secs(seconds.max(1)))
    };
    let budget = Duration::from_secs(config.budget.seconds.max(1));
    let rules = Rules::parse(&config.egress.allow, &config.egress.deny, &[])
        .map_err(|error| AppError::usage(format!("egress: {error}")))?;
    let token = read_token(agent)
        .map(|token| HeaderValue::from_str(&format!("Bearer {token}")))
        .transpose()
        .map_err(|_| wrong("tokenEnv", "its value is not a token".to_owned()))?
        .map(|mut value| {
            value.set_sensitive(true);
            value
        });
    Ok(RemoteConfig {
        name: agent.name.parse().map_err(|error| wrong("name", format!("{error}")))?,
        card_url: card_url(&agent.agent_card_url)
            .map_err(|error| wrong("agentCardUrl", error.to_string()))?,
        description: read_description(agent),
        token,
        token_env: agent.token_env.clone(),
        token_secret: agent.token.as_deref().and_then(find_secret_name).map(str::to_owned),
        allow_hosts: agent
            .allow_hosts
            .iter()
            .map(|text| text.parse())
            .collect::<Result<_, _>>()
            .map_err(|error| wrong("allowHosts", format!("{error}")))?,
        card_keys: read_card_keys(agent).map_err(|why| wrong("cardKeys", why))?,
        rules,
        streaming: agent.streaming.unwrap_or(true),
        limits: RemoteLimits {
            task: seconds(agent.task_seconds, usual.task).min(budget),
            silence: seconds(agent.silence_seconds, usual.silence),
            ..usual
        },
    })
}

/// Returns the owner's description of an agent in one line, without a full stop.
fn read_description(agent: &RemoteAgentConfig) -> Option<InstructionText> {
    let text = to_single_spaced(agent.description.as_deref()?);
    let text = text.trim_end_matches('.');
    (!text.is_empty()).then(|| InstructionText::from_owner(text))
}

/// Reads the keys from the files, each of which holds one or a set.
fn read_card_keys(agent: &RemoteAgentConfig) -> Result<Vec<TrustedKey>, String> {
    let mut keys = Vec::new();
    for path in &agent.card_keys {
        let file = home::expand_path(path)?;
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{path}: {error}"))?;
        let wrong = |error: &dyn std::fmt::Display| format!("{path}: {error}");
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        let found = match value.get("keys").and_then(serde_json::Value::as_array) {
            Some(set) => set.clone(),
            None => vec![value],
        };
        for key in found {
            keys.push(TrustedKey::from_jwk(&key.to_string()).map_err(|error| wrong(&error))?);
        }
    }
    if keys.is_empty() && !agent.card_keys.is_empty() {
        return Err("there is no key in them".to_owned());
    }
    Ok(keys)
}

fn read_token(agent: &RemoteAgentConfig) -> Option<String> {
    if agent.token.is_some() {
        let token = agent.resolved_token.as_ref().and_then(|token| token.reveal_text());
        return token.map(|token| token.trim().to_owned());
    }
    let variable = agent.token_env.as_deref()?;
    crate::environment::read_variable(variable).map(|token| token.trim().to_owned())
}

/// Returns the tokens, which must not be shown or recorded.
pub(crate) fn remote_tokens(config: &Config) -> impl Iterator<Item = String> {
    config.a2a.remote_agents.iter().filter_map(read_token)
}
