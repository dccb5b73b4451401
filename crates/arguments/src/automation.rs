//! The arguments of `lango cron`, `lango bg` and `lango worker`.

use clap::{Args, Subcommand, ValueEnum};

use crate::TeamArguments;

#[derive(Debug, Subcommand)]
pub enum CronCommand {
    /// List the jobs.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// One job, with its next times and its last runs.
    Show {
        /// The job, by its id or its name.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Add a job.
    #[command(after_help = "Examples:
  lango cron add \"every weekday at 9:00\" \"summarise the new files in inbox/\"
  lango cron add \"0 4 * * *\" \"run the backup\" --timezone Europe/Berlin --catch-up once
  lango cron add \"in 40 minutes\" \"take the bread out\" --remind

Schedules: cron expressions, \"every 10m\", \"every monday and thursday at 8\", \"on the 1st of each
month at 6am\", \"tomorrow at noon\", \"next friday at 5pm\", \"at 2026-12-01T09:00\".")]
    Add(CronAddArguments),
    /// Run a job now, beside its schedule, and print its result.
    Run {
        /// The job, by its id or its name.
        id: String,
        #[command(flatten)]
        team: TeamArguments,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Pause a job until it is resumed.
    Pause {
        /// The job, by its id or its name.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let a paused job run again.
    Resume {
        /// The job, by its id or its name.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove a job for good. Its history stays.
    Remove {
        /// The job, by its id or its name.
        id: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Past runs with their results, the newest first.
    History {
        /// The job, by its id or its name; all when absent.
        id: Option<String>,
        /// At most so many.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The arguments of `lango cron add`.
#[derive(Debug, Args)]
pub struct CronAddArguments {
    /// When it happens.
    pub schedule: String,
    /// What to do then.
    pub task: String,
    /// What to call it.
    #[arg(long)]
    pub name: Option<String>,
    /// The time zone of the schedule, such as Europe/Berlin.
    #[arg(long, value_name = "ZONE")]
    pub timezone: Option<String>,
    /// What to do about missed runs; what happens once is caught up by default.
    #[arg(long, value_name = "POLICY")]
    pub catch_up: Option<CatchUpName>,
    /// What to do while the run before has not ended.
    #[arg(long, value_name = "POLICY")]
    pub overlap: Option<OverlapName>,
    /// Only tell you the text; no model is asked.
    #[arg(long)]
    pub remind: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CatchUpName {
    /// Leave them out.
    Skip,
    /// Run once for all of them.
    Once,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum OverlapName {
    /// Leave it out.
    Skip,
    /// Run it afterwards.
    Queue,
}

#[derive(Debug, Subcommand)]
pub enum BgCommand {
    /// List the tasks, the newest first.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// One task with its result.
    Show {
        /// The task.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Start a task, which runs while `lango worker` or `lango serve` runs.
    Add {
        /// What to do.
        task: String,
        /// The agent that should do it.
        #[arg(long)]
        agent: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Stop a task.
    Cancel {
        /// The task.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The arguments of `lango worker`.
#[derive(Debug, Args)]
pub struct WorkerArguments {
    #[command(flatten)]
    pub team: TeamArguments,
}
