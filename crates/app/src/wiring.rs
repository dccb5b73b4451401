//! Putting the parts together: the only place that knows every crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lango_chronicler::Memory;
use lango_model::ContextBlock;
use lango_operator::{OperatorSettings, Processes, Records, Skills, Workspace, skill_places};
use lango_orchestration::{
    AgentSpec, AgentTree, PromptSections, RemoteAgentSpec, Root, SingleAgent, SubAgent, Topology,
};
use lango_protocol::{AgentName, BudgetLimits, InvalidName};
use lango_retrieval::Retrieval;
use lango_runtime::{
    AgentModel, ApprovalPolicy, Approver, ContextFuture, ContextRequest, ContextSource, Effect,
    Rule, RuleBook, Runtime, RuntimeParts, Scrubber, Settings, TurnObserver, Words,
};
use lango_store::{Database, DatabaseLocation, Journal, StoreError};
use lango_tool::{RegisteredTool, ToolRegistry};

use crate::config::{Config, EffectName, PolicyName, RuleConfig};
use crate::confinement;
use crate::failure::Failure;
use crate::home::{self, Home};
use crate::knowledge::{self, Librarian};
use crate::memory;
use crate::provider::ReadyModels;
use crate::remotes::{self, Remotes};
use crate::team::{Elsewhere, TeamParts};
use crate::web;

/// The agents and tools, without a model or a database. Clones share what is kept.
#[derive(Clone)]
pub(crate) struct Catalog {
    pub(crate) tools: ToolRegistry,
    pub(crate) topology: Topology,
    pub(crate) tree: AgentTree,
    /// What trees are made of, for when tools or agents come or go.
    pub(crate) team: TeamParts,
    /// The agents elsewhere, once they were looked for.
    pub(crate) remotes: Option<Remotes>,
    /// What must not be shown or recorded, of those who bring tools from elsewhere.
    pub(crate) secrets: Vec<String>,
    pub(crate) workspace: PathBuf,
    /// What the operator keeps, once it is connected to a database.
    pub(crate) records: Records,
    /// What the operator runs in the background.
    pub(crate) processes: Processes,
    /// What is known.
    pub(crate) librarian: Librarian,
    /// What is remembered, where anything is.
    pub(crate) memory: Option<Memory>,
}

impl Catalog {
    /// Looks for the agents elsewhere, and takes those that are there into the team.
    pub(crate) async fn find_remotes(
        &mut self,
        config: &Config,
        database: &Database,
    ) -> Result<(), Failure> {
        self.remotes = Remotes::find(config, database).await?;
        self.add_tools(Vec::new())
    }

    /// The agents elsewhere that are there.
    pub(crate) fn elsewhere(&self) -> Elsewhere {
        self.remotes.as_ref().map(Remotes::elsewhere).unwrap_or_default()
    }

    /// These tools come from elsewhere.
    pub(crate) fn add_tools(&mut self, others: Vec<RegisteredTool>) -> Result<(), Failure> {
        (self.tools, self.tree) = self.team.build(others, self.elsewhere().specs)?;
        Ok(())
    }

    /// The same with these agents alone. Each keeps the tools that it has in the whole team, and what
    /// the others own goes to nobody.
    pub(crate) fn exposing(
        &self,
        agents: &BTreeSet<AgentName>,
        elsewhere: &Elsewhere,
    ) -> Result<Self, Failure> {
        let wrong =
            |error: lango_orchestration::OrchestrationError| Failure::usage(error.to_string());
        let reached = self.tree.sub_agents().iter().filter(|agent| agents.contains(&agent.name));
        let owned: BTreeSet<&str> =
            reached.flat_map(|agent| agent.tools().iter().map(|tool| tool.name())).collect();
        let specs = elsewhere.specs.iter().filter(|spec| agents.contains(&spec.name));
        let elsewhere: Vec<RemoteAgentSpec> = specs.cloned().collect();
        let own = self.tools.only(|name| owned.contains(name));
        let topology = self.team.topology.clone().only(agents).map_err(wrong)?;
        let team = TeamParts { own, topology: topology.clone(), ..self.team.clone() };
        // What agents elsewhere asked is told to those who reach them.
        let remotes = self.remotes.clone().filter(|_| !elsewhere.is_empty());
        let (tools, tree) = team.build(Vec::new(), elsewhere)?;
        Ok(Self { tools, topology, tree, team, remotes, ..self.clone() })
    }

    /// From now on the agents keep everything in this database.
    pub(crate) async fn connect(
        &self,
        config: &Config,
        database: &Database,
        journal: &Journal,
    ) -> Result<Retrieval, Failure> {
        self.records.connect(database.clone()).await?;
        let retrieval = self.librarian.connect(config, database.clone()).await?;
        if let Some(memory) = &self.memory {
            let (database, journal) = (database.clone(), journal.clone());
            memory::connect(memory, database, journal, retrieval.clone()).await?;
        }
        Ok(retrieval)
    }
}

/// Builds the catalog.
pub(crate) fn catalog(
    config: &Config,
    home: &Home,
    topology: Option<&str>,
    workspace: Option<&Path>,
    max_rounds: Option<u32>,
) -> Result<Catalog, Failure> {
    let workspace = self::workspace(workspace)?;
    let opened = Workspace::open(&workspace).map_err(|error| Failure::usage(error.to_string()))?;
    let mut tools = ToolRegistry::new();
    let records = Records::default();
    let processes = Processes::default();
    let skills = skills(config, &workspace);
    let settings = OperatorSettings {
        sandbox: confinement::sandbox(config),
        policy: confinement::policy(config, home)?,
        records: records.clone(),
        processes: processes.clone(),
        skills: skills.clone(),
        ..OperatorSettings::default()
    };
    lango_operator::register(&mut tools, opened, settings)
        .map_err(|error| Failure::usage(error.to_string()))?;
    lango_navigator::register(&mut tools, web::navigator(config, home)?)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let librarian = Librarian::register(&mut tools, config, home, &workspace, &skills, &records)?;
    let memory = memory::register(&mut tools, config)?;
    let topology = load_topology(config, topology.unwrap_or(&config.agent.topology))?;
    let prompts = load_prompts(config)?;
    let team = TeamParts {
        own: tools,
        topology: topology.clone(),
        prompts,
        multi_agent: config.agent.multi_agent,
        max_rounds: max_rounds.unwrap_or(config.agent.max_delegation_rounds),
    };
    let (tools, tree) = team.build(Vec::new(), Vec::new())?;
    let secrets = Vec::new();
    let remotes = None;
    Ok(Catalog {
        tools,
        topology,
        tree,
        team,
        remotes,
        secrets,
        workspace,
        records,
        processes,
        librarian,
        memory,
    })
}

/// The directory to work in, without links.
pub(crate) fn workspace(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let workspace = match given {
        Some(directory) => directory.to_owned(),
        None => std::env::current_dir()
            .map_err(|error| Failure::usage(format!("there is no current directory: {error}")))?,
    };
    workspace.canonicalize().map_err(|error| {
        Failure::usage(format!("the workspace {} cannot be used: {error}", workspace.display()))
    })
}

/// Whether this very directory may bring skills and MCP servers of its own.
pub(crate) fn is_trusted(config: &Config, workspace: &Path) -> bool {
    config.trust.directories.iter().any(|directory| Path::new(directory) == workspace)
}

/// The skills of the user and, where it is trusted, of the workspace.
pub(crate) fn skills(config: &Config, workspace: &Path) -> Skills {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let project = is_trusted(config, workspace).then(|| workspace.to_owned());
    Skills::discover(&skill_places(home, project))
}

fn load_topology(config: &Config, name: &str) -> Result<Topology, Failure> {
    let wrong = |error: lango_orchestration::OrchestrationError| Failure::usage(error.to_string());
    let topology = match name {
        "standard" => Topology::standard(),
        "compact" => Topology::compact(),
        directory => {
            let files = markdown_files(Path::new(directory)).map_err(|error| {
                Failure::usage(format!(
                    "the topology {directory:?} is neither standard nor compact, and cannot be \
                     read as a directory of AGENT.md files: {error}"
                ))
            })?;
            Topology::from_files(directory, &borrowed(&files))
        }
    }
    .map_err(wrong)?;
    let Some(directory) = &config.agent.agents_dir else { return Ok(topology) };
    let files = markdown_files(directory).map_err(|error| {
        Failure::usage(format!("agent.agentsDir {} cannot be read: {error}", directory.display()))
    })?;
    let specs: Result<Vec<AgentSpec>, _> =
        files.iter().map(|(name, text)| AgentSpec::parse(&at(directory, name), text)).collect();
    topology.with_agents(specs.map_err(wrong)?).map_err(wrong)
}

/// Where a file is, for messages.
fn at(directory: &Path, name: &str) -> String {
    directory.join(name).display().to_string()
}

fn load_prompts(config: &Config) -> Result<PromptSections, Failure> {
    let prompts = PromptSections::default();
    let Some(directory) = &config.agent.prompts_dir else { return Ok(prompts) };
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("agent.promptsDir {} cannot be read: {error}", directory.display()))
    };
    let mut files = markdown_files(directory).map_err(unreadable)?;
    let agents = directory.join("agents");
    if agents.is_dir() {
        for entry in std::fs::read_dir(&agents).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let agent = entry.file_name().to_string_lossy().into_owned();
            for (name, text) in markdown_files(&entry.path()).map_err(unreadable)? {
                files.push((format!("agents/{agent}/{name}"), text));
            }
        }
    }
    prompts.with_files(&borrowed(&files)).map_err(|error| Failure::usage(error.to_string()))
}

/// The `*.md` files of a directory, by name.
fn markdown_files(directory: &Path) -> std::io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") && path.is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, std::fs::read_to_string(&path)?));
        }
    }
    files.sort();
    Ok(files)
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

/// Where the journal is.
pub(crate) fn database_location(config: &Config, home: &Home) -> Result<DatabaseLocation, Failure> {
    match &config.database.url {
        Some(url) => Ok(url.parse()?),
        None => Ok(DatabaseLocation::Sqlite(home.database())),
    }
}

/// Opens the journal.
pub(crate) async fn open_journal(config: &Config, home: &Home) -> Result<Journal, Failure> {
    Ok(open_store(config, home).await?.1)
}

/// Opens the database and the journal in it.
pub(crate) async fn open_store(
    config: &Config,
    home: &Home,
) -> Result<(Database, Journal), Failure> {
    let location = database_location(config, home)?;
    // Whatever is wrong with it, nothing has begun: the user or the machine has to be set right.
    let unusable = |error: StoreError| Failure::usage(error.to_string());
    let database = Database::open(&location).await.map_err(unusable)?;
    let journal = Journal::open(database.clone()).await.map_err(unusable)?;
    Ok((database, journal))
}

/// What a runtime reads and writes. Clones share it.
#[derive(Clone)]
pub(crate) struct Kept {
    pub(crate) journal: Journal,
    pub(crate) retrieval: Retrieval,
    pub(crate) rules: RuleBook,
}

/// Builds a runtime.
pub(crate) fn runtime(
    config: &Config,
    catalog: &Catalog,
    kept: Kept,
    models: &ReadyModels,
    approver: Arc<dyn Approver>,
) -> Runtime {
    let Kept { journal, retrieval, rules } = kept;
    let workspace = catalog.workspace.display().to_string();
    let mut observers: Vec<Arc<dyn TurnObserver>> = Vec::new();
    observers.extend(catalog.librarian.observer(config, &journal));
    let observer = models.observer.as_ref();
    observers.extend(catalog.memory.as_ref().map(|memory| memory::observer(memory, observer)));
    observers.push(Librarian::upkeep(retrieval));
    Runtime::new(RuntimeParts {
        tree: catalog.tree.clone(),
        model: models.model.clone(),
        agent_models: models.agents.clone(),
        journal,
        approver,
        rules,
        context: context(config, catalog),
        observers,
        advisor: catalog.librarian.advisor(config),
        scrubber: scrubber(config, catalog, models),
        settings: settings(config),
        workspace,
        remote_agents: catalog.elsewhere().agents,
    })
}

/// Builds a runtime in which one agent speaks alone with its own tools, and this model decides for
/// it. Nothing is learned from such turns: nobody said anything.
pub(crate) fn alone(
    config: &Config,
    catalog: &Catalog,
    kept: Kept,
    models: &ReadyModels,
    approver: Arc<dyn Approver>,
    agent: &SubAgent,
    model: AgentModel,
) -> Runtime {
    let root = Root::Single(SingleAgent {
        name: agent.name.clone(),
        system_prompt: Arc::clone(&agent.system_prompt),
        tools: agent.tools().to_vec(),
    });
    Runtime::new(RuntimeParts {
        tree: AgentTree { root },
        model,
        agent_models: BTreeMap::new(),
        journal: kept.journal,
        approver,
        rules: kept.rules,
        context: Vec::new(),
        observers: Vec::new(),
        advisor: None,
        scrubber: scrubber(config, catalog, models),
        settings: settings(config),
        workspace: catalog.workspace.display().to_string(),
        remote_agents: BTreeMap::new(),
    })
}

/// What must not be recorded or shown.
fn scrubber(config: &Config, catalog: &Catalog, models: &ReadyModels) -> Scrubber {
    let secrets = models.secrets.iter().cloned().chain(database_password(config));
    let secrets = secrets.chain(knowledge::secrets(config)).chain(remotes::secrets(config));
    Scrubber::new(secrets.chain(catalog.secrets.iter().cloned()))
}

/// What agents are told beside their instructions.
pub(crate) fn context(config: &Config, catalog: &Catalog) -> Vec<Box<dyn ContextSource>> {
    let workspace = catalog.workspace.display().to_string();
    let mut sources: Vec<Box<dyn ContextSource>> = vec![Box::new(Surroundings { workspace })];
    // Whoever does not reach the agent that keeps something is not told what it keeps either.
    let reaches = |prefix: &str| catalog.tools.names().any(|name| name.starts_with(prefix));
    if reaches("memory_") {
        sources.extend(catalog.memory.as_ref().map(memory::context));
    }
    if reaches("save_knowledge") {
        sources.extend(catalog.librarian.context(config));
    }
    sources.extend(catalog.remotes.as_ref().map(Remotes::open_questions));
    sources
}

/// A database URL with a password in it is a secret as a whole.
fn database_password(config: &Config) -> Option<String> {
    config.database.url.clone().filter(|url| url.contains('@'))
}

/// What happens to calls that no rule decides.
pub(crate) fn approval_policy(config: &Config) -> ApprovalPolicy {
    match config.approvals.policy {
        PolicyName::AskDangerous => ApprovalPolicy::AskDangerous,
        PolicyName::AskAll => ApprovalPolicy::AskAll,
        PolicyName::NeverAskDeny => ApprovalPolicy::NeverAskDeny,
    }
}

/// The rules of the configuration and those that people stored.
pub(crate) async fn rule_book(config: &Config, database: Database) -> Result<RuleBook, Failure> {
    let numbered = config.approvals.rules.iter().zip(1..);
    let rules: Result<Vec<Rule>, Failure> =
        numbered.map(|(rule, number)| configured_rule(rule, number)).collect();
    RuleBook::open(rules?, database).await.map_err(|error| Failure::usage(error.to_string()))
}

fn configured_rule(rule: &RuleConfig, number: usize) -> Result<Rule, Failure> {
    let wrong = |what: &str, why: String| {
        Failure::usage(format!("approvals.rules, number {number}: {what}: {why}"))
    };
    let agent = rule.agent.as_deref().map(str::parse).transpose();
    Ok(Rule {
        id: format!("config:{number}"),
        effect: match rule.effect {
            EffectName::Allow => Effect::Allow,
            EffectName::Ask => Effect::Ask,
            EffectName::Deny => Effect::Deny,
        },
        tool: rule.tool.clone(),
        agent: agent.map_err(|error: InvalidName| wrong("agent", error.to_string()))?,
        directory: rule
            .directory
            .as_deref()
            .map(home::expand)
            .transpose()
            .map_err(|error| wrong("directory", error))?,
        words: match &rule.words {
            None => Words::Any,
            Some(words) if rule.exact => Words::Exact(words.clone()),
            Some(words) => Words::Pattern(words.clone()),
        },
        bound: None,
    })
}

fn settings(config: &Config) -> Settings {
    Settings {
        limits: BudgetLimits {
            model_calls: config.budget.model_calls.max(1),
            tool_calls: config.budget.tool_calls,
            tokens: config.budget.tokens.max(1),
            seconds: config.budget.seconds.max(1),
            ..BudgetLimits::default()
        },
        approval_policy: approval_policy(config),
        approval_expiry: Duration::from_secs(config.approvals.expire_seconds.max(1)),
        history_turns: config.history.turns,
        history_tokens: config.history.tokens,
        output_bytes: config.tools.output_bytes.max(256),
        parallel_calls: config.tools.parallel_calls.max(1),
        claim_wait: Duration::from_secs(30),
        ..Settings::default()
    }
}

/// What every agent should know: where it is, and which day it is.
struct Surroundings {
    workspace: String,
}

impl ContextSource for Surroundings {
    fn blocks<'a>(&'a self, _: ContextRequest<'a>) -> ContextFuture<'a> {
        let day = jiff::Zoned::now().strftime("%A, %Y-%m-%d");
        let system = std::env::consts::OS;
        let text = format!("Directory: {}\nSystem: {system}\nToday: {day}", self.workspace);
        Box::pin(std::future::ready(vec![ContextBlock { source: "surroundings", text }]))
    }
}
