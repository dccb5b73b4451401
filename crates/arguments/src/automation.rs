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
    /// Change who is notified of a job, and what each of its runs may spend.
    #[command(after_help = "Examples:
  lango cron set weather --notify failure=desktop,mail --notify success=none
  lango cron set weather --budget-calls 5 --budget-dollars 0.10
  lango cron set weather --notify default --default-budget")]
    Set(CronSetArguments),
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
    /// An input of the workflow, where the task is \"run the workflow NAME\".
    #[arg(long = "input", value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
    #[command(flatten)]
    pub settings: JobSettingArguments,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Settings that each job can have.
#[derive(Debug, Args)]
pub struct JobSettingArguments {
    /// Who is notified: EVENT=CHANNEL,… with the events success, failure, approval and reminder, or
    /// none. The channels are those of automator.channels.
    #[arg(long, value_name = "ROUTE")]
    pub notify: Vec<String>,
    /// Model calls that each run may make.
    #[arg(long, value_name = "N")]
    pub budget_calls: Option<u32>,
    /// Tokens that each run may use.
    #[arg(long, value_name = "N")]
    pub budget_tokens: Option<u64>,
    /// US dollars that each run may cost, where prices are known.
    #[arg(long, value_name = "AMOUNT")]
    pub budget_dollars: Option<f64>,
}

/// The arguments of `lango cron set`.
#[derive(Debug, Args)]
pub struct CronSetArguments {
    /// The job, by its id or its name.
    pub id: String,
    #[command(flatten)]
    pub settings: JobSettingArguments,
    /// Let each run spend what automator.runBudget says.
    #[arg(long)]
    pub default_budget: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum NotifyCommand {
    /// List the newest notifications, with what became of them.
    List {
        /// Only those that were not delivered.
        #[arg(long)]
        failed: bool,
        /// At most so many.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Send a test notification through a channel, now.
    Test {
        /// The channel, by its name under automator.channels.
        channel: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum DaemonCommand {
    /// Install and start a user service that runs lango worker (systemd).
    Install {
        /// Only print the unit.
        #[arg(long)]
        print: bool,
        /// Run the work of this directory alone.
        #[arg(long, value_name = "DIRECTORY")]
        workspace: Option<std::path::PathBuf>,
    },
    /// Whether the service is installed and runs, and whether any process runs due work.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Stop the service and remove it.
    Remove,
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
    /// Do a task anew that failed or was stopped.
    Retry {
        /// The task.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove a task that has ended. Its conversation stays.
    Remove {
        /// The task.
        id: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Past tasks with their results, the newest first.
    History {
        /// At most so many.
        #[arg(long, default_value_t = 20)]
        limit: u32,
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
