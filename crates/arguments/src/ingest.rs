//! The arguments of `lango ingest` and `lango documents`.

use clap::{Args, Subcommand, ValueEnum};
use lango_librarian::documents::DEFAULT_COLLECTION;

/// The arguments of `lango ingest`.
#[derive(Debug, Args)]
pub struct IngestArguments {
    /// Files, directories and addresses of pages.
    #[arg(value_name = "PATH|URL", required = true)]
    pub sources: Vec<String>,
    /// Collection to keep them in.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_COLLECTION)]
    pub collection: String,
    /// Only say what would happen.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

/// The arguments of a search in documents.
#[derive(Debug, Args)]
pub struct SearchArguments {
    /// A question, or words.
    #[arg(required = true)]
    pub query: Vec<String>,
    /// Only in this collection; may be given several times.
    #[arg(long = "collection", value_name = "NAME")]
    pub collections: Vec<String>,
    /// Maximum number of passages.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub limit: u16,
    /// Search mode; by words and meaning, and through the graph, by default.
    #[arg(long, value_enum)]
    pub mode: Option<SearchMode>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The ways to search documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchMode {
    /// By their words.
    Words,
    /// By their meaning.
    Vectors,
    /// By both.
    Hybrid,
    /// By both, and what is related to that through the graph.
    Graph,
}

#[derive(Debug, Subcommand)]
pub enum DocumentsCommand {
    /// The collections and their documents.
    List {
        /// Only this collection.
        #[arg(long, value_name = "NAME")]
        collection: Option<String>,
        /// Maximum number of documents.
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
    /// Find passages, as an agent would.
    #[command(after_help = "Examples:
  lango documents search how do I undo a change
  lango documents search --mode words 'exit code 3'
  lango documents search --collection work --limit 3 --json budget")]
    Search(SearchArguments),
    /// Make texts that the embedding model has not seen yet found by their meaning.
    ///
    /// Happens by itself, some with each turn, after the model was changed or could not be reached.
    Embed,
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
