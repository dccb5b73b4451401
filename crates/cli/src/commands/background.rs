//! `lango bg`: shows and changes background tasks.

use lango_automator::{BackgroundTasks, DueTime, JobBook, NewTask, RunView};
use lango_protocol::Space;
use lango_store::WorkItem;

use super::cron::{open, print_runs};
use super::{CommandContext, Printer, ask_to_confirm};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::BgCommand;

/// Limits the tasks of a list.
const MAX_LISTED_COUNT: u32 = 100;

pub(crate) async fn background(
    context: &CommandContext,
    command: BgCommand,
    space: &Space,
) -> Result<ExitStatus, Failure> {
    let printer = context.printer;
    let jobs = open(context).await?;
    let tasks = BackgroundTasks::new(jobs.clone());
    match command {
        BgCommand::List { json } => {
            let items = tasks.list(space, MAX_LISTED_COUNT).await?;
            let nothing = "There are no background tasks. Start one: lango bg add \"…\"\n";
            print_runs(printer, &items, json, nothing)?;
        }
        BgCommand::Show { id, json } => {
            let view = tasks.show(&tasks.find(&id, space).await?).await?;
            if json {
                printer.json(&view)?;
            } else {
                printer.print(&format!("{} is {}: {}\n", view.id, view.state, view.title))?;
                let more = view.progress.as_deref().unwrap_or(&view.result);
                if !more.is_empty() {
                    printer.print(&format!("\n{more}\n"))?;
                }
            }
        }
        BgCommand::Add { task, agent, json } => {
            if let Some(agent) = &agent
                && !context.app.has_agent(agent).await?
            {
                let reason = format!("there is no agent {agent}. See: lango agents list");
                return Err(Failure::usage(reason));
            }
            let new = NewTask { task, agent, space: space.clone(), session: None };
            tell_submitted(printer, &jobs, &tasks.submit(new).await?, json).await?;
        }
        BgCommand::Retry { id, json } => {
            let again = tasks.retry(&tasks.find(&id, space).await?).await?;
            tell_submitted(printer, &jobs, &again, json).await?;
        }
        BgCommand::Remove { id, yes, json } => {
            let item = tasks.find(&id, space).await?;
            let question = format!("Remove the task {} ({})?", item.id, item.title);
            if !yes && !ask_to_confirm(&question, "removing a task").await? {
                printer.print("Nothing was removed.\n")?;
                return Ok(ExitStatus::Success);
            }
            tasks.remove(&item).await?;
            if json {
                printer.json(&RunView::of(&item))?;
            } else {
                printer.print(&format!("The task {} was removed.\n", item.id))?;
            }
        }
        BgCommand::History { limit, json } => {
            let items = tasks.list_ended(space, limit.clamp(1, 1000)).await?;
            print_runs(printer, &items, json, "No background task has ended yet.\n")?;
        }
        BgCommand::Cancel { id, json } => {
            let item = tasks.find(&id, space).await?;
            let is_cancelled = tasks.cancel(&item).await?;
            if json {
                printer.json(&RunView::of(&tasks.find(&item.id, space).await?))?;
            } else if is_cancelled {
                printer.print(&format!("{} is being stopped.\n", item.id))?;
            } else {
                printer.print(&format!("{} had ended: it is {}.\n", item.id, item.state))?;
            }
        }
    }
    Ok(ExitStatus::Success)
}

async fn tell_submitted(
    printer: Printer,
    jobs: &JobBook,
    item: &WorkItem,
    json: bool,
) -> Result<(), Failure> {
    if json {
        printer.json(&RunView::of(item))?;
    } else {
        printer.print(&format!("{} is in the background.\n", item.id))?;
    }
    if let Some(notice) = jobs.describe_absence(DueTime::Now).await? {
        printer.note(&notice);
    }
    Ok(())
}
