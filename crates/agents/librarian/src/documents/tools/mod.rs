//! The tools that put documents in and list them, and the handle that they share.

mod ingest;
mod list;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use lango_text::plural;
use lango_tool::{DuplicateTool, ToolError, ToolRegistry};

use super::Ingest;
use ingest::IngestDocuments;
use list::ListDocuments;

/// Skipped files, notes and documents that a result names.
const NAMED: usize = 20;

/// Returns a number with its noun.
fn number(number: u64, one: &str, several: &str) -> String {
    plural(usize::try_from(number).unwrap_or(usize::MAX), one, several)
}

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
