//! Opens the librarian from its settings and resources, and returns the parts that it contributes.

use std::path::PathBuf;
use std::sync::Arc;

use lango_keystore::SecretHandles;
use lango_places::Places;
use lango_protocol::AgentName;
use lango_retrieval::RetrievalIndex;
use lango_runtime::{Advisor, AgentContext, AgentParts, ContextSource, TurnObserver};
use lango_store::Journal;
use lango_tool::{ExcludedPaths, RegisteredTool};

use crate::backfill::EmbeddingBackfill;
use crate::documents::{
    DocumentReader, Ingester, PageFetcher, RetrievePassages, build_document_tools,
};
use crate::graph::tools::{AddRelation, FollowRelations, QueryRelations};
use crate::inquiries::InquirySettings;
use crate::inquiries::tools::{AnswerInquiry, DismissInquiry, PendingInquiries};
use crate::knowledge::tools::{SaveKnowledge, SearchKnowledge};
use crate::learnings::tools::{SaveLearning, SearchLearnings};
use crate::skills::SkillSources;
use crate::skills::tools::{CreateSkill, ListSkills};
use crate::web::{SearchWeb, WebSearchClient};
use crate::{
    Holdings, InquiryContext, KnowledgeContext, LibrarianAdvisor, LibrarianError, LibrarianObserver,
};

/// Names the agent that asks open questions.
pub const LIBRARIAN: &str = "librarian";

/// Names the tool that a team must have to get knowledge in its context.
const CONTEXT_TOOL: &str = "save_knowledge";

/// Selects the librarian's subsystems. A tool without its store is not offered.
#[derive(Debug, Clone, Default)]
pub struct LibrarianSettings {
    /// True if relations are stored.
    pub graph: bool,
    /// Knowledge, lessons and open questions; none if they are switched off.
    pub knowledge: Option<KnowledgeSettings>,
    /// The settings for documents; none if they are switched off.
    pub documents: Option<DocumentSettings>,
    /// A server that searches the web.
    pub web: Option<WebSearchClient>,
    /// The handles of secrets that pages of the web may get.
    pub handles: SecretHandles,
    /// The skills, if a directory for drafts is configured.
    pub skills: Option<SkillSources>,
}

/// Limits the knowledge in a prompt and the questions to the user.
#[derive(Debug, Clone)]
pub struct KnowledgeSettings {
    /// Estimated tokens of knowledge that a prompt gets at most.
    pub token_budget: u64,
    /// The settings for open questions.
    pub inquiries: InquirySettings,
}

/// Configures how documents are read.
#[derive(Debug, Clone)]
pub struct DocumentSettings {
    /// Reads files.
    pub reader: DocumentReader,
    /// Fetches pages.
    pub fetch: PageFetcher,
    /// The directory that the tools read files in, and nowhere else.
    pub workspace: PathBuf,
    /// The places in it that are hidden.
    pub places: Arc<Places>,
}

/// Holds the resources that the librarian needs.
pub struct LibrarianResources {
    /// The journal that turns are read from.
    pub journal: Journal,
    /// The index, whose database the other stores use too.
    pub retrieval: RetrievalIndex,
}

/// The librarian: documents, knowledge, lessons, relations, open questions.
pub struct LibrarianAgent {
    settings: LibrarianSettings,
    holdings: Holdings,
    ingest: Option<(Ingester, PathBuf, Arc<Places>)>,
    journal: Journal,
}

impl LibrarianAgent {
    /// Opens the librarian's stores in the database of the index.
    pub async fn open(
        mut settings: LibrarianSettings,
        resources: LibrarianResources,
    ) -> Result<Self, LibrarianError> {
        let LibrarianResources { journal, retrieval } = resources;
        let knowledge = settings.knowledge.as_ref();
        let inquiries = knowledge.map(|knowledge| knowledge.inquiries).unwrap_or_default();
        let ingest = settings.documents.take().map(|documents| {
            let DocumentSettings { reader, fetch, workspace, places } = documents;
            let unreadable = |error: std::io::Error| LibrarianError::Files {
                what: format!("the workspace {} cannot be read", workspace.display()),
                reason: error.to_string(),
            };
            let ingest = Ingester::new(retrieval.clone(), reader, Some(fetch)).within(
                &workspace,
                Arc::clone(&places),
                ExcludedPaths::default(),
            );
            Ok::<_, LibrarianError>((ingest.map_err(unreadable)?, workspace, places))
        });
        let ingest = ingest.transpose()?;
        let holdings = Holdings::open(retrieval, inquiries).await?;
        Ok(Self { settings, holdings, ingest, journal })
    }

    /// Returns the librarian's contributions to turns. Missing vectors are computed in the
    /// background.
    pub fn parts(&self) -> AgentParts {
        let holdings = || self.holdings.clone();
        let mut parts = AgentParts {
            tools: self.tools(),
            background: vec![Arc::new(EmbeddingBackfill::new(holdings().index().clone()))],
            ..AgentParts::default()
        };
        if let Some(knowledge) = &self.settings.knowledge {
            let context = |source| AgentContext { source, tool_prefix: CONTEXT_TOOL };
            let known: Arc<dyn ContextSource> =
                Arc::new(KnowledgeContext::new(holdings(), knowledge.token_budget));
            parts.context.push(context(known));
            if let Ok(agent) = LIBRARIAN.parse::<AgentName>() {
                parts.context.push(context(Arc::new(InquiryContext::new(holdings(), agent))));
            }
            let observer = LibrarianObserver::new(holdings(), self.journal.clone());
            parts.observers.push(Arc::new(observer) as Arc<dyn TurnObserver>);
            parts.advisor = Some(Arc::new(LibrarianAdvisor(holdings())) as Arc<dyn Advisor>);
        }
        parts
    }

    fn tools(&self) -> Vec<RegisteredTool> {
        let Self { settings, .. } = self;
        let holdings = || self.holdings.clone();
        let mut tools = Vec::new();
        if settings.graph {
            tools.push(RegisteredTool::new(AddRelation::new(holdings())));
            tools.push(RegisteredTool::new(QueryRelations::new(holdings())));
            tools.push(RegisteredTool::new(FollowRelations::new(holdings())));
        }
        if settings.knowledge.is_some() {
            tools.push(RegisteredTool::new(SaveKnowledge(holdings())));
            tools.push(RegisteredTool::new(SearchKnowledge(holdings())));
            tools.push(RegisteredTool::new(SaveLearning(holdings())));
            tools.push(RegisteredTool::new(SearchLearnings(holdings())));
            tools.push(RegisteredTool::new(PendingInquiries(holdings())));
            tools.push(RegisteredTool::new(AnswerInquiry(holdings())));
            tools.push(RegisteredTool::new(DismissInquiry(holdings())));
        }
        if let Some((ingest, workspace, places)) = &self.ingest {
            let handles = settings.handles.clone();
            let places = Arc::clone(places);
            tools.extend(build_document_tools(ingest, workspace.clone(), places, handles));
            if self.holdings.index().embedder().is_some() {
                let (holdings, graph) = (holdings(), settings.graph);
                tools.push(RegisteredTool::new(RetrievePassages { holdings, graph }));
            }
        }
        if let Some(web) = &settings.web {
            tools.push(RegisteredTool::new(SearchWeb(web.clone())));
        }
        if let Some(skills) = &settings.skills {
            tools.push(RegisteredTool::new(CreateSkill(skills.clone())));
            tools.push(RegisteredTool::new(ListSkills(skills.clone())));
        }
        tools
    }
}
