//! The arguments of `lango workflow`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::TeamArguments;

#[derive(Debug, Subcommand)]
pub enum WorkflowCommand {
    /// Check a workflow, and say what is wrong with it and where.
    #[command(after_help = "Examples:
  lango workflow validate report.yaml
  lango workflow validate report.yaml --json")]
    Validate {
        /// The file.
        file: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run a workflow, and follow it until it has ended or waits for a person.
    #[command(after_help = "Examples:
  lango workflow run report.yaml --input folder=reports --input 'urls=[\"https://example.org\"]'
  lango workflow run daily-report                a saved one
  lango workflow run daily-report --detach       start it; lango worker or lango serve runs it

Calls of tools that need an approval wait for it: lango approvals list")]
    Run(WorkflowRunArguments),
    /// Save a workflow under its name.
    #[command(after_help = "Examples:
  lango workflow save report.yaml")]
    Save {
        /// The file.
        file: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// One run, with the state of every step.
    #[command(after_help = "Examples:
  lango workflow status run-3f2a9c
  lango workflow status daily-report             its newest run
  lango workflow status run-3f2a9c --json        with inputs and outputs of every step")]
    Status {
        /// The run, or the workflow for its newest run.
        run: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the saved workflows, and the newest runs.
    List {
        /// At most so many runs.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Past runs with their results, the newest first.
    History {
        /// The workflow; all when absent.
        name: Option<String>,
        /// At most so many.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the definition of a saved workflow or of a run.
    Show {
        /// The workflow or the run.
        name: String,
    },
    /// Draw a workflow.
    #[command(after_help = "Examples:
  lango workflow graph report.yaml
  lango workflow graph daily-report --svg report.svg")]
    Graph {
        /// The file, or the name of a saved workflow.
        workflow: String,
        /// Write an SVG to this file.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// Let a step go on that waits for you, or say that one with an unknown outcome was done.
    #[command(after_help = "Examples:
  lango workflow approve run-3f2a9c release
  lango workflow approve run-3f2a9c send.4 --output '{\"id\": 7}'    an item whose outcome was unknown")]
    Approve {
        /// The run.
        run: String,
        /// The step, or an item of it: send.4
        step: String,
        /// The output of a step whose outcome was not known, as JSON or text.
        #[arg(long)]
        output: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let a step fail that waits for you, or whose outcome is not known.
    Reject {
        /// The run.
        run: String,
        /// The step, or an item of it.
        step: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Do a step again that failed or whose outcome is not known, and go on from there.
    #[command(after_help = "Examples:
  lango workflow retry run-3f2a9c fetch
  lango workflow retry run-3f2a9c send.4

A step with an unknown outcome may have had its effect: look first.")]
    Retry {
        /// The run.
        run: String,
        /// The step, or an item of it.
        step: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Stop a run.
    Cancel {
        /// The run.
        run: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove a saved workflow, or a run that has ended.
    Remove {
        /// The workflow or the run.
        name: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The arguments of `lango workflow run`.
#[derive(Debug, Args)]
pub struct WorkflowRunArguments {
    /// The file, or the name of a saved workflow.
    pub workflow: String,
    /// An input: NAME=VALUE. What is no text is written as JSON.
    #[arg(long = "input", value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
    /// Only start it.
    #[arg(long)]
    pub detach: bool,
    #[command(flatten)]
    pub team: TeamArguments,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
