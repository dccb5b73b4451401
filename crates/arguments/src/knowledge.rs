//! The arguments of `lango knowledge`.

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum KnowledgeCommand {
    /// Everything that was saved, by key.
    #[command(after_help = "Examples:
  lango knowledge list
  lango knowledge list --category rule --json")]
    List {
        /// Only knowledge of this kind.
        #[arg(long, value_name = "KIND")]
        category: Option<CategoryName>,
        /// Maximum number to show.
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u32,
        /// Only keys after this one.
        #[arg(long, value_name = "KEY")]
        after: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what is known under a key, with its author and time.
    #[command(after_help = "Examples:
  lango knowledge show \"build command\"
  lango knowledge show \"build command\" --history")]
    Show {
        /// The key.
        key: String,
        /// All versions, the newest first.
        #[arg(long)]
        history: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove a key and all its versions.
    Remove {
        /// The key.
        key: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CategoryName {
    Fact,
    Rule,
    Definition,
    Preference,
    Pattern,
    Correction,
}
