//! The arguments of `lango serve` and `lango serve callers`.

use std::net::IpAddr;

use clap::{Args, Subcommand};
use lango_protocol::{AgentName, Caller, OwnerStore};
use lango_server::EndpointKind;

use crate::TeamArguments;

/// The arguments of `lango serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// The address to listen on; 127.0.0.1, which only this machine reaches, unless configured.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub host: Option<IpAddr>,
    /// The port; 8787 unless configured, 0 for any that is free.
    #[arg(long)]
    pub port: Option<u16>,
    /// Let everybody on this machine in, as you. Not with an address that others reach.
    #[arg(long, conflicts_with = "new_token")]
    pub no_auth: bool,
    /// Make a new token for yourself; the former one is no longer valid.
    #[arg(long)]
    pub new_token: bool,
    /// The agents that callers reach, with commas between; all of them unless configured.
    #[arg(long, value_name = "AGENTS", value_delimiter = ',')]
    pub expose: Vec<AgentName>,
    /// Agents whose tools programs that speak MCP may call themselves, with commas between.
    #[arg(long, value_name = "AGENTS", value_delimiter = ',')]
    pub tools: Vec<AgentName>,
    #[command(flatten)]
    pub team: TeamArguments,
}

/// The arguments of `lango mcp serve`.
#[derive(Debug, Args)]
pub struct McpServeArguments {
    /// Agents whose tools the client may call itself, with commas between.
    #[arg(long, value_name = "AGENTS", value_delimiter = ',')]
    pub tools: Vec<AgentName>,
    #[command(flatten)]
    pub team: TeamArguments,
}

fn parse_address(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(IpAddr::from([127, 0, 0, 1])),
        other => other.parse().map_err(|_| {
            "use an address of this machine, such as 127.0.0.1, or localhost".to_owned()
        }),
    }
}

#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Manage API clients.
    #[command(after_help = "Examples:
  lango serve callers add laptop                       all that the server exposes
  lango serve callers add wiki --agents librarian      this agent alone
  lango serve callers add ide --endpoints mcp          through this API alone
  lango serve callers list
  lango serve callers remove wiki                      at once, also while the server runs

A token is printed once; what is kept is its SHA-256.")]
    Callers {
        #[command(subcommand)]
        command: CallersCommand,
    },
}

#[derive(Debug, Subcommand)]
pub enum CallersCommand {
    /// Add an API client. Prints its token, once.
    Add {
        /// A name for them, in lower case.
        name: Caller,
        /// The agents that they reach, with commas between; all that the server exposes otherwise.
        #[arg(long, value_delimiter = ',')]
        agents: Vec<AgentName>,
        /// The APIs that they may use: a2a, openai, mcp; all otherwise.
        #[arg(long, value_delimiter = ',')]
        endpoints: Vec<EndpointKind>,
        /// What they may read of yours besides what they stored: knowledge, memories, documents;
        /// nothing otherwise.
        #[arg(long, value_name = "STORES", value_delimiter = ',')]
        reads_owner: Vec<OwnerStore>,
    },
    /// Set what an API client may read of yours besides what it stored; nothing without names.
    #[command(after_help = "Examples:
  lango serve callers share wiki knowledge documents
  lango serve callers share wiki                        nothing any more")]
    Share {
        /// Their name.
        name: Caller,
        /// knowledge, memories or documents.
        stores: Vec<OwnerStore>,
    },
    /// List the API clients, and what they reach.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove an API client: its token is no longer valid, and its turns and streams end.
    Remove {
        /// Their name.
        name: Caller,
    },
    /// Delete what an API client stored: knowledge, lessons, relations, documents, memories.
    #[command(after_help = "Examples:
  lango serve callers erase wiki

It cannot be undone. Its conversations stay; a client that still has a token begins anew.")]
    Erase {
        /// Their name.
        name: Caller,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
}
