//! `lango serve callers`: the API clients of the server.

use std::collections::BTreeSet;

use lango_app::{InspectOptions, Stores, check_agents};
use lango_chronicler::{MemoryResources, MemorySettings, MemorySystem};
use lango_librarian::Holdings;
use lango_librarian::inquiries::InquirySettings;
use lango_protocol::{AgentName, Caller, OwnerStore, Space};
use lango_retrieval::RetrievalIndex;
use lango_server::{CallerRecord, Callers, EndpointKind};
use serde::Serialize;

use super::sessions::local_time;
use super::{CommandContext, Printer, ask_to_confirm};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{CallersCommand, ServeCommand};
use lango_terminal::render_table;

pub(crate) async fn callers(
    context: &CommandContext,
    command: ServeCommand,
) -> Result<ExitStatus, Failure> {
    let ServeCommand::Callers { command } = command;
    let Stores { database, .. } = context.app.open_stores().await?;
    let callers = Callers::open(database).await?;
    match command {
        CallersCommand::Add { name, agents, endpoints, reads_owner } => {
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
            if !reads_owner.is_empty() {
                callers.share(&name, &reads_owner.into_iter().collect()).await?;
            }
            context.printer.print(&format!(
                "The token of {name}, which is not shown again:\n{}\n",
                token.reveal()
            ))?;
        }
        CallersCommand::List { json } => list(context.printer, &callers.list().await?, json)?,
        CallersCommand::Remove { name } => {
            if !callers.remove(&name).await? {
                return Err(unknown_caller(&name));
            }
            context.printer.print(&format!(
                "{name} is let in no more. What it stored stays; to delete it: \
                 lango serve callers erase {name}\n"
            ))?;
        }
        CallersCommand::Share { name, stores } => {
            let stores: BTreeSet<OwnerStore> = stores.into_iter().collect();
            if !callers.share(&name, &stores).await? {
                return Err(unknown_caller(&name));
            }
            let names: Vec<&str> = stores.iter().map(|store| store.as_str()).collect();
            let text = match names.as_slice() {
                [] => format!("{name} reads what it stored, and nothing of yours\n"),
                names => format!("{name} reads what it stored, and your {}\n", names.join(", ")),
            };
            context.printer.print(&text)?;
        }
        CallersCommand::Erase { name, yes } => return erase(context, &name, yes).await,
    }
    Ok(ExitStatus::Success)
}

fn unknown_caller(name: &Caller) -> Failure {
    Failure::usage(format!("there is no caller {name}. Those there are: lango serve callers list"))
}

/// Deletes what a client stored.
async fn erase(context: &CommandContext, name: &Caller, yes: bool) -> Result<ExitStatus, Failure> {
    let space = Space::of_caller(name);
    if space == Space::Owner {
        return Err(Failure::usage(format!(
            "{name} is you, and what is yours is removed piece by piece. See: lango knowledge, \
             lango memory, lango documents"
        )));
    }
    let question = format!("Delete everything that {space} stored?");
    if !yes && !ask_to_confirm(&question, "Deleting it").await? {
        return Ok(ExitStatus::Failure);
    }
    let Stores { database, journal } = context.app.open_stores().await?;
    let index = RetrievalIndex::open(database, None).await?;
    let holdings = Holdings::open(index.clone(), InquirySettings::default()).await?;
    let resources = MemoryResources { journal, retrieval: index, observer: None };
    let memory = MemorySystem::open(MemorySettings::default(), resources).await?;
    let remembered = memory.remove_client_space(&space).await?;
    let stored = holdings.remove_client_space(&space).await?;
    let text = if remembered || stored { "is deleted" } else { "was nothing" };
    context.printer.print(&format!("What {space} stored {text}\n"))?;
    Ok(ExitStatus::Success)
}

#[derive(Serialize)]
struct CallerView<'a> {
    name: &'a str,
    /// `None` stands for all agents that the server exposes.
    agents: Option<Vec<&'a str>>,
    endpoints: Vec<&'static str>,
    /// What it may read of the owner's.
    reads_owner: Vec<&'static str>,
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
            reads_owner: record.reads_owner.iter().map(|store| store.as_str()).collect(),
            created_at: record.created_at,
        })
        .collect();
    if json {
        return Ok(printer.json(&listed)?);
    }
    if listed.is_empty() {
        return Ok(
            printer.print("No API clients yet. The first `lango serve` makes a token for you\n")?
        );
    }
    let rows: Vec<Vec<String>> = listed
        .iter()
        .map(|caller| {
            let agents = caller.agents.as_ref().map_or("all exposed".to_owned(), |a| a.join(", "));
            let since = local_time(caller.created_at);
            let reads = caller.reads_owner.join(", ");
            vec![caller.name.to_owned(), agents, caller.endpoints.join(", "), reads, since]
        })
        .collect();
    Ok(printer
        .print(&render_table(&["CALLER", "AGENTS", "APIS", "READS OF YOURS", "SINCE"], &rows))?)
}
