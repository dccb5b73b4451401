//! The program's options and its commands.

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

use crate::{
    A2aCommand, AgentsCommand, ApprovalsCommand, AuditArguments, BackupCommand, BgCommand,
    ChatArguments, ConfigCommand, CronCommand, DaemonCommand, DemoArguments, DocumentsCommand,
    EvalCommand, GraphCommand, IngestArguments, KeysCommand, KnowledgeCommand, McpCommand,
    MemoryCommand, ModelsCommand, NotifyCommand, PromptCommand, ResumeArguments, RunArguments,
    SecretsCommand, ServeArguments, ServeCommand, SessionsCommand, SkillsCommand, SpaceArguments,
    ToolsCommand, TrustArguments, UndoArguments, UsageArguments, VaultCommand, WalletCommand,
    WorkerArguments, WorkflowCommand,
};

/// A team of agents on your own machine, with a runtime that keeps the promises.
#[derive(Debug, Parser)]
#[command(name = "lango", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Examples:
  lango demo                                   see a whole turn, played by a script
  lango run \"list the files here\"              without a key the small embedded model answers
  lango \"how many lines has README.md?\"        the same as lango run: one question, one answer
  git diff | lango run \"review this\"           standard input goes along, to a bigger model
  lango chat --last                            go on with the last conversation
  lango agents list                            who can do what
  lango doctor                                 what is set up, and what is not

Exit codes: 0 answered, 1 the turn failed, 2 wrong usage or configuration, 3 an approval was needed
and not given, 4 the model provider failed, 5 a budget ended the turn, 6 it ended with a question,
7 the last call of a tool failed, 8 the last call was without success, such as a command that ended
with an error code, 130/143 interrupted.")]
pub struct Arguments {
    /// Configuration file to use instead of the usual one.
    #[arg(long, global = true, value_name = "FILE", env = "LANGO_CONFIG")]
    pub config: Option<PathBuf>,

    /// Log what the program does on standard error; -vv logs more. `LANGO_LOG` takes a finer filter,
    /// such as `lango_runtime=debug`.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// Print text as it is to a file or a pipe. Otherwise control characters, and others that hide or
    /// reorder text, are written out, such as `\u{1b}`. At a terminal they always are.
    #[arg(long, global = true)]
    pub raw: bool,

    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Ask once and print the answer.
    #[command(after_help = "Examples:
  lango run \"which files mention TODO?\"
  cat error.log | lango run \"what went wrong?\"
  lango run --last \"and now fix it\" --approve ask
  lango run --model anthropic/claude-sonnet-5-5 \"what is this?\" --image shot.png
  lango run --output-format stream-json \"list the files\" | jq -r .type
  lango run --model script:conversation.toml \"hello\"

Without a key or a server here the small embedded model answers (--model embedded). It finds,
reads, writes down and runs what you name; to explain, sum up or write, it needs a bigger one:
lango models --help")]
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
    /// Let programs and other agents talk to the team: A2A, the OpenAI wire, MCP.
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "Examples:
  lango serve                                  for programs on this machine
  lango serve --port 0 --expose librarian      any free port, one agent alone
  lango serve callers add laptop               a token for another client, printed once
  curl http://127.0.0.1:8787/health

Any OpenAI client: base URL http://127.0.0.1:8787/v1, model lango, the token as its key. Calls that
need your approval wait for it: lango approvals list. Ctrl-C ends the server; turns have 10 seconds
to end, and the rest can be gone on with: lango resume."
    )]
    Serve {
        #[command(subcommand)]
        command: Option<ServeCommand>,
        #[command(flatten)]
        arguments: ServeArguments,
    },
    /// Run jobs and background tasks when they are due, until it is stopped.
    #[command(after_help = "Examples:
  lango worker                       the work of all directories, each in its own
  lango worker --workspace ~/notes   the work of one directory

`lango serve` does the same for its own directory, and `lango run` and `lango chat` while they are
open. Calls that need your approval wait for it: lango approvals list.")]
    Worker(WorkerArguments),
    /// A user service that runs `lango worker` in the background.
    #[command(after_help = "Examples:
  lango daemon install           write the unit, and start it where systemd runs
  lango daemon install --print   the unit, and nothing else
  lango daemon status
  lango daemon remove

The service has no keys of your shell: put them into the vault, or into worker.env in the directory of
the configuration (NAME=VALUE lines).")]
    Daemon {
        #[command(subcommand)]
        command: DaemonCommand,
    },
    /// Notifications of the work that runs by itself.
    #[command(after_help = "Examples:
  lango config set automator.channels.desktop.kind desktop
  lango config set automator.notify.failure '[\"desktop\"]'
  lango notify test desktop
  lango notify list --failed")]
    Notify {
        #[command(subcommand)]
        command: NotifyCommand,
    },
    /// Jobs: what runs by itself on a schedule, and reminders.
    #[command(after_help = "Examples:
  lango cron add \"every weekday at 9:00\" \"summarise the new files in inbox/\"
  lango cron add \"tomorrow at noon\" \"call Petra\" --remind
  lango cron list
  lango cron history weather
  lango cron pause weather

Jobs run while `lango worker` or `lango serve` runs, or `lango chat` is open.")]
    Cron {
        #[command(subcommand)]
        command: CronCommand,
        #[command(flatten)]
        space: SpaceArguments,
    },
    /// Background tasks: what the team does while you go on.
    Bg {
        #[command(subcommand)]
        command: BgCommand,
        #[command(flatten)]
        space: SpaceArguments,
    },
    /// Workflows: several steps, with what each needs, that go on after a restart.
    #[command(after_help = "Examples:
  lango workflow validate report.yaml            what is wrong with it, and where
  lango workflow run report.yaml --input folder=reports
  lango workflow status run-3f2a9c               every step of a run
  lango workflow approve run-3f2a9c release      a step that waits for you
  lango workflow graph report.yaml --svg report.svg")]
    Workflow {
        #[command(subcommand)]
        command: WorkflowCommand,
        #[command(flatten)]
        space: SpaceArguments,
    },
    /// Show the team: its agents, and which agent owns which tool.
    Agents {
        #[command(subcommand)]
        command: AgentsCommand,
    },
    /// The tools and their owners.
    Tools {
        #[command(subcommand)]
        command: ToolsCommand,
    },
    /// Show what an agent's model is told.
    Prompt {
        #[command(subcommand)]
        command: PromptCommand,
    },
    /// Conversations.
    Sessions {
        #[command(subcommand)]
        command: SessionsCommand,
    },
    /// Show and change what was saved as known, in versions.
    Knowledge {
        #[command(subcommand)]
        command: KnowledgeCommand,
        #[command(flatten)]
        space: SpaceArguments,
    },
    /// Show and change relations, with the source and the time of each.
    Graph {
        #[command(subcommand)]
        command: GraphCommand,
        #[command(flatten)]
        space: SpaceArguments,
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
    /// Show and change what is remembered about you.
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
        #[command(flatten)]
        space: SpaceArguments,
    },
    /// Show, search and remove what was ingested.
    #[command(after_help = "Examples:
  lango documents list
  lango documents show docs/guide.md
  lango documents remove docs")]
    Documents {
        #[command(subcommand)]
        command: DocumentsCommand,
        #[command(flatten)]
        space: SpaceArguments,
    },
    /// Manage the operator's skills: directories with a SKILL.md.
    Skills {
        #[command(subcommand)]
        command: SkillsCommand,
    },
    /// Let a directory bring skills and MCP servers of its own.
    #[command(after_help = "Examples:
  lango trust              this directory
  lango trust --revoke     not any more
  lango trust --list")]
    Trust(TrustArguments),
    /// Commands that run in the background.
    Ps {
        /// Include commands that have ended, for seven days.
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

What was changed since is left alone. Changes made by commands are not known and stay.")]
    Undo(UndoArguments),
    /// Answer open questions, and manage the rules that decide without one.
    #[command(after_help = "Examples:
  lango approvals list                          questions that wait, and the rules
  lango approvals show 7f3                      one question or rule, whole
  lango approvals approve 7f3                   once; with --always, from now on
  lango approvals add allow -- cargo test '*'   a rule for the operator's commands here
  lango approvals add deny --tool 'browser_*'   a rule for tools
  lango approvals add allow --with git -- git commit '*'   with a right beyond the sandbox
  lango approvals revoke 1c9e04ab               take a rule away
  lango approvals explain \"ls | sh\"            what would happen, and why

A rule is compared with every part of a parsed command, never with its text. Deny wins over ask, ask
over allow; what no rule decides, approvals.policy does.")]
    Approvals {
        #[command(subcommand)]
        command: ApprovalsCommand,
    },
    /// MCP servers: external servers with tools, resources and prompts.
    #[command(after_help = "Examples:
  lango mcp add time --agent operator -- uvx mcp-server-time
  lango mcp add docs --url https://example.org/mcp
  lango mcp import                       from Claude, Cursor, VS Code and Codex
  lango mcp list                         which there are, and what is frozen
  lango mcp test time                    start it, and say what it is
  lango mcp approve time                 look at what changed, and agree to it

A server's tools are pinned when it is first seen. What it changes later is frozen until you look.
Every call of its tools is asked about, unless mcp_servers.NAME.safety or a rule says otherwise.")]
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// Remote agents, reached over A2A.
    #[command(after_help = "Examples:
  lango a2a card https://agent.example.org            who is that?
  lango a2a add weather https://agent.example.org     take it into the team
  lango a2a list
  lango a2a test weather \"Will it rain?\"
  lango a2a approve weather                           its card changed: see how, and decide")]
    A2a {
        #[command(subcommand)]
        command: A2aCommand,
    },
    /// Lock, unlock and protect the vault, which keeps secrets and keys.
    #[command(after_help = "Examples:
  lango vault status                     what protects it, and whether it is unlocked
  lango vault passphrase                 protect it with a passphrase
  lango vault keyring                    let the keyring of the desktop unlock it
  lango vault unlock --for 30            type the passphrase; 30 minutes
  lango vault lock                       for every process, at once
  lango vault rotate                     new keys for everything
  lango vault export vault.age           a backup that needs nothing but its own passphrase

Without a passphrase a key file (vault.key in the data directory, readable by you alone) unlocks it.")]
    Vault {
        #[command(subcommand)]
        command: VaultCommand,
    },
    /// Store, list and delete secrets. No model sees a value.
    #[command(after_help = "Examples:
  lango secrets set github-token                    asks for the value, without showing it
  pass show github | lango secrets set github-token
  lango secrets list
  lango secrets delete github-token")]
    Secrets {
        #[command(subcommand)]
        command: SecretsCommand,
    },
    /// List and create the keys that sign and encrypt.
    #[command(after_help = "Examples:
  lango keys create release-2026                    signs (ed25519)
  lango keys create backups --kind xchacha20        encrypts
  lango keys list")]
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
    },
    /// Show what was done with secrets and keys, and check that nothing of it was changed.
    #[command(after_help = "Examples:
  lango audit                            the last 50 records
  lango audit --limit 500 --json
  lango audit --verify                   check the chain of all records")]
    Audit(AuditArguments),
    /// The models that can be used.
    #[command(after_help = "Examples:
  lango models list                          of every provider that is set up, and the embedded model
  lango models test                          the one that `lango run` would use
  lango models test embedded                 the embedded model, with its figures on this machine

With nothing set up the small embedded model answers (embedded): it puts requests to work, but
cannot chat, write or answer from knowledge. To connect a bigger one:
  export ANTHROPIC_API_KEY=…                 or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY
  export OPENAI_BASE_URL=http://127.0.0.1:1234/v1     any server that speaks OpenAI's wire
  ollama serve                               Ollama, LM Studio and llama.cpp are found on this machine,
                                             and used once you accepted them: lango models accept
  lango config set model.provider NAME       which of several; for one run: --model PROVIDER/NAME")]
    Models {
        #[command(subcommand)]
        command: ModelsCommand,
    },
    /// Show what the models cost.
    #[command(after_help = "Examples:
  lango usage                     the last 30 days, by model
  lango usage --by agent --days 1
  lango usage --last --by turn    the last conversation, turn by turn

Prices come from a table; add or correct one, in dollars for a million tokens:
  lango config set 'models.\"my-model\".inputPrice' 0.25
  lango config set 'models.\"my-model\".outputPrice' 2")]
    Usage(UsageArguments),
    /// Measure how well models and search work.
    Eval {
        #[command(subcommand)]
        command: EvalCommand,
    },
    /// The configuration.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Answer a question about Lango, or show the help of a command.
    #[command(after_help = "Examples:
  lango help \"how do I connect OpenAI?\"
  lango help undo changes
  lango help mcp add")]
    Help {
        /// The question in your own words, or a command.
        words: Vec<String>,
    },
    /// Check what is set up.
    #[command(after_help = "Examples:
  lango doctor
  lango doctor --deep     also reads everything that is kept, and says what is damaged
  lango doctor --repair   rebuilds what can be rebuilt; the damaged files are kept")]
    Doctor {
        /// Read everything that is kept, too: damaged pages and rows, and whether texts, indexes and
        /// journal agree.
        #[arg(long)]
        deep: bool,
        /// Repair a damaged database: rebuild its indexes, or copy what can be read to a new one. End
        /// other programs that use it before.
        #[arg(long, conflicts_with = "deep")]
        repair: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// The wallet that payments in USDC are made from.
    #[command(after_help = "Examples:
  lango wallet create                    a new account, with its key in the vault
  lango wallet balance
  lango wallet history                   looks at the chain first, and says what became of payments
  lango wallet limits
  lango config set payment.network base  real money; the default is a test network

Payments are made by the vault when you ask for one, after you approved it.")]
    Wallet {
        #[command(subcommand)]
        command: WalletCommand,
    },
    /// Make, check and restore backups of the database.
    Backup {
        #[command(subcommand)]
        command: BackupCommand,
    },
    /// Print a completion script.
    #[command(after_help = "Examples:
  lango completion bash > ~/.local/share/bash-completion/completions/lango
  lango completion zsh > ~/.zfunc/_lango")]
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// A text in place of a command. [`Arguments::read`] makes it a text for `lango run`.
    #[command(external_subcommand)]
    Text(Vec<OsString>),
}
