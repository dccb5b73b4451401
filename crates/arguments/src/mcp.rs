//! The arguments of `lango mcp`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::serve::McpServeArguments;

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// The servers that are configured, and what is known of them.
    #[command(after_help = "Examples:
  lango mcp list
  lango mcp list --json")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// One server, with its limits and its tools. Nothing is started.
    #[command(after_help = "Examples:
  lango mcp show time")]
    Show {
        /// Its name.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// The tools of a server, as they are known. Nothing is started.
    #[command(after_help = "Examples:
  lango mcp tools time
  lango mcp tools time --json      with descriptions and schemas")]
    Tools {
        /// The server.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// The resources of a server.
    #[command(after_help = "Examples:
  lango mcp resources docs")]
    Resources {
        /// The server.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a resource.
    #[command(after_help = "Examples:
  lango mcp read docs file:///guide.md
  lango mcp read docs file:///guide.md | lango run \"what does it say about limits?\"")]
    Read {
        /// The server.
        name: String,
        /// The resource.
        uri: String,
    },
    /// The prompts of a server.
    #[command(after_help = "Examples:
  lango mcp prompts docs")]
    Prompts {
        /// The server.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a prompt, filled in.
    #[command(after_help = "Examples:
  lango mcp prompt docs review language=Rust
  lango mcp prompt docs review language=Rust | lango run -")]
    Prompt {
        /// The server.
        name: String,
        /// The prompt.
        prompt: String,
        /// Arguments of the prompt or tool.
        #[arg(value_name = "KEY=VALUE")]
        arguments: Vec<String>,
    },
    /// Add a server to the configuration.
    #[command(after_help = "Examples:
  lango mcp add time --agent operator -- uvx mcp-server-time
  lango mcp add files --env LOG=1 -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  lango mcp add docs --url https://example.org/mcp --header 'X-Team: blue'
  lango mcp add hub --url https://example.org/mcp --bearer-token-env-var HUB_TOKEN

Values may hold ${VARIABLE}, which is replaced when the server is used, so that no secret has to be
written down.")]
    Add(McpAddArguments),
    /// Remove a server, what is known of it, and its tokens.
    #[command(after_help = "Examples:
  lango mcp remove time
  lango mcp remove time --files")]
    Remove {
        /// Its name.
        name: String,
        /// Delete the files in its home, too.
        #[arg(long)]
        files: bool,
    },
    /// Take over servers that another program is set up with.
    #[command(after_help = "Examples:
  lango mcp import                     from Claude Code and Desktop, Cursor, VS Code and Codex
  lango mcp import .mcp.json           from a file
  lango mcp import --dry-run           only say what would happen

Servers that are configured already are left as they are. Nothing is started.")]
    Import {
        /// A JSON file with mcpServers, or a TOML file with `mcp_servers`.
        file: Option<PathBuf>,
        /// Only say what would happen.
        #[arg(long)]
        dry_run: bool,
    },
    /// Look at an entry of the project's .mcp.json, or at what a server changed, and agree to it.
    #[command(after_help = "Examples:
  lango mcp approve time               the entry, and everything that changed
  lango mcp approve time convert_time  one tool

An entry of .mcp.json is approved as it is: after any change it waits for approval again.")]
    Approve {
        /// The server.
        name: String,
        /// The tool; all that changed when absent.
        tool: Option<String>,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
    /// Take back the approval of an entry of the project's .mcp.json.
    #[command(after_help = "Examples:
  lango mcp revoke time")]
    Revoke {
        /// The server.
        name: String,
    },
    /// Start a server, and say what it is.
    #[command(after_help = "Examples:
  lango mcp test time")]
    Test {
        /// Its name.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Be a server: let an MCP client talk to the team, over standard input and output.
    #[command(after_help = "Examples:
  lango mcp serve                              a tool `ask`: the whole team
  lango mcp serve --tools operator,librarian   their own tools as well

A client starts it: put this into its configuration.
  {\"mcpServers\": {\"lango\": {\"command\": \"lango\", \"args\": [\"mcp\", \"serve\"]}}}
Calls that need your approval wait for it: lango approvals list. Over HTTP: lango serve.")]
    Serve(McpServeArguments),
    /// Sign in to a server at an address.
    #[command(after_help = "Examples:
  lango mcp login docs
  lango mcp login docs --scope \"files:write\"    beside what was granted before")]
    Login {
        /// Its name.
        name: String,
        /// OAuth scopes to ask for, separated by spaces.
        #[arg(long)]
        scope: Option<String>,
    },
    /// Forget the tokens of a server.
    #[command(after_help = "Examples:
  lango mcp logout docs")]
    Logout {
        /// Its name.
        name: String,
    },
}

/// The arguments of `lango mcp add`.
#[derive(Debug, Args)]
pub struct McpAddArguments {
    /// A name for it: letters, digits, '-' and '_'.
    pub name: String,
    /// The address, for a server that is not a program.
    #[arg(long, conflicts_with = "command")]
    pub url: Option<String>,
    /// A variable of the program's environment.
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A header of every request.
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// The environment variable that holds the token for the address.
    #[arg(long, value_name = "VARIABLE")]
    pub bearer_token_env_var: Option<String>,
    /// The agent that owns its tools.
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Directory that the program runs in.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// The program and its arguments, after `--`.
    #[arg(last = true)]
    pub command: Vec<String>,
}
