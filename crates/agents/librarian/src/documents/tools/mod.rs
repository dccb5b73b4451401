//! The tools that put documents in and list them.

mod ingest;
mod list;

use std::path::PathBuf;

use lango_text::plural;
use lango_tool::RegisteredTool;

use super::Ingest;
use ingest::IngestDocuments;
use list::ListDocuments;

/// Skipped files, notes and documents that a result names.
const NAMED: usize = 20;

/// Returns a number with its noun.
fn number(number: u64, one: &str, several: &str) -> String {
    plural(usize::try_from(number).unwrap_or(usize::MAX), one, several)
}

/// Returns the tools that put documents in and list them. Files are read in `workspace` alone.
pub fn document_tools(ingest: &Ingest, workspace: PathBuf) -> Vec<RegisteredTool> {
    vec![
        RegisteredTool::new(IngestDocuments { ingest: ingest.clone(), workspace }),
        RegisteredTool::new(ListDocuments { ingest: ingest.clone() }),
    ]
}
