//! Implements `rag_list`, which lists collections and documents.

use lango_protocol::{CallReport, OwnerStore};
use lango_retrieval::{EntryKind, RetrievalError};
use lango_text::{code_span, to_one_line};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MAX_LISTED_COUNT, number_with_noun};
use crate::documents::Ingester;
use crate::reporting::{MAX_NAME_CHARACTERS, MAX_REMARK_CHARACTERS};

/// Lists the collections and the first documents.
pub(super) struct ListDocuments {
    pub(super) ingest: Ingester,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {}

#[derive(Serialize)]
pub(super) struct ListResult {
    collections: Vec<CollectionView>,
    /// The first documents of all collections.
    documents: Vec<DocumentView>,
    /// True if there are more documents.
    more: bool,
}

#[derive(Serialize)]
struct CollectionView {
    collection: String,
    documents: u64,
    passages: u64,
    /// Whose collection it is, if it is of another space than the turn's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
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

    async fn run(&self, _: ListArguments, context: ToolContext) -> Result<ListResult, ToolError> {
        let failed = |error: RetrievalError| ToolError::Failed(error.to_string());
        let most = u32::try_from(MAX_LISTED_COUNT).unwrap_or(u32::MAX);
        let (mut collections, mut found) = (Vec::new(), Vec::new());
        for space in context.space.readable(OwnerStore::Documents) {
            let retrieval = self.ingest.index().in_space(&space);
            let sizes = retrieval.list_collections(EntryKind::Documents).await.map_err(failed)?;
            collections.extend(sizes.into_iter().map(|size| CollectionView {
                collection: size.collection,
                documents: size.entries,
                passages: size.passages,
                from: context.space.origin_of(&space),
            }));
            let entries = retrieval.list_entries(EntryKind::Documents, None, None, most + 1);
            found.extend(entries.await.map_err(failed)?);
        }
        let more = found.len() > MAX_LISTED_COUNT;
        Ok(ListResult {
            collections,
            documents: found
                .into_iter()
                .take(MAX_LISTED_COUNT)
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

    fn describe(&self, _: &ListArguments) -> Option<String> {
        Some("Listing the documents".to_owned())
    }

    fn report(&self, _: &ListArguments, result: &ListResult) -> Option<CallReport> {
        if result.collections.is_empty() {
            return Some(CallReport::new("There are no documents yet.").data(result));
        }
        let sizes: Vec<String> = result.collections.iter().map(CollectionView::size).collect();
        let lines: Vec<String> = result.documents.iter().map(DocumentView::line).collect();
        let report = CallReport::new(format!("{}:", sizes.join("; "))).markdown(lines.join("\n"));
        let report = if result.more {
            report.note("(There are more documents than these.)")
        } else {
            report
        };
        Some(report.data(result))
    }
}

impl CollectionView {
    fn size(&self) -> String {
        let documents = number_with_noun(self.documents, "document", "documents");
        let passages = number_with_noun(self.passages, "passage", "passages");
        let from = self.from.as_deref().map_or_else(String::new, |from| format!(" of {from}"));
        format!("{documents} with {passages} in {}{from}", code_span(&self.collection))
    }
}

impl DocumentView {
    fn line(&self) -> String {
        let title = to_one_line(&self.title, MAX_NAME_CHARACTERS);
        format!("- {title} ({})", to_one_line(&self.source, MAX_REMARK_CHARACTERS))
    }
}
