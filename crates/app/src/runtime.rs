//! Makes runtimes: one for a client at a terminal, several for the clients of a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lango_keystore::KeyStore;
use lango_model::ContextBlock;
use lango_protocol::BudgetLimits;
use lango_redaction::PrivacyFilter;
use lango_runtime::{
    AgentParts, Approver, ContextFuture, ContextRequest, ContextSource, RuleBook, Runtime,
    RuntimeParts, Scrubber, Settings,
};
use lango_store::Journal;

use crate::approvals::read_approval_policy;
use crate::config::Config;
use crate::provider::ReadyModels;
use crate::remotes::RemoteAgents;
use crate::team::Roster;

/// Makes runtimes that share everything but their team.
pub(crate) struct RuntimeFactory {
    pub(crate) config: Config,
    pub(crate) models: Arc<ReadyModels>,
    pub(crate) journal: Journal,
    pub(crate) rules: RuleBook,
    pub(crate) agents: Vec<AgentParts>,
    pub(crate) workspace: PathBuf,
    /// Values that must not be recorded or shown.
    pub(crate) secrets: Vec<String>,
    /// Replaces personal data in requests to models.
    pub(crate) privacy: Option<Arc<PrivacyFilter>>,
    /// Knows the values of the vault.
    pub(crate) scrubber: Scrubber,
    pub(crate) key_store: KeyStore,
}

impl RuntimeFactory {
    /// Makes a runtime for a team.
    pub(crate) fn build_runtime(&self, roster: &Roster, approver: Arc<dyn Approver>) -> Runtime {
        let observers = self.agents.iter().flat_map(|agent| &agent.observers);
        let background = self.agents.iter().flat_map(|agent| &agent.background);
        Runtime::new(RuntimeParts {
            tree: roster.tree.clone(),
            model: self.models.model.clone(),
            agent_models: self.models.agents.clone(),
            journal: self.journal.clone(),
            approver,
            rules: self.rules.clone(),
            context: context_sources(&self.agents, roster, &self.workspace),
            observers: observers.chain(background).map(Arc::clone).collect(),
            advisor: self.agents.iter().find_map(|agent| agent.advisor.clone()),
            spend_guard: self.agents.iter().find_map(|agent| agent.spend_guard.clone()),
            scrubber: self.build_scrubber(),
            key_store: Some(self.key_store.clone()),
            settings: Settings { privacy: self.privacy.clone(), ..runtime_settings(&self.config) },
            workspace: self.workspace.display().to_string(),
            remote_agents: roster.remote_team().agents,
        })
    }

    fn build_scrubber(&self) -> Scrubber {
        let named = |secret: &String| ("value".to_owned(), secret.clone().into_bytes());
        self.scrubber.add_all(self.secrets.iter().map(named));
        self.scrubber.clone()
    }
}

/// Returns the sources of what agents are told besides their instructions.
pub(crate) fn context_sources(
    agents: &[AgentParts],
    roster: &Roster,
    workspace: &Path,
) -> Vec<Box<dyn ContextSource>> {
    let workspace = workspace.display().to_string();
    let mut sources: Vec<Box<dyn ContextSource>> = vec![Box::new(WorkspaceContext { workspace })];
    let reaches = |prefix: &str| roster.tools.names().any(|name| name.starts_with(prefix));
    let context = agents.iter().flat_map(|agent| &agent.context);
    for context in context.filter(|context| reaches(context.tool_prefix)) {
        sources.push(Box::new(Arc::clone(&context.source)));
    }
    sources.extend(roster.remotes.as_ref().map(RemoteAgents::open_questions));
    sources
}

fn runtime_settings(config: &Config) -> Settings {
    Settings {
        limits: BudgetLimits {
            model_calls: config.budget.model_calls.max(1),
            tool_calls: config.budget.tool_calls,
            tokens: config.budget.tokens.max(1),
            seconds: config.budget.seconds.max(1),
            ..BudgetLimits::default()
        },
        approval_policy: read_approval_policy(config),
        approval_expiry: Duration::from_secs(config.approvals.expire_seconds.max(1)),
        history_turns: config.history.turns,
        history_tokens: config.history.tokens,
        output_bytes: config.tools.output_bytes.max(256),
        parallel_calls: config.tools.parallel_calls.max(1),
        claim_wait: Duration::from_secs(30),
        ..Settings::default()
    }
}

/// Tells every agent its workspace and the date.
struct WorkspaceContext {
    workspace: String,
}

impl ContextSource for WorkspaceContext {
    fn blocks<'a>(&'a self, _: ContextRequest<'a>) -> ContextFuture<'a> {
        let day = jiff::Zoned::now().strftime("%A, %Y-%m-%d");
        let system = std::env::consts::OS;
        let text = format!("Directory: {}\nSystem: {system}\nToday: {day}", self.workspace);
        Box::pin(std::future::ready(vec![ContextBlock { source: "surroundings", text }]))
    }
}
