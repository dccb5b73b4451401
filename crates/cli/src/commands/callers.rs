//! `lango serve callers`: the API clients of the server.

use std::collections::BTreeSet;

use lango_app::{InspectOptions, Stores, check_agents};
use lango_protocol::AgentName;
use lango_server::{CallerRecord, Callers, EndpointKind};
use serde::Serialize;

use super::sessions::local_time;
use super::table::render_table;
use super::{CommandContext, Printer};
use crate::arguments::{CallersCommand, ServeCommand};
use crate::failure::{ExitStatus, Failure};

pub(crate) async fn callers(
    context: &CommandContext,
    command: ServeCommand,
) -> Result<ExitStatus, Failure> {
    let ServeCommand::Callers { command } = command;
    let Stores { database, .. } = context.app.open_stores().await?;
    let callers = Callers::open(database).await?;
    match command {
        CallersCommand::Add { name, agents, endpoints } => {
            let inspection = context.app.inspect(InspectOptions::default()).await?;
            check_agents(&inspection.roster, &agents)?;
            let agents: BTreeSet<AgentName> = agents.into_iter().collect();
            let agents = (!agents.is_empty()).then_some(agents);
            let endpoints: BTreeSet<EndpointKind> = if endpoints.is_empty() {
                EndpointKind::ALL.into()
            } else {
                endpoints.into_iter().collect()
            };
            let token = callers.add(&name, agents.as_ref(), &endpoints).await?;
            context.printer.print(&format!(
                "The token of {name}, which is not shown again:\n{}\n",
                token.reveal()
            ))?;
        }
        CallersCommand::List { json } => list(context.printer, &callers.list().await?, json)?,
        CallersCommand::Remove { name } => {
            if !callers.remove(&name).await? {
                return Err(Failure::usage(format!(
                    "there is no caller {name}. Those there are: lango serve callers list"
                )));
            }
            context.printer.print(&format!("{name} is let in no more\n"))?;
        }
    }
    Ok(ExitStatus::Success)
}

#[derive(Serialize)]
struct CallerView<'a> {
    name: &'a str,
    /// `None` stands for all agents that the server exposes.
    agents: Option<Vec<&'a str>>,
    endpoints: Vec<&'static str>,
    created_at: lango_protocol::Timestamp,
}

fn list(printer: Printer, records: &[CallerRecord], json: bool) -> Result<(), Failure> {
    let listed: Vec<CallerView<'_>> = records
        .iter()
        .map(|record| CallerView {
            name: record.name.as_str(),
            agents: record
                .agents
                .as_ref()
                .map(|agents| agents.iter().map(AgentName::as_str).collect()),
            endpoints: record.endpoints.iter().map(|endpoint| endpoint.name()).collect(),
            created_at: record.created_at,
        })
        .collect();
    if json {
        return printer.json(&listed);
    }
    if listed.is_empty() {
        return printer
            .print("No API clients yet. The first `lango serve` makes a token for you\n");
    }
    let rows: Vec<Vec<String>> = listed
        .iter()
        .map(|caller| {
            let agents = caller.agents.as_ref().map_or("all exposed".to_owned(), |a| a.join(", "));
            let since = local_time(caller.created_at);
            vec![caller.name.to_owned(), agents, caller.endpoints.join(", "), since]
        })
        .collect();
    printer.print(&render_table(&["CALLER", "AGENTS", "APIS", "SINCE"], &rows))
}
