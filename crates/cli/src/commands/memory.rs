//! `lango memory`: shows what is remembered about the user.

use lango_app::{Stores, knowledge};
use lango_chronicler::{
    Chronicler, ChroniclerError, Memory, MemoryResources, MemorySettings, MemorySystem,
    Observation, Reflection, StoredMemory,
};
use lango_protocol::Space;
use lango_store::Journal;
use lango_text::to_one_line;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::sessions::{find_session, local_time};
use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{MemoryCommand, MemoryFormat};
use lango_terminal::render_table;

/// Limits the characters of a line; memories are shorter.
const MAX_LINE_CHARACTERS: usize = 1_000;

/// Limits the observations and reflections in an export, the latest first.
const MAX_EXPORT_COUNT: u32 = 100_000;

#[derive(Serialize)]
struct ForgottenView {
    forgotten: String,
    kind: &'static str,
    memories: usize,
    notes: usize,
    places_in_conversations: u64,
    pending: bool,
}

#[derive(Serialize)]
struct ObservedView {
    memories: usize,
    observations: Vec<Observation>,
    reflections: Vec<Reflection>,
}

#[derive(Serialize)]
struct ExportView {
    memories: Vec<StoredMemory>,
    observations: Vec<Observation>,
    reflections: Vec<Reflection>,
}

pub(crate) async fn memory(
    context: &CommandContext,
    command: MemoryCommand,
    space: &Space,
) -> Result<ExitStatus, Failure> {
    let (system, journal) = open(context).await?;
    let memory = system.in_space(space);
    match command {
        MemoryCommand::List { all, json } => list(context.printer, &memory, all, json).await?,
        MemoryCommand::Show { id, json } => show(context.printer, &memory, &id, json).await?,
        MemoryCommand::Edit { id, text, json } => {
            let new = memory.edit_memory(&id, &text).await?;
            if json {
                context.printer.json(&new)?;
            } else {
                context.printer.print(&format!("{} takes the place of {id}.\n", new.id))?;
            }
        }
        MemoryCommand::Forget { id, json } => forget(context.printer, &memory, &id, json).await?,
        MemoryCommand::Export { format } => export(context.printer, &memory, format).await?,
        MemoryCommand::Observe { session, json } => {
            observe(context.printer, system, &journal, session.as_deref(), json).await?;
        }
    }
    Ok(ExitStatus::Success)
}

async fn open(context: &CommandContext) -> Result<(MemorySystem, Journal), Failure> {
    let Stores { database, journal } = context.app.open_stores().await?;
    let retrieval = knowledge::open(context.config(), database).await?;
    let resources = MemoryResources { journal: journal.clone(), retrieval, observer: None };
    let memory = MemorySystem::open(MemorySettings::default(), resources).await?;
    Ok((memory, journal))
}

async fn list(printer: Printer, memory: &Memory, all: bool, json: bool) -> Result<(), Failure> {
    let memories = memory.list_memories(all).await?;
    if json {
        return Ok(printer.json(&memories)?);
    }
    if memories.is_empty() {
        return Ok(printer.print(
            "Nothing is remembered yet. What you say about yourself in a conversation will be.\n",
        )?);
    }
    let row = |memory: &StoredMemory| {
        let state =
            memory.superseded_by.as_ref().map_or(String::new(), |newer| format!("→ {newer}"));
        vec![
            memory.id.clone(),
            memory.kind.to_string(),
            local_time(memory.at),
            memory.origin.in_words().to_owned(),
            state,
            to_one_line(&memory.content, MAX_LINE_CHARACTERS),
        ]
    };
    let rows: Vec<Vec<String>> = memories.iter().map(row).collect();
    Ok(printer
        .print(&render_table(&["MEMORY", "KIND", "SAID", "ORIGIN", "STATE", "TEXT"], &rows))?)
}

async fn show(printer: Printer, memory: &Memory, id: &str, json: bool) -> Result<(), Failure> {
    let found = memory.find_memory(id).await?;
    let one = found.ok_or_else(|| ChroniclerError::Unknown(id.to_owned()))?;
    if json {
        return Ok(printer.json(&one)?);
    }
    let mut text = format!("{}\n\n", to_one_line(&one.content, MAX_LINE_CHARACTERS));
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<12}{value}\n"));
    line("id", one.id.clone());
    line("kind", one.kind.to_string());
    line("origin", one.origin.in_words().to_owned());
    line("said", local_time(one.at));
    if !one.about.is_empty() {
        line("about", to_one_line(&one.about, MAX_LINE_CHARACTERS));
    }
    if let Some(session) = &one.session {
        let messages: Vec<String> =
            one.sources.iter().map(|source| source.seq.to_string()).collect();
        line("from", format!("{session}, message {}", messages.join(", ")));
    }
    if let Some(newer) = &one.superseded_by {
        line("superseded", format!("by {newer}"));
    }
    let older = memory.list_memories(true).await?;
    for old in older.iter().filter(|old| old.superseded_by.as_ref() == Some(&one.id)) {
        line(
            "instead of",
            format!("{}: {}", old.id, to_one_line(&old.content, MAX_LINE_CHARACTERS)),
        );
    }
    Ok(printer.print(&text)?)
}

async fn forget(printer: Printer, memory: &Memory, id: &str, json: bool) -> Result<(), Failure> {
    let done = memory.forget_memory(id).await?;
    if json {
        return Ok(printer.json(&ForgottenView {
            forgotten: done.memory.id,
            kind: done.memory.kind.as_str(),
            memories: done.memories,
            notes: done.derived,
            places_in_conversations: done.places,
            pending: done.pending,
        })?);
    }
    let mut text = format!(
        "Forgotten: {} ({}), {} memories, {} notes, {} places in conversations.\n",
        done.memory.id, done.memory.kind, done.memories, done.derived, done.places
    );
    if done.pending {
        text.push_str(
            "A turn still runs or was interrupted; its words go when it ends. See: lango resume\n",
        );
    }
    Ok(printer.print(&text)?)
}

async fn export(printer: Printer, memory: &Memory, format: MemoryFormat) -> Result<(), Failure> {
    let view = ExportView {
        memories: memory.list_memories(true).await?,
        observations: memory.list_observations(None, MAX_EXPORT_COUNT).await?,
        reflections: memory.list_reflections(None, MAX_EXPORT_COUNT).await?,
    };
    if format == MemoryFormat::Json {
        return Ok(printer.json(&view)?);
    }
    let mut text = "# Memories\n\n".to_owned();
    for memory in &view.memories {
        let (day, origin) = (local_time(memory.at), memory.origin.in_words());
        let gone = if memory.superseded_by.is_some() { ", superseded" } else { "" };
        text.push_str(&format!(
            "- {} ({day}, {origin}{gone}): {}\n",
            memory.id,
            to_one_line(&memory.content, MAX_LINE_CHARACTERS)
        ));
    }
    text.push_str("\n# Observations\n\n");
    for observation in &view.observations {
        let (day, session) = (local_time(observation.at), &observation.session);
        let content = to_one_line(&observation.content, MAX_LINE_CHARACTERS);
        text.push_str(&format!(
            "- {} ({day}, {session}, {}): {content}\n",
            observation.id, observation.priority
        ));
    }
    text.push_str("\n# Reflections\n");
    for reflection in &view.reflections {
        text.push_str(&format!(
            "\n## {} ({})\n\n{}\n",
            reflection.id, reflection.session, reflection.content
        ));
    }
    Ok(printer.print(&text)?)
}

async fn observe(
    printer: Printer,
    memory: MemorySystem,
    journal: &Journal,
    session: Option<&str>,
    json: bool,
) -> Result<(), Failure> {
    let chronicler = Chronicler::new(memory);
    let never = CancellationToken::new();
    let report = match session {
        Some(given) => chronicler.observe_now(&find_session(journal, given).await?, &never).await,
        None => chronicler.work_on_recent_sessions(&never).await,
    }?;
    if json {
        let (memories, observations) = (report.memories, report.observations);
        return Ok(printer.json(&ObservedView {
            memories,
            observations,
            reflections: report.reflections,
        })?);
    }
    let mut text = String::new();
    for observation in &report.observations {
        text.push_str(&format!(
            "{} [{}] {}\n",
            observation.id,
            observation.priority,
            to_one_line(&observation.content, MAX_LINE_CHARACTERS)
        ));
    }
    text.push_str(&format!(
        "{} new memories, {} new observations, {} new reflections.\n",
        report.memories,
        report.observations.len(),
        report.reflections.len()
    ));
    Ok(printer.print(&text)?)
}
