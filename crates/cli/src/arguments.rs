//! The command line. Help texts are the reference: each command has examples.

mod eval;
mod graph;
mod ingest;
mod knowledge;
mod memory;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use lango_protocol::SessionId;

pub(crate) use eval::EvalCommand;
pub(crate) use graph::{
    ExportFormat, GraphCommand, QueryArguments as GraphQueryArguments, Relation,
};
pub(crate) use ingest::{DocumentsCommand, IngestArguments, SearchArguments, SearchMode};
pub(crate) use knowledge::{CategoryName, KnowledgeCommand};
pub(crate) use memory::{MemoryCommand, MemoryFormat};

/// A team of agents on your own machine, with a runtime that keeps the promises.
#[derive(Debug, Parser)]
#[command(name = "lango", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Examples:
  lango demo                                   see a whole turn, without a key
  lango run \"how many lines has README.md?\"    one question, one answer
  git diff | lango run \"review this\"           standard input goes along
  lango chat --last                            go on with the last conversation
  lango agents list                            who can do what
  lango doctor                                 what is set up, and what is not

Exit codes: 0 answered, 1 the turn failed, 2 wrong usage or configuration, 3 an approval was needed
and not given, 4 the model provider failed, 5 a budget ended the turn, 130/143 interrupted.")]
pub(crate) struct Arguments {
    /// Configuration file to use instead of the usual one.
    #[arg(long, global = true, value_name = "FILE", env = "LANGO_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Ask once and print the answer.
    #[command(after_help = "Examples:
  lango run \"summarise the TODOs in src\"
  cat error.log | lango run \"what went wrong?\"
  lango run --last \"and now fix it\" --approve ask
  lango run --model anthropic/claude-sonnet-5-5 \"what is this?\" --image shot.png
  lango run --output-format stream-json \"list the files\" | jq -r .type
  lango run --model script:conversation.toml \"hello\"")]
    Run(RunArguments),
    /// Talk, line by line.
    #[command(after_help = "Examples:
  lango chat
  lango chat --session work

In the chat: /help, /new, /session, /quit. Ctrl-C stops the turn; at the prompt it leaves.")]
    Chat(ChatArguments),
    /// Go on with a turn that was interrupted.
    #[command(after_help = "Examples:
  lango resume            list what can be resumed, or resume it if there is only one
  lango resume --last     the newest one
  lango resume work       the one of this session")]
    Resume(ResumeArguments),
    /// Run a whole turn with a scripted model: no key, no configuration, real tools.
    Demo(DemoArguments),
    /// Who is in the team, and who owns which tool.
    Agents {
        #[command(subcommand)]
        command: AgentsCommand,
    },
    /// The tools and their owners.
    Tools {
        #[command(subcommand)]
        command: ToolsCommand,
    },
    /// What an agent's model is told.
    Prompt {
        #[command(subcommand)]
        command: PromptCommand,
    },
    /// Conversations.
    Sessions {
        #[command(subcommand)]
        command: SessionsCommand,
    },
    /// What was saved as known, in versions.
    Knowledge {
        #[command(subcommand)]
        command: KnowledgeCommand,
    },
    /// How things relate, with where each relation came from and when it held.
    Graph {
        #[command(subcommand)]
        command: GraphCommand,
    },
    /// Read files, directories and web pages, so that they are found again.
    #[command(after_help = "Examples:
  lango ingest docs                            a directory; again, and only changes are read
  lango ingest manual.pdf notes.docx --collection work
  lango ingest https://example.org/guide.html
  lango ingest src --dry-run                   only say what would happen

Text, Markdown, HTML, PDF, DOCX and source code are read, up to 32 MiB each. In directories, hidden
files and what .gitignore names are left out, and links are not followed. Of a directory, documents
go when their files have gone. An ingest that was stopped goes on with the same command.")]
    Ingest(IngestArguments),
    /// What is remembered about you.
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
    },
    /// What was ingested.
    #[command(after_help = "Examples:
  lango documents list
  lango documents show docs/guide.md
  lango documents remove docs")]
    Documents {
        #[command(subcommand)]
        command: DocumentsCommand,
    },
    /// What the operator was taught: directories with a SKILL.md.
    Skills {
        #[command(subcommand)]
        command: SkillsCommand,
    },
    /// Let a directory bring skills of its own.
    #[command(after_help = "Examples:
  lango trust              this directory
  lango trust --revoke     not any more
  lango trust --list")]
    Trust(TrustArguments),
    /// Commands that run in the background.
    Ps {
        /// Those that have ended too, for seven days.
        #[arg(long, short)]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Take back what a turn changed in files.
    #[command(after_help = "Examples:
  lango undo              what the last turn changed in this directory
  lango undo --dry-run    only say what would happen
  lango undo --list       the turns that changed files, for 30 days
  lango undo TURN

What somebody changed since is left alone. Changes made by commands are not known and stay.")]
    Undo(UndoArguments),
    /// What waits for an answer, and what is allowed without one.
    #[command(after_help = "Examples:
  lango approvals list                          questions that wait, and the rules
  lango approvals show 7f3                      one question or rule, whole
  lango approvals approve 7f3                   once; with --always, from now on
  lango approvals add allow -- cargo test '*'   a rule for the operator's commands here
  lango approvals add deny --tool 'browser_*'   a rule for tools
  lango approvals revoke 1c9e04ab               take a rule away
  lango approvals explain \"ls | sh\"            what would happen, and why

A rule is compared with every part of a parsed command, never with its text. Deny wins over ask, ask
over allow; what no rule decides, approvals.policy does.")]
    Approvals {
        #[command(subcommand)]
        command: ApprovalsCommand,
    },
    /// The models that can be used.
    Models {
        #[command(subcommand)]
        command: ModelsCommand,
    },
    /// What the models cost.
    #[command(after_help = "Examples:
  lango usage                     the last 30 days, by model
  lango usage --by agent --days 1
  lango usage --last --by turn    the last conversation, turn by turn

Prices come from a table; add or correct one, in dollars for a million tokens:
  lango config set 'models.\"my-model\".inputPrice' 0.25
  lango config set 'models.\"my-model\".outputPrice' 2")]
    Usage(UsageArguments),
    /// How good it is, measured.
    Eval {
        #[command(subcommand)]
        command: EvalCommand,
    },
    /// The configuration.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Check what is set up.
    #[command(after_help = "Examples:
  lango doctor
  lango doctor --deep     also reads everything that is kept, and says what does not agree")]
    Doctor {
        /// Read everything that is kept, too: whether texts, indexes and journal agree.
        #[arg(long)]
        deep: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script.
    #[command(after_help = "Examples:
  lango completion bash > ~/.local/share/bash-completion/completions/lango
  lango completion zsh > ~/.zfunc/_lango")]
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// What `run` takes.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The message. `-` stands for standard input, which also goes along when it is piped.
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// A picture that goes along (PNG, JPEG, GIF or WebP); may be given several times.
    #[arg(long = "image", value_name = "FILE")]
    pub(crate) images: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) session: SessionChoice,
    #[command(flatten)]
    pub(crate) team: TeamArguments,
    #[command(flatten)]
    pub(crate) approve: ApproveArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// What `chat` takes.
#[derive(Debug, Args, Default)]
pub(crate) struct ChatArguments {
    #[command(flatten)]
    pub(crate) session: SessionChoice,
    #[command(flatten)]
    pub(crate) team: TeamArguments,
    #[command(flatten)]
    pub(crate) approve: ApproveArguments,
}

/// What `resume` takes.
#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The session.
    pub(crate) session: Option<String>,
    /// The newest unfinished turn.
    #[arg(long, conflicts_with = "session")]
    pub(crate) last: bool,
    #[command(flatten)]
    pub(crate) team: TeamArguments,
    #[command(flatten)]
    pub(crate) approve: ApproveArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// What `demo` takes.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Which conversation.
#[derive(Debug, Args, Default)]
#[group(multiple = false)]
pub(crate) struct SessionChoice {
    /// A conversation, by its id or the beginning of it; made if there is none.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    /// The last conversation.
    #[arg(long)]
    pub(crate) last: bool,
    /// A new conversation (the default).
    #[arg(long)]
    pub(crate) new: bool,
}

/// Which team and model.
#[derive(Debug, Args, Default)]
pub(crate) struct TeamArguments {
    /// `standard`, `compact`, or a directory of AGENT.md files.
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) topology: Option<String>,
    /// PROVIDER/NAME, PROVIDER or NAME, for all agents; script:FILE for a scripted model,
    /// replay:FILE for a recording.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Record what is sent to models and what they answer, without keys, for bug reports.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Hand-overs in one turn.
    #[arg(long, value_name = "N")]
    pub(crate) max_rounds: Option<u32>,
    /// The directory the operator works in; the current one by default.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

/// Who approves dangerous calls.
#[derive(Debug, Args, Default)]
pub(crate) struct ApproveArguments {
    /// ask: a person at the terminal; wait: whoever answers with `lango approvals`; none: deny;
    /// all: allow everything, unseen.
    #[arg(long, value_name = "WHO", default_value = "ask")]
    pub(crate) approve: Approve,
}

/// How results are printed.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// text: the answer; json: one object at the end; stream-json: one event per line.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: OutputFormat,
    /// No progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    #[default]
    Ask,
    Wait,
    None,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    Text,
    Json,
    StreamJson,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// All skills that can be used here, and why others cannot.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// One skill, as JSON.
    Show {
        /// Its name.
        name: String,
    },
    /// Let a skill that the librarian wrote be used.
    #[command(after_help = "Examples:
  lango skills list                    what waits for approval
  lango skills approve release-notes   shows all of it first

It moves to ~/.agents/skills; its first use is asked about like that of any other.")]
    Approve {
        /// Its name.
        name: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
    /// Remove a skill that waits for approval.
    Discard {
        /// Its name.
        name: String,
    },
}

/// What `trust` takes.
#[derive(Debug, Args)]
pub(crate) struct TrustArguments {
    /// The directory; the current one by default.
    pub(crate) directory: Option<PathBuf>,
    /// Trust it no more.
    #[arg(long)]
    pub(crate) revoke: bool,
    /// List the directories that are trusted.
    #[arg(long, conflicts_with_all = ["directory", "revoke"])]
    pub(crate) list: bool,
}

/// What `undo` takes.
#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// The turn, or the beginning of its id; the last one in this workspace by default.
    pub(crate) turn: Option<String>,
    /// List the turns that changed files.
    #[arg(long, conflicts_with = "turn")]
    pub(crate) list: bool,
    /// Only say what would happen.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The workspace; the current directory by default.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// The questions that wait for an answer, and the rules.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// One question or one rule, whole.
    Show {
        /// Its id, or the beginning of it.
        id: String,
    },
    /// Answer a question with yes.
    Approve {
        /// Its id, or the beginning of it.
        id: String,
        /// Allow exactly this from now on.
        #[arg(long)]
        always: bool,
    },
    /// Answer a question with no.
    Deny {
        /// Its id, or the beginning of it.
        id: String,
    },
    /// Store a rule.
    Add(RuleArguments),
    /// Take a stored rule away.
    Revoke {
        /// Its id, or the beginning of it.
        id: String,
    },
    /// What would happen to a command, and why.
    Explain {
        /// The command, as one text.
        command: String,
        /// The directory it would run in; the current one by default.
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// A rule on the command line.
#[derive(Debug, Args)]
pub(crate) struct RuleArguments {
    /// What it does.
    pub(crate) effect: RuleEffect,
    /// The tool; `*` stands for any characters. `exec_*` where only words are given.
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// The agent that calls.
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// The workspace it holds in; the current directory by default, `/` for everywhere.
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<String>,
    /// Take `*` for a plain character.
    #[arg(long)]
    pub(crate) exact: bool,
    /// The words of a command, a path or an address; `*` as the last stands for any more.
    #[arg(last = true)]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleEffect {
    Allow,
    Ask,
    Deny,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// All agents, with capabilities and tools, and the tools nobody owns.
    List(CatalogArguments),
    /// One agent.
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        catalog: CatalogArguments,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// All tools.
    List(CatalogArguments),
}

#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
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
        catalog: CatalogArguments,
    },
}

/// What commands that only look take.
#[derive(Debug, Args)]
pub(crate) struct CatalogArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// `standard`, `compact`, or a directory of AGENT.md files.
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) topology: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// The newest conversations.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// How many.
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
        /// Where to; standard output by default.
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
pub(crate) enum ModelsCommand {
    /// The models of every provider that is set up, or of one.
    #[command(after_help = "Examples:
  lango models list
  lango models list ollama --json")]
    List {
        /// The provider.
        provider: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make real calls and say what works: streaming, tools, parallel tools, images, usage.
    #[command(after_help = "Examples:
  lango models test                         the model that `lango run` would use
  lango models test openai/gpt-5-mini")]
    Test {
        /// PROVIDER/NAME; the one that `lango run` would use when absent.
        model: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// What `usage` takes.
#[derive(Debug, Args)]
pub(crate) struct UsageArguments {
    /// One conversation, by its id or the beginning of it.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The last conversation.
    #[arg(long, conflicts_with = "session")]
    pub(crate) last: bool,
    /// How many days back; a single conversation is shown whole unless this is given.
    #[arg(long, value_name = "N")]
    pub(crate) days: Option<u32>,
    /// What is added up.
    #[arg(long, value_name = "WHAT", default_value = "model")]
    pub(crate) by: UsageBy,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageBy {
    Model,
    Agent,
    Session,
    Turn,
    Call,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
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
    /// Where the files are.
    Path,
    /// The JSON schema of the file.
    Schema,
}
