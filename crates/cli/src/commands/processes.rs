//! `lango ps`: lists the commands that run in the background.

use lango_app::Stores;
use lango_operator::{ListedProcess, Records};
use lango_protocol::Timestamp;
use serde::Serialize;

use super::CommandContext;
use super::sessions::local_time;
use crate::failure::{ExitStatus, Failure};
use lango_terminal::render_table;

#[derive(Serialize)]
struct ProcessView<'a> {
    id: &'a str,
    name: &'a str,
    state: &'a str,
    exit_code: Option<i64>,
    command: &'a str,
    directory: &'a str,
    session: &'a str,
    owner_pid: u32,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
}

fn build_view(process: &ListedProcess) -> ProcessView<'_> {
    ProcessView {
        id: &process.id,
        name: &process.name,
        state: &process.state,
        exit_code: process.exit_code,
        command: &process.command,
        directory: &process.directory,
        session: process.session.as_str(),
        owner_pid: process.owner,
        started_at: process.started_at,
        ended_at: process.ended_at,
    }
}

pub(crate) async fn processes(
    context: &CommandContext,
    all: bool,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let Stores { database, .. } = context.app.open_stores().await?;
    let records = Records::open(database).await?;
    let mut processes = records.list_processes().await?;
    processes.retain(|process| all || process.is_running());
    if json {
        let views: Vec<ProcessView<'_>> = processes.iter().map(build_view).collect();
        context.printer.json(&views)?;
        return Ok(ExitStatus::Success);
    }
    if processes.is_empty() {
        let more = if all { "" } else { " Those that have ended: lango ps --all" };
        context.printer.print(&format!("Nothing runs in the background.{more}\n"))?;
        return Ok(ExitStatus::Success);
    }
    let row = |process: &ListedProcess| {
        let state = match process.exit_code {
            Some(code) => format!("{} ({code})", process.state),
            None => process.state.clone(),
        };
        vec![
            process.name.clone(),
            state,
            local_time(process.started_at),
            process.owner.to_string(),
            process.session.to_string(),
            process.command.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = processes.iter().map(row).collect();
    context.printer.print(&render_table(
        &["NAME", "STATE", "STARTED", "OWNER", "SESSION", "COMMAND"],
        &rows,
    ))?;
    Ok(ExitStatus::Success)
}
