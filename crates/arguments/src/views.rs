//! The arguments of commands that show things, and of the configuration.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use lango_protocol::SessionId;

#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// List all agents, with capabilities and tools, and the tools without an owner.
    List(TeamViewArguments),
    /// One agent.
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        view: TeamViewArguments,
    },
}

#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// All tools.
    List(TeamViewArguments),
}

#[derive(Debug, Subcommand)]
pub enum PromptCommand {
    /// The instruction, the tools, what is known and remembered, and their size, exactly as the
    /// model gets them.
    #[command(after_help = "Examples:
  lango prompt show lango-orchestrator
  lango prompt show librarian where do we deploy to     with what is known about this message")]
    Show {
        /// The agent; `lango agents list` shows them.
        agent: String,
        /// A message of the user; what is known and remembered is chosen for it.
        message: Vec<String>,
        /// The conversation that the message would belong to; a new one when absent.
        #[arg(long, value_name = "ID")]
        session: Option<SessionId>,
        #[command(flatten)]
        view: TeamViewArguments,
    },
}

/// The arguments of commands that only show the team.
#[derive(Debug, Args)]
pub struct TeamViewArguments {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// `standard`, `compact`, or a directory of AGENT.md files.
    #[arg(long, value_name = "NAME|DIR")]
    pub topology: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// The newest conversations.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Maximum number to show.
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// A conversation as it was.
    Show {
        /// Its id, or the beginning of it.
        id: String,
        /// Print the events as JSON, one array.
        #[arg(long)]
        json: bool,
    },
    /// All events, one JSON object per line.
    Export {
        /// Its id, or the beginning of it.
        id: String,
        /// File to write to; standard output by default.
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Remove a conversation and everything in it.
    Delete {
        /// Its id, or the beginning of it.
        id: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// The models of every provider that is set up, and the embedded model; or of one provider.
    #[command(after_help = "Examples:
  lango models list
  lango models list ollama --json

Nothing is listed of a provider whose key is missing. How to connect one: lango models --help")]
    List {
        /// The provider.
        provider: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Use a server that is found on this machine: ollama, lmstudio or llamacpp.
    #[command(after_help = "Examples:
  lango models accept ollama       use what answers at its usual address, without a question
  lango models revoke ollama

Any program can listen at such an address, so what is found there is used only after you accepted it,
here or in the question of `lango run` and `lango chat`. The addresses that you accepted are shown by:
lango config get model.acceptedServers")]
    Accept {
        /// The provider.
        provider: String,
    },
    /// Use a server on this machine no more, unless it is named.
    Revoke {
        /// The provider.
        provider: String,
    },
    /// Make real calls and say what works: streaming, tools, parallel tools, images, usage.
    #[command(after_help = "Examples:
  lango models test                         the model that `lango run` would use
  lango models test openai/gpt-5-mini
  lango models test embedded                the embedded model

Of the embedded model: CPU time to load it and for a decision (median), memory, and how often it is
right on sixty requests that are part of the program. `partly` is slower, larger or more often wrong
than promised.")]
    Test {
        /// PROVIDER/NAME, or `embedded`; the one that `lango run` would use when absent.
        model: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The arguments of `lango usage`.
#[derive(Debug, Args)]
pub struct UsageArguments {
    /// One conversation, by its id or the beginning of it.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The last conversation.
    #[arg(long, conflicts_with = "session")]
    pub last: bool,
    /// Number of days back; a single conversation is shown whole unless this is given.
    #[arg(long, value_name = "N")]
    pub days: Option<u32>,
    /// Grouping of the sums.
    #[arg(long, value_name = "WHAT", default_value = "model")]
    pub by: UsageGrouping,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UsageGrouping {
    Model,
    Agent,
    Session,
    Turn,
    Call,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// All keys with their values.
    Show {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Also print where each value comes from, and the variable that overrides it.
        #[arg(long)]
        origin: bool,
    },
    /// One value.
    Get {
        /// Such as agent.topology.
        key: String,
    },
    /// Change a value in the file.
    #[command(after_help = "Examples:
  lango config set agent.topology compact
  lango config set providers.local.baseUrl http://127.0.0.1:1234/v1
  lango config set model.provider local")]
    Set {
        /// Such as agent.topology.
        key: String,
        /// TOML, or plain text.
        value: String,
    },
    /// Remove a value or a section from the file, so that its default holds again.
    #[command(after_help = "Examples:
  lango config unset agent.topology
  lango config unset providers.local")]
    Unset {
        /// Such as agent.topology.
        key: String,
    },
    /// Show where the files are.
    Path,
    /// The JSON schema of the file.
    Schema,
}
