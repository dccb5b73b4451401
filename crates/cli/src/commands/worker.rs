//! `lango worker`: runs jobs and background tasks when they are due.

use std::sync::Arc;

use lango_app::{TeamOptions, Worker, WorkerOptions};

use super::CommandContext;
use super::cron::open as open_jobs;
use super::serve::notice_printer;
use super::turn::StopSignals;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{TeamArguments, WorkerArguments};

pub(crate) async fn worker(
    context: &CommandContext,
    arguments: WorkerArguments,
) -> Result<ExitStatus, Failure> {
    let TeamArguments { model, topology, max_rounds, workspace, record } = arguments.team;
    let team = TeamOptions { topology, workspace, max_rounds };
    let notice = notice_printer(context.printer);
    let options = WorkerOptions { team, model, record };
    let worker = Worker::new(&context.app, options, Arc::clone(&notice))?;
    let jobs = open_jobs(context).await?;
    let mut signals = StopSignals::new()?;
    let scope = worker.describe_scope();
    context
        .printer
        .print(&format!("Lango runs the jobs and tasks of {scope}. Ctrl-C ends it.\n"))?;
    let stop = async {
        signals.next().await;
        notice("ending; work that runs has 10 seconds");
    };
    worker.run(&jobs, stop).await?;
    Ok(ExitStatus::Success)
}
