//! `lango daemon`: a user service that runs the worker.

use lango_app::{ServiceState, UserService};
use lango_arguments::DaemonCommand;
use lango_automator::DueTime;
use serde::Serialize;

use super::CommandContext;
use super::cron::open as open_jobs;
use crate::failure::{ExitStatus, Failure};

#[derive(Serialize)]
struct StatusView {
    unit: String,
    installed: bool,
    /// `running`, `stopped`, or `unknown` where systemd cannot be asked.
    service: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// True if a process runs the due work of this directory now.
    work_runs: bool,
}

pub(crate) async fn daemon(
    context: &CommandContext,
    command: DaemonCommand,
) -> Result<ExitStatus, Failure> {
    let printer = context.printer;
    let service = UserService::find(&context.app.home)?;
    let unit = service.unit_file.display().to_string();
    match command {
        DaemonCommand::Install { print: true, workspace } => {
            printer.print(&service.render_unit(workspace.as_deref())?)?;
        }
        DaemonCommand::Install { print: false, workspace } => {
            service.write_unit(workspace.as_deref())?;
            if let Err(reason) = service.start().await {
                return Err(Failure::failed(format!(
                    "{unit} is written, and was not started: {reason}. Start the worker yourself and \
                     leave it running: lango worker"
                )));
            }
            printer.print(&format!(
                "The service runs, and starts at each sign-in ({unit}).\nLet it run while you are \
                 signed out, too: loginctl enable-linger\n"
            ))?;
        }
        DaemonCommand::Status { json } => return status(context, &service, json).await,
        DaemonCommand::Remove => {
            let text = if service.remove().await? {
                format!("The service was stopped and removed ({unit}).\n")
            } else {
                format!("The service is not installed ({unit} does not exist).\n")
            };
            printer.print(&text)?;
        }
    }
    Ok(ExitStatus::Success)
}

async fn status(
    context: &CommandContext,
    service: &UserService,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let work_runs = open_jobs(context).await?.describe_absence(DueTime::Later).await?.is_none();
    let (word, reason) = match service.state().await {
        ServiceState::Running => ("running", None),
        ServiceState::Stopped(word) => ("stopped", Some(word)),
        ServiceState::Unreachable(reason) => ("unknown", Some(reason)),
    };
    let view = StatusView {
        unit: service.unit_file.display().to_string(),
        installed: service.unit_file.exists(),
        service: word,
        reason,
        work_runs,
    };
    if json {
        context.printer.json(&view)?;
        return Ok(ExitStatus::Success);
    }
    let installed = if view.installed {
        format!("installed ({})", view.unit)
    } else {
        "not installed. Install it: lango daemon install".to_owned()
    };
    let reason = view.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let runs = if work_runs {
        "a process runs the due work of this directory"
    } else {
        "nothing runs the due work of this directory. Start a worker: lango worker"
    };
    let text = format!("unit     {installed}\nservice  {word}{reason}\nwork     {runs}\n");
    context.printer.print(&text)?;
    Ok(ExitStatus::Success)
}
