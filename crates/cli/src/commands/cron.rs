//! `lango cron`: shows and changes the jobs.

use lango_app::{Stores, build_automator_settings, find_workspace};
use lango_automator::{
    AutomatorError, CatchUp, DueTime, Job, JobAction, JobBook, JobChange, JobView, NewJob,
    NotificationRoutes, Overlap, RunView, SpendLimits, Workflows, find_workflow_name,
};
use lango_protocol::{Space, Timestamp};
use lango_store::{WorkItem, WorkState};
use lango_terminal::ApprovalMode;
use lango_text::to_one_line;
use lango_workflow::Definition;
use serde::Serialize;
use serde_json::{Map, Value};

use super::run::{audience, introducing, open as open_team};
use super::sessions::local_time;
use super::workflow::read_inputs;
use super::{CommandContext, Printer, ask_to_confirm};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{
    ApproveArguments, CronAddArguments, CronCommand, CronSetArguments, JobSettingArguments,
    TeamArguments,
};
use lango_arguments::{CatchUpName, OverlapName};
use lango_terminal::render_table;

/// Limits the characters of a cell.
const MAX_CELL_CHARACTERS: usize = 70;

/// The runs that `show` prints.
const SHOWN_RUN_COUNT: u32 = 5;

#[derive(Serialize)]
struct AddedView {
    #[serde(flatten)]
    job: JobView,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize)]
struct ShownView {
    #[serde(flatten)]
    job: JobView,
    runs: Vec<RunView>,
}

pub(crate) async fn cron(
    context: &CommandContext,
    command: CronCommand,
    space: &Space,
) -> Result<ExitStatus, Failure> {
    let printer = context.printer;
    let jobs = open(context).await?;
    match command {
        CronCommand::List { json } => list(printer, &jobs, space, json).await?,
        CronCommand::Show { id, json } => show(printer, &jobs, &id, space, json).await?,
        CronCommand::Add(arguments) => add(printer, &jobs, arguments, space).await?,
        CronCommand::Set(arguments) => {
            let job = jobs.find(&arguments.id, space).await?;
            let job = jobs.change(&job, read_change(&arguments)?).await?;
            report(printer, &jobs, &job.id, space, "changed", arguments.json).await?;
        }
        CronCommand::Run { id, team, json } => {
            let job = jobs.find(&id, space).await?;
            return Box::pin(run(context, &job, team, json)).await;
        }
        CronCommand::Pause { id, json } => {
            let job = jobs.find(&id, space).await?;
            jobs.pause(&job).await?;
            report(printer, &jobs, &job.id, space, "paused", json).await?;
        }
        CronCommand::Resume { id, json } => {
            let job = jobs.find(&id, space).await?;
            jobs.resume(&job).await?;
            report(printer, &jobs, &job.id, space, "resumed", json).await?;
        }
        CronCommand::Remove { id, yes, json } => {
            let job = jobs.find(&id, space).await?;
            let question = format!("Remove the job {} ({})?", job.id, job.schedule.describe());
            if !yes && !ask_to_confirm(&question, "removing a job").await? {
                printer.print("Nothing was removed.\n")?;
                return Ok(ExitStatus::Success);
            }
            jobs.remove(&job).await?;
            if json {
                printer.json(&JobView::of(&job, Timestamp::now()))?;
            } else {
                printer.print(&format!("The job {} was removed.\n", job.id))?;
            }
        }
        CronCommand::History { id, limit, json } => {
            let job = match id {
                Some(id) => Some(jobs.find(&id, space).await?.id),
                None => None,
            };
            let runs = jobs.list_runs(job.as_deref(), Some(space), limit.clamp(1, 1000)).await?;
            print_runs(printer, &runs, json, "No job has run yet.\n")?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Opens the jobs, for work in the current directory.
pub(crate) async fn open(context: &CommandContext) -> Result<JobBook, Failure> {
    let settings = build_automator_settings(context.config(), &find_workspace(None)?)?;
    let Some(settings) = settings else {
        return Err(Failure::usage(
            "the automator is not enabled. Enable it: lango config set automator.enabled true",
        ));
    };
    let Stores { database, journal } = context.app.open_stores().await?;
    Ok(JobBook::open(settings, database, journal).await?)
}

async fn list(printer: Printer, jobs: &JobBook, space: &Space, json: bool) -> Result<(), Failure> {
    let now = Timestamp::now();
    let views: Vec<JobView> =
        jobs.list(Some(space)).await?.iter().map(|job| JobView::of(job, now)).collect();
    if json {
        return Ok(printer.json(&views)?);
    }
    if views.is_empty() {
        let text = "There are no jobs. Add one: lango cron add \"every weekday at 9:00\" \"…\"\n";
        return Ok(printer.print(text)?);
    }
    let row = |job: &JobView| {
        vec![
            job.id.clone(),
            job.state.to_owned(),
            job.next.first().cloned().unwrap_or_default(),
            to_one_line(&format!("{}, {}", job.schedule, job.timezone), MAX_CELL_CHARACTERS),
            to_one_line(&job.task, MAX_CELL_CHARACTERS),
        ]
    };
    let rows: Vec<Vec<String>> = views.iter().map(row).collect();
    Ok(printer.print(&render_table(&["JOB", "STATE", "NEXT", "SCHEDULE", "TASK"], &rows))?)
}

async fn show(
    printer: Printer,
    jobs: &JobBook,
    id: &str,
    space: &Space,
    json: bool,
) -> Result<(), Failure> {
    let job = jobs.find(id, space).await?;
    let items = jobs.list_runs(Some(&job.id), Some(space), SHOWN_RUN_COUNT).await?;
    let view = JobView::of(&job, Timestamp::now());
    if json {
        let runs = items.iter().map(RunView::of).collect();
        return Ok(printer.json(&ShownView { job: view, runs })?);
    }
    printer.print(&render_job(&view))?;
    if !items.is_empty() {
        printer.print("\n")?;
        print_runs(printer, &items, false, "")?;
    }
    Ok(())
}

fn render_job(job: &JobView) -> String {
    let mut text = format!("{}\n\n", to_one_line(&job.task, 1000));
    let mut line = |name: &str, value: &str| text.push_str(&format!("{name:<12}{value}\n"));
    line("id", &job.id);
    line("state", job.state);
    line("schedule", &format!("{}, {}", job.schedule, job.timezone));
    line("next", &job.next.join(", "));
    line("action", job.action);
    line("missed runs", job.catch_up);
    line("overlap", job.overlap);
    line("directory", &job.workspace);
    if let Some(notify) = &job.notify {
        line("notify", &notify.describe());
    }
    if let Some(budget) = &job.budget {
        line("budget", &budget.describe());
    }
    text
}

async fn add(
    printer: Printer,
    jobs: &JobBook,
    arguments: CronAddArguments,
    space: &Space,
) -> Result<(), Failure> {
    let notify = read_routes(&arguments.settings)?;
    let inputs = find_inputs(jobs, &arguments, space).await?;
    let job = jobs
        .add(NewJob {
            name: arguments.name,
            action: if arguments.remind { JobAction::Remind } else { JobAction::Run },
            zone: arguments.timezone,
            catch_up: arguments.catch_up.map(|name| match name {
                CatchUpName::Skip => CatchUp::Skip,
                CatchUpName::Once => CatchUp::Once,
            }),
            overlap: arguments.overlap.map(|name| match name {
                OverlapName::Skip => Overlap::Skip,
                OverlapName::Queue => Overlap::Queue,
            }),
            space: space.clone(),
            notify,
            budget: read_budget(&arguments.settings),
            inputs,
            ..NewJob::new(&arguments.schedule, &arguments.task)
        })
        .await?;
    let job = JobView::of(&job, Timestamp::now());
    let notice = jobs.describe_absence(DueTime::Later).await?;
    if arguments.json {
        return Ok(printer.json(&AddedView { job, notice })?);
    }
    let mut text = format!("Added {}: {}, {}.\n", job.id, job.schedule, job.timezone);
    for next in &job.next {
        text.push_str(&format!("  {next}\n"));
    }
    printer.print(&text)?;
    if let Some(notice) = notice {
        printer.note(&notice);
    }
    Ok(())
}

/// Reads the inputs of the workflow that a new job is to run.
async fn find_inputs(
    jobs: &JobBook,
    arguments: &CronAddArguments,
    space: &Space,
) -> Result<Map<String, Value>, Failure> {
    if arguments.inputs.is_empty() {
        return Ok(Map::new());
    }
    let name = find_workflow_name(&arguments.task).ok_or_else(|| {
        Failure::usage("inputs belong to a job whose task is: run the workflow NAME")
    })?;
    let saved = Workflows::new(jobs.clone()).find_saved(name, space).await?;
    let definition = Definition::parse(&saved.text).map_err(AutomatorError::from)?;
    read_inputs(&definition, &arguments.inputs)
}

fn read_routes(settings: &JobSettingArguments) -> Result<Option<NotificationRoutes>, Failure> {
    if settings.notify.is_empty() {
        return Ok(None);
    }
    let routes = NotificationRoutes::parse(settings.notify.iter().map(String::as_str));
    Ok(Some(routes?))
}

fn read_budget(settings: &JobSettingArguments) -> Option<SpendLimits> {
    let limits = SpendLimits {
        model_calls: settings.budget_calls,
        tokens: settings.budget_tokens,
        dollars: settings.budget_dollars,
    };
    (!limits.is_empty()).then_some(limits)
}

fn read_change(arguments: &CronSetArguments) -> Result<JobChange, Failure> {
    let settings = &arguments.settings;
    let notify = if settings.notify.iter().any(|route| route == "default") {
        Some(None)
    } else {
        read_routes(settings)?.map(Some)
    };
    let budget =
        if arguments.default_budget { Some(None) } else { read_budget(settings).map(Some) };
    if notify.is_none() && budget.is_none() {
        return Err(Failure::usage(
            "name what to change: --notify, --budget-calls, --budget-tokens, \
                                   --budget-dollars or --default-budget",
        ));
    }
    Ok(JobChange { notify, budget })
}

/// Runs a job now and waits for its result.
async fn run(
    context: &CommandContext,
    job: &Job,
    team: TeamArguments,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let printer = context.printer;
    let workspace = team.workspace.or_else(|| Some(job.workspace.clone().into()));
    let team = TeamArguments { workspace, ..team };
    let approve = ApproveArguments { approve: ApprovalMode::Wait };
    let (team, _) = open_team(context, team, &approve, None).await?;
    let Some(jobs) = team.jobs().cloned() else {
        return Err(Failure::usage("the automator is not enabled"));
    };
    let id = jobs.run_now(job).await?;
    let automation = team.start_automation(introducing(printer), audience(printer));
    let item = wait_for_end(&jobs, &id).await?;
    if let Some(automation) = automation {
        automation.leave().await;
    }
    team.stop_servers().await;
    if json {
        printer.json(&RunView::of(&item))?;
    } else {
        printer.write_result(&format!("{}\n", item.result))?;
    }
    Ok(if item.state == WorkState::Done { ExitStatus::Success } else { ExitStatus::Failure })
}

async fn wait_for_end(jobs: &JobBook, id: &str) -> Result<WorkItem, Failure> {
    let mut signals = super::turn::StopSignals::new()?;
    loop {
        match jobs.journal().find_work(id).await? {
            Some(item) if item.state.has_ended() => return Ok(item),
            Some(_) => {}
            None => return Err(Failure::failed(format!("the run {id} does not exist any more"))),
        }
        tokio::select! {
            () = tokio::time::sleep(std::time::Duration::from_millis(100)) => {}
            status = signals.next() => {
                let message = format!("the run {id} will go on with: lango worker");
                return Err(Failure { status, message });
            }
        }
    }
}

async fn report(
    printer: Printer,
    jobs: &JobBook,
    id: &str,
    space: &Space,
    what: &str,
    json: bool,
) -> Result<(), Failure> {
    let view = JobView::of(&jobs.find(id, space).await?, Timestamp::now());
    if json {
        return Ok(printer.json(&view)?);
    }
    let next = view.next.first().map_or(String::new(), |next| format!("; next {next}"));
    Ok(printer.print(&format!("The job {id} was {what}{next}.\n"))?)
}

/// Prints pieces of work as a table.
pub(super) fn print_runs(
    printer: Printer,
    items: &[WorkItem],
    json: bool,
    nothing: &str,
) -> Result<(), Failure> {
    if json {
        let views: Vec<RunView> = items.iter().map(RunView::of).collect();
        return Ok(printer.json(&views)?);
    }
    if items.is_empty() {
        return Ok(printer.print(nothing)?);
    }
    let row = |item: &WorkItem| {
        vec![
            item.id.clone(),
            local_time(item.due_at),
            item.state.to_string(),
            to_one_line(&item.title, 40),
            to_one_line(&item.result, MAX_CELL_CHARACTERS),
        ]
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    Ok(printer.print(&render_table(&["RUN", "DUE", "STATE", "NAME", "RESULT"], &rows))?)
}
