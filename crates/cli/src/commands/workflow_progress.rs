//! Runs a workflow in this process, and shows how far it is.

use std::time::Duration;

use lango_automator::{NewRun, StepView, WorkflowRunView, Workflows};
use lango_terminal::{ApprovalMode, is_dumb_terminal, show_progress, stderr_is_terminal};

use super::run::{audience, introducing, open as open_team};
use super::turn::StopSignals;
use super::workflow::render_run;
use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{ApproveArguments, TeamArguments};

/// Sets how often the run is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(150);

/// Starts a run, does its work, and prints each change until it has ended or waits for a person.
pub(super) async fn run_and_follow(
    context: &CommandContext,
    new: NewRun,
    team: TeamArguments,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let printer = context.printer;
    let approve = ApproveArguments { approve: ApprovalMode::Wait };
    let (team, _) = open_team(context, team, &approve, None).await?;
    let Some(jobs) = team.jobs().cloned() else {
        return Err(Failure::usage("the automator is not enabled"));
    };
    let workflows = Workflows::new(jobs);
    let run = workflows.start(new).await?;
    printer.introduce(&format!("{} runs as {}", run.name, run.id));
    let automation = team.start_automation(introducing(printer), audience(printer));
    let followed = follow(printer, &workflows, &run.id).await;
    if let Some(automation) = automation {
        automation.leave().await;
    }
    team.stop_servers().await;
    let view = followed?;
    if json {
        printer.json(&view)?;
    } else {
        printer.write_result(&render_run(&view))?;
    }
    Ok(match view.state {
        "done" => ExitStatus::Success,
        "waiting" | "blocked" => ExitStatus::NotApproved,
        _ => ExitStatus::Failure,
    })
}

async fn follow(
    printer: Printer,
    workflows: &Workflows,
    id: &str,
) -> Result<WorkflowRunView, Failure> {
    let mut signals = StopSignals::new()?;
    let mut shown: Vec<StepView> = Vec::new();
    let has_bar = printer.introduces() && stderr_is_terminal() && !is_dumb_terminal();
    let draw = |bar: &str| {
        if has_bar {
            show_progress(bar);
        }
    };
    loop {
        let run = workflows.find(id, &lango_protocol::Space::Owner).await?;
        let view = workflows.show(&run).await?;
        for step in &view.steps {
            let known = shown.iter().find(|known| known.step == step.step);
            if known.is_none_or(|known| known.state != step.state)
                && !matches!(step.state, "pending" | "ready")
            {
                draw("");
                printer.introduce(&view.describe_progress(step));
            }
        }
        if view.has_ended() || view.waits_for_person() {
            draw("");
            return Ok(view);
        }
        draw(&view.render_bar());
        shown = view.steps;
        tokio::select! {
            () = tokio::time::sleep(LOOK_INTERVAL) => {}
            status = signals.next() => {
                draw("");
                let message = format!("{id} will go on with: lango worker");
                return Err(Failure { status, message });
            }
        }
    }
}
