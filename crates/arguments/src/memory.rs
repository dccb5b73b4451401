//! The arguments of `lango memory`.

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// List what is remembered.
    #[command(after_help = "Examples:
  lango memory list
  lango memory list --all      with what was superseded
  lango memory list --json")]
    List {
        /// Superseded ones too.
        #[arg(long)]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// One memory, with where it comes from and what it took the place of.
    #[command(after_help = "Examples:
  lango memory show m_3f2k9p")]
    Show {
        /// Its id.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Put other words in its place; the old ones are kept as superseded.
    #[command(after_help = "Examples:
  lango memory edit m_3f2k9p \"I live in Basel\"")]
    Edit {
        /// Its id.
        id: String,
        /// The new text.
        text: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Forget it for good: memory, index, and its words in past conversations.
    #[command(after_help = "Examples:
  lango memory forget m_3f2k9p

It cannot be undone. What it had taken the place of goes too.")]
    Forget {
        /// Its id.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Everything: memories, observations, reflections.
    #[command(after_help = "Examples:
  lango memory export > memory.json
  lango memory export --format markdown")]
    Export {
        /// json or markdown.
        #[arg(long, value_name = "FORMAT", default_value = "json")]
        format: MemoryFormat,
    },
    /// Note and observe what was said, now and without a model.
    #[command(after_help = "Examples:
  lango memory observe            all conversations with enough news
  lango memory observe work       this one, however little was said")]
    Observe {
        /// The conversation, by its id or the beginning of it.
        session: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MemoryFormat {
    Json,
    Markdown,
}
