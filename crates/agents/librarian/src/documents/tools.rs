//! `rag_ingest` and `rag_list`: what an agent can do with documents besides finding them.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use lango_retrieval::Space;
use lango_tool::{DuplicateTool, SafetyLevel, Tool, ToolContext, ToolError, ToolRegistry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DEFAULT_COLLECTION, Ingest, Report, Source, check_collection};

/// Skipped files, notes and documents that a result names.
const NAMED: usize = 20;

/// The handle that the tools share. They are made before a database is open; until
/// [`Library::connect`] is called they say that there is none.
#[derive(Clone, Default)]
pub struct Library {
    ingest: Arc<OnceLock<Ingest>>,
}

impl Library {
    /// From now on documents are kept here.
    pub fn connect(&self, ingest: Ingest) {
        // A second one is the same database.
        let _ = self.ingest.set(ingest);
    }

    fn ingest(&self) -> Result<&Ingest, ToolError> {
        self.ingest.get().ok_or_else(|| {
            ToolError::Failed("the librarian has no database yet; nothing was done".to_owned())
        })
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("open", &self.ingest.get().is_some()).finish()
    }
}

/// Adds the tools that put documents in and list them. Files are read in `workspace` alone.
pub fn register(
    registry: &mut ToolRegistry,
    library: &Library,
    workspace: PathBuf,
) -> Result<(), DuplicateTool> {
    registry.add(IngestDocuments { library: library.clone(), workspace })?;
    registry.add(ListDocuments { library: library.clone() })
}

struct IngestDocuments {
    library: Library,
    workspace: PathBuf,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct IngestArguments {
    /// A file or directory in the workspace. Give this or `url`.
    #[serde(default)]
    path: Option<String>,
    /// The address of a page or a PDF on the web, http or https. Give this or `path`.
    #[serde(default)]
    url: Option<String>,
    /// Where to keep it; `documents` by default.
    #[serde(default)]
    collection: Option<String>,
}

#[derive(Serialize)]
struct IngestResult {
    collection: String,
    documents: u64,
    added: u64,
    replaced: u64,
    unchanged: u64,
    removed: usize,
    passages: u64,
    skipped: Vec<SkippedView>,
    /// Those that `skipped` has no room for.
    #[serde(skip_serializing_if = "is_zero")]
    more_skipped: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct SkippedView {
    source: String,
    why: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl IngestResult {
    fn new(collection: String, report: &Report) -> Self {
        let more_skipped = report.skipped.len().saturating_sub(NAMED);
        let skipped = report.skipped.iter().take(NAMED);
        Self {
            collection,
            documents: report.documents(),
            added: report.added,
            replaced: report.replaced,
            unchanged: report.unchanged,
            removed: report.removed.len(),
            passages: report.passages,
            skipped: skipped
                .map(|one| SkippedView { source: one.source.clone(), why: one.reason.to_string() })
                .collect(),
            more_skipped,
            notes: report
                .notes
                .iter()
                .take(NAMED)
                .map(|one| format!("{}: {}", one.source, one.note))
                .collect(),
        }
    }
}

impl Tool for IngestDocuments {
    type Arguments = IngestArguments;
    type Output = IngestResult;
    const NAME: &'static str = "rag_ingest";
    const DESCRIPTION: &'static str = "Reads a file, a directory or a web page into the document \
        collection, so that rag_retrieve finds it: text, Markdown, HTML, PDF, source code, DOCX. What \
        is unchanged is left alone.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: IngestArguments,
        context: ToolContext,
    ) -> Result<IngestResult, ToolError> {
        let source = match (arguments.path, arguments.url) {
            (Some(path), None) if !path.trim().is_empty() => Source::Path(PathBuf::from(path)),
            (None, Some(url)) => {
                Source::page(&url).map_err(|error| ToolError::Arguments(error.to_string()))?
            }
            _ => return Err(ToolError::Arguments("give either path or url".to_owned())),
        };
        let collection = arguments.collection.unwrap_or_else(|| DEFAULT_COLLECTION.to_owned());
        check_collection(&collection).map_err(|error| ToolError::Arguments(error.to_string()))?;
        let ingest =
            self.library.ingest()?.clone().within(&self.workspace).map_err(|error| {
                ToolError::Failed(format!("the workspace cannot be read: {error}"))
            })?;
        let ran = ingest.run(&[source], &collection, false, &mut |_| {}, &context.cancel).await;
        let report = ran.map_err(|error| ToolError::Failed(error.to_string()))?;
        if report.cancelled {
            return Err(ToolError::Cancelled);
        }
        match report.skipped.first() {
            Some(only) if report.failed() && report.skipped.len() == 1 => {
                let text = format!("{}: {}", only.source, only.reason);
                Err(match only.reason {
                    super::Unreadable::Outside => ToolError::Forbidden(text),
                    _ => ToolError::Failed(text),
                })
            }
            _ => Ok(IngestResult::new(collection, &report)),
        }
    }
}

struct ListDocuments {
    library: Library,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArguments {}

#[derive(Serialize)]
struct ListResult {
    collections: Vec<CollectionView>,
    /// The first documents of all collections.
    documents: Vec<DocumentView>,
    /// Whether there are more documents than that.
    more: bool,
}

#[derive(Serialize)]
struct CollectionView {
    collection: String,
    documents: u64,
    passages: u64,
}

#[derive(Serialize)]
struct DocumentView {
    collection: String,
    source: String,
    title: String,
    passages: u64,
}

impl Tool for ListDocuments {
    type Arguments = ListArguments;
    type Output = ListResult;
    const NAME: &'static str = "rag_list";
    const DESCRIPTION: &'static str =
        "Lists the document collections, how much they hold, and the first documents.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: ListArguments, _: ToolContext) -> Result<ListResult, ToolError> {
        let failed = |error: lango_retrieval::RetrievalError| ToolError::Failed(error.to_string());
        let retrieval = self.library.ingest()?.retrieval();
        let collections = retrieval.collections(Space::Documents).await.map_err(failed)?;
        let most = u32::try_from(NAMED).unwrap_or(u32::MAX);
        let found =
            retrieval.entries(Space::Documents, None, None, most + 1).await.map_err(failed)?;
        let more = found.len() > NAMED;
        Ok(ListResult {
            collections: collections
                .into_iter()
                .map(|size| CollectionView {
                    collection: size.collection,
                    documents: size.entries,
                    passages: size.passages,
                })
                .collect(),
            documents: found
                .into_iter()
                .take(NAMED)
                .map(|entry| DocumentView {
                    collection: entry.key.collection,
                    source: entry.source,
                    title: entry.title,
                    passages: entry.passages,
                })
                .collect(),
            more,
        })
    }
}
