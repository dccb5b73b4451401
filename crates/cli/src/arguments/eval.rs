//! What `lango eval` takes.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// How well texts are found, on questions whose answers are known.
    #[command(after_help = "Examples:
  lango eval retrieval bench/retrieval
  lango eval retrieval ~/beir/scifact --json

DIR has corpus.jsonl, queries.jsonl and qrels/*.tsv, as BEIR collections do; of the qrels, test.tsv
alone counts where it is there. Nothing of yours is read or changed: the collection is kept in a
temporary database. The embedding model is that of the configuration.")]
    Retrieval {
        /// The collection.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
