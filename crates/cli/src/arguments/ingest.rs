//! What `lango ingest` and `lango documents` take.

use clap::{Args, Subcommand};
use lango_librarian::documents::DEFAULT_COLLECTION;

/// What `ingest` takes.
#[derive(Debug, Args)]
pub(crate) struct IngestArguments {
    /// Files, directories and addresses of pages.
    #[arg(value_name = "PATH|URL", required = true)]
    pub(crate) sources: Vec<String>,
    /// Where to keep them.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_COLLECTION)]
    pub(crate) collection: String,
    /// Only say what would happen.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DocumentsCommand {
    /// The collections and their documents.
    List {
        /// Only this collection.
        #[arg(long, value_name = "NAME")]
        collection: Option<String>,
        /// How many documents.
        #[arg(long, default_value_t = 100)]
        limit: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// The passages of a document, as they are found.
    Show {
        /// Its path or address.
        source: String,
        /// The collection, where several have it.
        #[arg(long, value_name = "NAME")]
        collection: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Take documents out. The files stay as they are.
    #[command(after_help = "Examples:
  lango documents remove docs/old.md
  lango documents remove docs             everything that was read below it
  lango documents remove --collection work --all")]
    Remove {
        /// Paths of files or directories, or addresses.
        #[arg(value_name = "PATH|URL", required_unless_present = "all")]
        sources: Vec<String>,
        /// Only from this collection.
        #[arg(long, value_name = "NAME")]
        collection: Option<String>,
        /// All documents of the collection.
        #[arg(long, requires = "collection", conflicts_with = "sources")]
        all: bool,
    },
}
