//! The arguments of commands that run a turn.

use std::path::PathBuf;

use clap::Args;
use lango_protocol::SessionId;
use lango_terminal::{ApprovalMode, OutputFormat, OutputOptions};

/// The arguments of `lango run`.
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

/// The arguments of `lango chat`.
#[derive(Debug, Args, Default)]
pub(crate) struct ChatArguments {
    #[command(flatten)]
    pub(crate) session: SessionChoice,
    #[command(flatten)]
    pub(crate) team: TeamArguments,
    #[command(flatten)]
    pub(crate) approve: ApproveArguments,
}

/// The arguments of `lango resume`.
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

/// The arguments of `lango demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Chooses the conversation.
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

/// Chooses the team and the model.
#[derive(Debug, Args, Default)]
pub(crate) struct TeamArguments {
    /// `standard`, `compact`, or a directory of AGENT.md files.
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) topology: Option<String>,
    /// PROVIDER/NAME, PROVIDER or NAME, for all agents; embedded for the embedded model;
    /// script:FILE for a scripted model, replay:FILE for a recording.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Record what is sent to models and what they answer, without keys, for bug reports. Not
    /// with the embedded model.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Transfers in one turn.
    #[arg(long, value_name = "N")]
    pub(crate) max_rounds: Option<u32>,
    /// The directory the operator works in; the current one by default.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

/// Chooses who approves dangerous calls.
#[derive(Debug, Args, Default)]
pub(crate) struct ApproveArguments {
    /// ask: a person at the terminal; wait: an answer with `lango approvals`; none: deny;
    /// all: allow everything, unseen.
    #[arg(long, value_name = "WHO", default_value = "ask")]
    pub(crate) approve: ApprovalMode,
}

/// The formats of output.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// text: the answer; json: one object at the end; stream-json: one event per line.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: OutputFormat,
    /// No progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl From<&OutputArguments> for OutputOptions {
    fn from(arguments: &OutputArguments) -> Self {
        Self { format: arguments.output_format, quiet: arguments.quiet }
    }
}
