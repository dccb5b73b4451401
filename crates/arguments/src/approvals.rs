//! The arguments of commands about permissions, skills and changes.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum ApprovalsCommand {
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
    /// Explain what would happen to a command, and why.
    Explain {
        /// The command, as one text.
        command: String,
        /// The directory it would run in; the current one by default.
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
        /// A right that it would ask for: git, network or write:DIR; may be repeated.
        #[arg(long = "with", value_name = "RIGHT")]
        rights: Vec<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// A rule on the command line.
#[derive(Debug, Args)]
pub struct RuleArguments {
    /// The effect of the rule.
    pub effect: RuleEffect,
    /// The tool; `*` stands for any characters. `exec_*` where only words are given.
    #[arg(long)]
    pub tool: Option<String>,
    /// The agent that calls.
    #[arg(long)]
    pub agent: Option<String>,
    /// The workspace it holds in; the current directory by default, `/` for everywhere.
    #[arg(long, value_name = "DIR")]
    pub directory: Option<String>,
    /// The directory that the command runs in, or one above it; only the workspace itself by
    /// default.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// Take `*` for a plain character.
    #[arg(long)]
    pub exact: bool,
    /// A right of commands beyond the sandbox: git, network or write:DIR; may be repeated. A rule that
    /// allows covers no others, one that denies or asks covers commands that ask for any of them.
    #[arg(long = "with", value_name = "RIGHT")]
    pub rights: Vec<String>,
    /// The words of a command, a path or an address; `*` as the last stands for any more.
    #[arg(last = true)]
    pub words: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuleEffect {
    Allow,
    Ask,
    Deny,
}

/// The arguments of `lango trust`.
#[derive(Debug, Args)]
pub struct TrustArguments {
    /// The directory; the current one by default.
    pub directory: Option<PathBuf>,
    /// Trust it no more.
    #[arg(long)]
    pub revoke: bool,
    /// List the directories that are trusted.
    #[arg(long, conflicts_with_all = ["directory", "revoke"])]
    pub list: bool,
}

#[derive(Debug, Subcommand)]
pub enum SkillsCommand {
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
    /// Let a skill be used that the librarian wrote, or that is too long for a question.
    #[command(after_help = "Examples:
  lango skills list                    what waits for approval
  lango skills approve release-notes   shows all of it first

What the librarian wrote moves to ~/.agents/skills; its first use is asked about like that of any
other. Of other skills, the first use is asked about where a question can show them whole; this shows
any of them, and allows it until something in it changes.")]
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

/// The arguments of `lango undo`.
#[derive(Debug, Args)]
pub struct UndoArguments {
    /// The turn, or the beginning of its id; the last one in this workspace by default.
    pub turn: Option<String>,
    /// List the turns that changed files.
    #[arg(long, conflicts_with = "turn")]
    pub list: bool,
    /// Only say what would happen.
    #[arg(long)]
    pub dry_run: bool,
    /// The workspace; the current directory by default.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
