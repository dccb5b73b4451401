//! The arguments of commands that run a turn.

use std::path::PathBuf;

use clap::Args;
use lango_protocol::SessionId;
use lango_terminal::{ApprovalMode, OutputFormat, OutputOptions};

/// The arguments of `lango run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The message. `-` stands for standard input, which also goes along when it is piped.
    #[arg(value_name = "TEXT")]
    pub text: Vec<String>,
    /// A picture that goes along (PNG, JPEG, GIF or WebP); may be given several times.
    #[arg(long = "image", value_name = "FILE")]
    pub images: Vec<PathBuf>,
    #[command(flatten)]
    pub session: SessionChoice,
    #[command(flatten)]
    pub team: TeamArguments,
    #[command(flatten)]
    pub approve: ApproveArguments,
    #[command(flatten)]
    pub output: OutputArguments,
}

/// The arguments of `lango chat`.
#[derive(Debug, Args, Default)]
pub struct ChatArguments {
    #[command(flatten)]
    pub session: SessionChoice,
    #[command(flatten)]
    pub team: TeamArguments,
    #[command(flatten)]
    pub approve: ApproveArguments,
}

/// The arguments of `lango resume`.
#[derive(Debug, Args)]
pub struct ResumeArguments {
    /// The session.
    pub session: Option<String>,
    /// The newest unfinished turn.
    #[arg(long, conflicts_with = "session")]
    pub last: bool,
    #[command(flatten)]
    pub team: TeamArguments,
    #[command(flatten)]
    pub approve: ApproveArguments,
    #[command(flatten)]
    pub output: OutputArguments,
}

/// The arguments of `lango demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Chooses the conversation.
#[derive(Debug, Args, Default)]
#[group(multiple = false)]
pub struct SessionChoice {
    /// A conversation, by its id or the beginning of it; made if there is none.
    #[arg(long, value_name = "ID")]
    pub session: Option<SessionId>,
    /// The last conversation.
    #[arg(long)]
    pub last: bool,
    /// A new conversation (the default).
    #[arg(long)]
    pub new: bool,
}

/// Chooses the team and the model.
#[derive(Debug, Args, Default)]
pub struct TeamArguments {
    /// `standard`, `compact`, or a directory of AGENT.md files.
    #[arg(long, value_name = "NAME|DIR")]
    pub topology: Option<String>,
    /// PROVIDER/NAME, PROVIDER or NAME, for all agents; embedded for the embedded model;
    /// script:FILE for a scripted model, replay:FILE for a recording.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Record what is sent to models and what they answer, without keys, for bug reports. Not
    /// with the embedded model.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Transfers in one turn.
    #[arg(long, value_name = "N")]
    pub max_rounds: Option<u32>,
    /// The directory the operator works in; the current one by default.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
}

/// Chooses who approves dangerous calls.
#[derive(Debug, Args, Default)]
pub struct ApproveArguments {
    /// ask: a person at the terminal; wait: an answer with `lango approvals`; none: deny;
    /// all: allow everything, unseen.
    #[arg(long, value_name = "WHO", default_value = "ask")]
    pub approve: ApprovalMode,
}

/// The formats of output.
#[derive(Debug, Args)]
pub struct OutputArguments {
    /// text: the answer; json: one object at the end; stream-json: one event per line.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
    /// No progress on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

impl From<&OutputArguments> for OutputOptions {
    fn from(arguments: &OutputArguments) -> Self {
        Self { format: arguments.output_format, quiet: arguments.quiet }
    }
}
