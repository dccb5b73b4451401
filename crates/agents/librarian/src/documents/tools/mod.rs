//! Defines the tools that ingest and list documents.

mod ingest;
mod list;

use std::path::PathBuf;
use std::sync::Arc;

use lango_keystore::SecretHandles;
use lango_places::Places;
use lango_text::plural;
use lango_tool::RegisteredTool;

use super::Ingester;
use ingest::IngestDocuments;
use list::ListDocuments;

/// Limits the skipped files, notes and documents in one result.
const MAX_LISTED_COUNT: usize = 20;

/// Returns a number with its noun.
fn number_with_noun(number: u64, one: &str, several: &str) -> String {
    plural(usize::try_from(number).unwrap_or(usize::MAX), one, several)
}

/// Returns the tools that ingest and list documents. Files are read in `workspace` only, and not in
/// its hidden places.
pub fn build_document_tools(
    ingest: &Ingester,
    workspace: PathBuf,
    places: Arc<Places>,
    handles: SecretHandles,
) -> Vec<RegisteredTool> {
    let ingest_documents = IngestDocuments { ingest: ingest.clone(), workspace, places, handles };
    vec![
        RegisteredTool::new(ingest_documents),
        RegisteredTool::new(ListDocuments { ingest: ingest.clone() }),
    ]
}
