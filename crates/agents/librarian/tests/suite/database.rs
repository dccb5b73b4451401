//! Holds what the tests of stores share.

use std::sync::Arc;

use lango_librarian::inquiries::InquirySettings;
use lango_librarian::skills::SkillSources;
use lango_librarian::{
    Holdings, KnowledgeSettings, LibrarianAgent, LibrarianResources, LibrarianSettings,
};
use lango_protocol::{CallId, SessionId, Space, SpaceAccess, TurnId};
use lango_retrieval::{EmbedFuture, Embedder, EmbeddingModel, EmbeddingPurpose, RetrievalIndex};
use lango_store::{Database, DatabaseLocation, Journal};
use lango_tool::{ExcludedPaths, ToolContext, ToolError, ToolRegistry};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Runs each function on both engines.
macro_rules! on_both {
    ($($test:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                lango_store::testing::on_sqlite(|at| async move {
                    super::$test(crate::database::open(&at).await).await;
                })
                .await;
            })*
        }
        mod on_postgresql {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                lango_store::testing::on_postgres(|at| async move {
                    super::$test(crate::database::open(&at).await).await;
                })
                .await;
            })*
        }
    };
}
pub(crate) use on_both;

pub(crate) async fn open(location: &DatabaseLocation) -> Database {
    lango_store::testing::open(location).await
}

/// Opens stores without an embedder, which find texts by words only.
pub(crate) async fn holdings(database: &Database) -> Holdings {
    open_holdings(database, None, InquirySettings::default()).await
}

pub(crate) async fn open_holdings(
    database: &Database,
    embedder: Option<Arc<dyn Embedder>>,
    settings: InquirySettings,
) -> Holdings {
    let retrieval = RetrievalIndex::open(database.clone(), embedder).await.unwrap();
    Holdings::open(retrieval, settings).await.unwrap()
}

/// Returns the librarian's tools that need only the database.
pub(crate) async fn tools(holdings: &Holdings, skills: Option<SkillSources>) -> ToolRegistry {
    let settings = LibrarianSettings { skills, ..with_stores() };
    tools_with(holdings, settings).await
}

/// Returns settings with relations and knowledge.
pub(crate) fn with_stores() -> LibrarianSettings {
    let inquiries = InquirySettings::default();
    LibrarianSettings {
        graph: true,
        knowledge: Some(KnowledgeSettings { token_budget: 0, inquiries }),
        ..LibrarianSettings::default()
    }
}

/// Returns the librarian's tools with these settings.
pub(crate) async fn tools_with(holdings: &Holdings, settings: LibrarianSettings) -> ToolRegistry {
    let retrieval = holdings.index().clone();
    let journal = Journal::open(retrieval.database().clone()).await.unwrap();
    let resources = LibrarianResources { journal, retrieval };
    let agent = LibrarianAgent::open(settings, resources).await.unwrap();
    let mut tools = ToolRegistry::new();
    for tool in agent.parts().tools {
        tools.add_registered(tool).unwrap();
    }
    tools
}

/// Opens stores in a new SQLite database, for tests that do not depend on the engine.
pub(crate) async fn new_holdings(directory: &std::path::Path) -> Holdings {
    let location = DatabaseLocation::Sqlite(directory.join("lango.db"));
    holdings(&open(&location).await).await
}

/// Makes a call as a model does.
pub(crate) async fn call(
    tools: &ToolRegistry,
    tool: &str,
    arguments: Value,
) -> Result<Value, ToolError> {
    call_as(tools, &SpaceAccess::to(Space::Owner), tool, arguments).await
}

/// Makes a call in a turn of the one whose space it is.
pub(crate) async fn call_as(
    tools: &ToolRegistry,
    space: &SpaceAccess,
    tool: &str,
    arguments: Value,
) -> Result<Value, ToolError> {
    let prepared = tools.get(tool).unwrap().prepare(&arguments.to_string())?;
    let output = prepared.run(ToolContext { space: space.clone(), ..context() }).await?;
    Ok(serde_json::from_str(&output.text).unwrap_or(Value::String(output.text)))
}

/// Returns the context of a call by the librarian, in a new session.
pub(crate) fn context() -> ToolContext {
    ToolContext {
        session: SessionId::generate(),
        turn: TurnId::generate(),
        call: CallId::generate(),
        agent: "librarian".parse().unwrap(),
        space: SpaceAccess::to(Space::Owner),
        cancel: CancellationToken::new(),
        excluded: ExcludedPaths::default(),
    }
}

/// Represents an embedder that only knows that a car is an automobile.
pub(crate) struct Cars(EmbeddingModel);

impl Cars {
    pub(crate) fn embedder() -> Arc<dyn Embedder> {
        Arc::new(Self(EmbeddingModel { name: "test/cars".to_owned() }))
    }
}

impl Embedder for Cars {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }

    fn batch(&self) -> usize {
        8
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> EmbedFuture<'a> {
        let vector = |text: &String| {
            let text = text.to_lowercase();
            let about_cars = ["car", "automobile"].iter().any(|word| text.contains(word));
            if about_cars { vec![1.0, 0.0] } else { vec![0.0, 1.0] }
        };
        let vectors = texts.iter().map(vector).collect();
        Box::pin(async move { Ok(vectors) })
    }
}
