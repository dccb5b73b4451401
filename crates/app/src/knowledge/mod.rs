//! What is known, put together from the configuration: the librarian and what it stands on.

mod embedding;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lango_egress::{ClientLimits, GuardedClient};
use lango_librarian::documents::{Fetch, Ingest, Library, ReadLimits, Reader};
use lango_librarian::inquiries::InquirySettings;
use lango_librarian::skills::{Drafts, ListedSkill, SkillShelf};
use lango_librarian::{
    Holdings, InquiryContext, KnowledgeContext, LibrarianAdvisor, LibrarianObserver, Offered,
    WebSearch,
};
use lango_operator::{Records, Skills, skill_places};
use lango_protocol::{AgentName, SessionId, TurnId};
use lango_retrieval::{Retrieval, RetrievalError};
use lango_runtime::{Advisor, ContextSource, ObserverFuture, TurnObserver};
use lango_store::{Database, Journal};
use lango_tool::ToolRegistry;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::failure::Failure;
use crate::home::Home;
use crate::web;

pub(crate) use embedding::{Embedding, embedding, secrets};

/// The agent who keeps what is known.
pub(crate) const LIBRARIAN: &str = "librarian";

/// The librarian's stores, before and after a database is open.
#[derive(Debug, Clone)]
pub(crate) struct Librarian {
    holdings: Holdings,
    library: Library,
    workspace: PathBuf,
}

impl Librarian {
    /// Adds the tools whose stores the configuration has.
    pub(crate) fn register(
        tools: &mut ToolRegistry,
        config: &Config,
        home: &Home,
        workspace: &Path,
        skills: &Skills,
        records: &Records,
    ) -> Result<Self, Failure> {
        let librarian = Self {
            holdings: Holdings::default(),
            library: Library::default(),
            workspace: workspace.to_owned(),
        };
        let enabled = config.librarian.enabled;
        let documents = enabled.then(|| (librarian.library.clone(), workspace.to_owned()));
        let offered = Offered {
            graph: config.graph.enabled,
            knowledge: enabled,
            documents,
            retrieval: embedding(config).ready().is_some(),
            web: web_search(config)?,
            skills: drafts(home)
                .ok()
                .filter(|_| enabled)
                .map(|drafts| shelf(drafts, skills.clone(), records.clone())),
        };
        lango_librarian::register(tools, &librarian.holdings, offered)
            .map_err(|error| Failure::usage(error.to_string()))?;
        Ok(librarian)
    }

    /// From now on everything is kept in this database.
    pub(crate) async fn connect(
        &self,
        config: &Config,
        database: Database,
    ) -> Result<Retrieval, Failure> {
        let retrieval = open(config, database.clone()).await?;
        self.holdings.connect(database, retrieval.clone(), inquiry_settings(config)).await?;
        let ingest = ingest(config, retrieval.clone())?.within(&self.workspace)?;
        self.library.connect(ingest);
        Ok(retrieval)
    }

    /// What it puts into prompts.
    pub(crate) fn context(&self, config: &Config) -> Vec<Box<dyn ContextSource>> {
        if !config.librarian.enabled {
            return Vec::new();
        }
        let tokens = config.librarian.knowledge_token_budget;
        let mut sources: Vec<Box<dyn ContextSource>> =
            vec![Box::new(KnowledgeContext::new(self.holdings.clone(), tokens))];
        if let Ok(agent) = LIBRARIAN.parse::<AgentName>() {
            sources.push(Box::new(InquiryContext::new(self.holdings.clone(), agent)));
        }
        sources
    }

    /// What it learns from turns.
    pub(crate) fn observer(
        &self,
        config: &Config,
        journal: &Journal,
    ) -> Option<Arc<dyn TurnObserver>> {
        config.librarian.enabled.then(|| {
            let observer = LibrarianObserver::new(self.holdings.clone(), journal.clone());
            Arc::new(observer) as Arc<dyn TurnObserver>
        })
    }

    /// Keeps vectors complete after the embedding model changed, or while it did not answer.
    pub(crate) fn upkeep(retrieval: Retrieval) -> Arc<dyn TurnObserver> {
        Arc::new(Upkeep { retrieval, complete: AtomicBool::new(false) })
    }

    /// What it knows about failures.
    pub(crate) fn advisor(&self, config: &Config) -> Option<Arc<dyn Advisor>> {
        let enabled = config.librarian.enabled;
        enabled.then(|| Arc::new(LibrarianAdvisor(self.holdings.clone())) as Arc<dyn Advisor>)
    }
}

/// Passages that are embedded after a turn, where some are missing: a second or two of work.
const EMBEDDED_AFTER_A_TURN: u64 = 64;

struct Upkeep {
    retrieval: Retrieval,
    /// Nothing was missing when it was last looked at. What is put in later has its vectors, unless
    /// the model does not answer, which the next process makes up for.
    complete: AtomicBool,
}

impl TurnObserver for Upkeep {
    fn finished<'a>(&'a self, _: &'a SessionId, _: TurnId) -> ObserverFuture<'a> {
        Box::pin(async move {
            let told = |error: RetrievalError| error.to_string();
            if self.complete.load(Ordering::Relaxed) {
                return Ok(());
            }
            if self.retrieval.missing_vectors().await.map_err(told)? == 0 {
                self.complete.store(true, Ordering::Relaxed);
                return Ok(());
            }
            let never = CancellationToken::new();
            let made = self.retrieval.embed_missing(EMBEDDED_AFTER_A_TURN, &never, |_| {}).await;
            made.map(drop).map_err(told)
        })
    }
}

/// Opens the index of a database, with the embedder of the configuration.
pub(crate) async fn open(config: &Config, database: Database) -> Result<Retrieval, Failure> {
    Retrieval::open(database, embedding(config).ready()).await.map_err(failed)
}

/// How files and pages are read.
pub(crate) fn ingest(config: &Config, retrieval: Retrieval) -> Result<Ingest, Failure> {
    let limits = ReadLimits { max_file_bytes: config.librarian.max_file_bytes };
    let reader = Reader::of_this_program(limits)?;
    let fetch = Fetch::new(web::guard(config, LIBRARIAN)?, limits);
    Ok(Ingest::new(retrieval, reader, Some(fetch)))
}

pub(crate) fn inquiry_settings(config: &Config) -> InquirySettings {
    let days = u64::from(config.librarian.inquiry_expiry_days.max(1));
    InquirySettings {
        max_pending: config.librarian.max_pending_inquiries,
        cooldown_turns: config.librarian.inquiry_cooldown_turns,
        expires_after: Duration::from_hours(24 * days),
    }
}

/// Where the librarian's drafts wait, and the user's own skills.
pub(crate) fn drafts(home: &Home) -> Result<Drafts, Failure> {
    let user = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let own = skill_places(user, None)
        .into_iter()
        .next()
        .ok_or_else(|| Failure::usage("there is no home directory for skills: set HOME"))?;
    Ok(Drafts { pending: home.data.join("skill-drafts"), own })
}

fn shelf(drafts: Drafts, skills: Skills, records: Records) -> SkillShelf {
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
    SkillShelf { drafts, usable: Arc::new(usable) }
}

fn web_search(config: &Config) -> Result<Option<WebSearch>, Failure> {
    let Some(url) = &config.search.url else { return Ok(None) };
    // Whoever names a server here wants it to be reached, wherever it is.
    let guard = web::guard_with(config, LIBRARIAN, url)?;
    let client = GuardedClient::new(guard, ClientLimits::default());
    let search = WebSearch::new(url, client).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Some(search))
}

/// A failure of the index as one of the program.
pub(crate) fn failed(error: RetrievalError) -> Failure {
    match error {
        RetrievalError::Store(error) => error.into(),
        RetrievalError::Embed(error) => Failure::provider(error.to_string()),
        error @ RetrievalError::NoEmbedder => Failure::usage(error.to_string()),
    }
}
