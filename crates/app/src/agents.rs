//! Opens the agents that have a crate of their own, all in the same way. A new agent crate is added
//! here, and nowhere else in this crate but in the configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lango_automator::{AutomatorAgent, AutomatorResources, AutomatorSettings, JobBook};
use lango_chronicler::{ChroniclerAgent, MemoryResources, MemorySettings};
use lango_embedded::{FileEntry, Surroundings};
use lango_librarian::inquiries::InquirySettings;
use lango_librarian::skills::{ListedSkill, SkillSources};
use lango_librarian::{
    DocumentSettings, KnowledgeSettings, LibrarianAgent, LibrarianResources, LibrarianSettings,
};
use lango_model::{Cost, Model};
use lango_navigator::{NavigatorAgent, NavigatorSettings};
use lango_operator::{
    OperatorAgent, OperatorResources, OperatorSettings, Processes, Skills, Workspace,
    WorkspaceName, skill_directories,
};
use lango_places::Places;
use lango_protocol::Usage;
use lango_runtime::AgentParts;
use lango_schedule::Zone;
use lango_vault::{PaymentResources, VaultAgent, VaultResources, VaultSettings, payment_tools};

use crate::config::Config;
use crate::definition::is_trusted;
use crate::notifications::read_routes;
use crate::provider::PriceList;
use crate::{App, AppError, Home, Stores, confinement, knowledge, web};

/// Names the agent that pays.
const VAULT: &str = "vault";

/// Holds the settings of each agent from the configuration. Nothing is opened yet.
#[derive(Clone)]
pub(crate) struct AgentSettings {
    workspace: Workspace,
    operator: OperatorSettings,
    navigator: NavigatorSettings,
    librarian: LibrarianSettings,
    chronicler: Option<MemorySettings>,
    vault: VaultSettings,
    automator: Option<AutomatorSettings>,
}

/// The agents, with everything that they contribute.
pub(crate) struct OpenAgents {
    pub(crate) parts: Vec<AgentParts>,
    /// The commands that the operator runs in the background.
    pub(crate) processes: Processes,
    /// The jobs of the automator, if there is one.
    pub(crate) jobs: Option<JobBook>,
}

impl AgentSettings {
    /// Reads the settings of every agent.
    pub(crate) fn read(config: &Config, home: &Home, workspace: &Path) -> Result<Self, AppError> {
        let policy = confinement::build_sandbox_policy(config, home, workspace)?;
        let places = policy.places.clone();
        Ok(Self {
            workspace: Workspace::open_with_places(workspace, places.clone())?,
            operator: OperatorSettings {
                sandbox: confinement::build_sandbox(config),
                policy,
                skills: find_skills(config, workspace),
                ..OperatorSettings::default()
            },
            navigator: web::navigator_settings(config, home)?,
            vault: VaultSettings { workspace: workspace.to_owned(), places: places.clone() },
            librarian: librarian_settings(config, workspace, places)?,
            chronicler: build_memory_settings(config),
            automator: build_automator_settings(config, workspace)?,
        })
    }

    /// Returns what the embedded model knows about the machine.
    pub(crate) fn surroundings(&self) -> Arc<dyn Surroundings> {
        Arc::new(WorkspaceSurroundings(self.workspace.clone()))
    }

    /// Opens every agent in the database. `observer` is the model that observes conversations, `vault`
    /// what the vault works on.
    pub(crate) async fn open(
        self,
        app: &App,
        stores: &Stores,
        observer: Option<Arc<dyn Model>>,
        vault: VaultResources,
    ) -> Result<OpenAgents, AppError> {
        let (config, home) = (app.config(), &app.home);
        let Stores { database, journal } = stores.clone();
        let Self {
            workspace,
            mut operator,
            mut navigator,
            mut librarian,
            chronicler,
            vault: settings,
            automator,
        } = self;
        operator.handles = vault.handles.clone();
        operator.key_store = Some(vault.store.clone());
        navigator.handles = vault.handles.clone();
        librarian.handles = vault.handles.clone();
        if let Some(documents) = &mut librarian.documents {
            documents.reader = documents.reader.clone().with_scrubber(app.scrubber.clone());
        }
        let keys = vault.store.clone();
        let vault = VaultAgent::open(settings, vault)?;
        let retrieval = knowledge::open(config, database.clone()).await?;
        let skills = operator.skills.clone();
        if let Err(error) = operator.policy.remove_leftovers(workspace.root()) {
            // The first command fails for the same reason, and says so.
            tracing::debug!(%error, "the workspace was not checked for leftovers of commands");
        }
        let resources = OperatorResources { workspace, database: database.clone() };
        let operator = OperatorAgent::open(operator, resources).await?;
        let navigator = NavigatorAgent::open(navigator);
        librarian.skills = build_skill_sources(config, home, &operator, skills);
        let resources =
            LibrarianResources { journal: journal.clone(), retrieval: retrieval.clone() };
        let librarian = LibrarianAgent::open(librarian, resources).await?;
        let mut parts = vec![operator.parts(), navigator.parts()];
        if config.vault.enabled {
            let payments = PaymentResources {
                desk: app.open_payments(database.clone(), keys.clone()).await?,
                guard: web::build_guard(config, VAULT)?,
            };
            let mut vault = vault.parts();
            vault.tools.extend(payment_tools(&payments));
            parts.push(vault);
        }
        let mut jobs = None;
        if let Some(mut settings) = automator {
            settings.notification_means = Some(app.channel_factory(keys.clone()).into_means());
            let prices = PriceList::new(config)?;
            let cost = move |provider: &str, model: &str, usage: &Usage| {
                prices.cost(provider, model, usage).map(Cost::dollars)
            };
            settings.prices = Some(Arc::new(cost));
            let resources = AutomatorResources { database, journal: journal.clone() };
            let automator = AutomatorAgent::open(settings, resources).await?;
            parts.push(automator.parts());
            jobs = Some(automator.jobs().clone());
        }
        if let Some(settings) = chronicler {
            let resources = MemoryResources { journal, retrieval, observer };
            parts.push(ChroniclerAgent::open(settings, resources).await?.parts());
        }
        parts.push(librarian.parts());
        Ok(OpenAgents { parts, processes: operator.processes().clone(), jobs })
    }
}

/// Lets the embedded model look up the names of the workspace.
#[derive(Debug)]
struct WorkspaceSurroundings(Workspace);

impl Surroundings for WorkspaceSurroundings {
    fn list_files(&self) -> Vec<FileEntry> {
        let entry =
            |name: WorkspaceName| FileEntry { path: name.path, is_directory: name.is_directory };
        self.0.list_names().into_iter().map(entry).collect()
    }

    fn read_text(&self, path: &str) -> Option<String> {
        self.0.read_small_text(path)
    }
}

/// Returns the skills of the user and, where it is trusted, of the workspace.
pub fn find_skills(config: &Config, workspace: &Path) -> Skills {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let project = is_trusted(config, workspace).then(|| workspace.to_owned());
    Skills::discover(&skill_directories(home, project))
}

/// Returns the settings of memory, or `None` if it is not enabled.
pub fn build_memory_settings(config: &Config) -> Option<MemorySettings> {
    let given = &config.observational_memory;
    given.enabled.then(|| MemorySettings {
        message_token_threshold: given.message_token_threshold.max(1),
        observation_token_threshold: given.observation_token_threshold.max(1),
        tokens_per_day: given.tokens_per_day,
        memory_token_budget: given.memory_token_budget,
        visible_turns: config.history.turns,
        ..MemorySettings::default()
    })
}

/// Returns the settings of the automator, or `None` if it is not enabled.
pub fn build_automator_settings(
    config: &Config,
    workspace: &Path,
) -> Result<Option<AutomatorSettings>, AppError> {
    let given = &config.automator;
    if !given.enabled {
        return Ok(None);
    }
    let wrong = |error| AppError::usage(format!("automator.timezone: {error}"));
    let zone = match &given.timezone {
        Some(name) => Zone::find(name).map_err(wrong)?,
        None => Zone::of_machine(),
    };
    Ok(Some(AutomatorSettings {
        zone,
        workspace: workspace.display().to_string(),
        max_job_count: given.max_jobs,
        max_task_count: given.max_tasks,
        parallel_work: given.parallel_work.max(1),
        notify: read_routes(config)?,
        channels: given.channels.keys().cloned().collect(),
        notification_means: None,
        run_budget: given.run_budget.limits(),
        day_budget: given.day_budget.limits(),
        prices: None,
    }))
}

fn librarian_settings(
    config: &Config,
    workspace: &Path,
    places: Places,
) -> Result<LibrarianSettings, AppError> {
    let given = &config.librarian;
    let mut settings = LibrarianSettings {
        graph: config.graph.enabled,
        web: knowledge::build_web_search(config)?,
        ..LibrarianSettings::default()
    };
    if given.enabled {
        let days = u64::from(given.inquiry_expiry_days.max(1));
        settings.knowledge = Some(KnowledgeSettings {
            token_budget: given.knowledge_token_budget,
            inquiries: InquirySettings {
                max_pending: given.max_pending_inquiries,
                cooldown_turns: given.inquiry_cooldown_turns,
                expires_after: Duration::from_hours(24 * days),
            },
        });
        let (reader, fetch) = knowledge::build_reader(config)?;
        let workspace = workspace.to_owned();
        let places = Arc::new(places);
        settings.documents = Some(DocumentSettings { reader, fetch, workspace, places });
    }
    Ok(settings)
}

/// Returns the skills as the librarian lists them. They belong to the operator, and the agents'
/// crates do not know each other.
fn build_skill_sources(
    config: &Config,
    home: &Home,
    operator: &OperatorAgent,
    skills: Skills,
) -> Option<SkillSources> {
    if !config.librarian.enabled {
        return None;
    }
    let drafts = knowledge::open_drafts(home)
        .inspect_err(|error| tracing::warn!(%error, "the librarian cannot write skills"))
        .ok()?;
    let records = operator.records().clone();
    let usable = move || {
        let listed = |skill: &Arc<lango_operator::Skill>| ListedSkill {
            name: skill.name.clone(),
            description: skill.description.clone(),
            origin: skill.directory.display().to_string(),
            state: if records.is_pinned(skill) { "allowed" } else { "asks at its next use" }
                .to_owned(),
        };
        skills.found.iter().map(listed).collect()
    };
    Some(SkillSources { drafts, usable: Arc::new(usable) })
}
