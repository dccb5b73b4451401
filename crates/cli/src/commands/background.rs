//! `lango bg`: shows and changes background tasks.

use lango_automator::{BackgroundTasks, DueTime, JobBook, NewTask, RunView};
use lango_protocol::Space;

use super::CommandContext;
use super::cron::{open, print_runs};
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
            let item = tasks.find(&id, space).await?;
            if json {
                printer.json(&RunView::of(&item))?;
            } else {
                printer.print(&format!("{} is {}: {}\n", item.id, item.state, item.title))?;
                if !item.result.is_empty() {
                    printer.print(&format!("\n{}\n", item.result))?;
                }
            }
        }
        BgCommand::Add { task, agent, json } => {
            let new = NewTask { task, agent, space: space.clone(), session: None };
            let item = tasks.submit(new).await?;
            if let Some(agent) = &agent
                && !context.app.has_agent(agent).await?
            {
                let reason = format!("there is no agent {agent}. See: lango agents list");
                return Err(Failure::usage(reason));
            }
            if json {
                printer.json(&RunView::of(&item))?;
            } else {
                printer.print(&format!("{} is in the background.\n", item.id))?;
            }
            if let Some(notice) = jobs.describe_absence().await? {
                printer.note(&notice);
            }
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
