//! `lango sessions`: conversations, read from the journal.

use std::io::{self, Write};

use lango_app::Stores;
use lango_protocol::{Event, EventBody, SessionId, Timestamp};
use lango_store::{Database, Journal, RedactedEvent, SessionSummary};
use lango_text::truncate_characters;
use serde::Serialize;

use super::{CommandContext, Printer, ask_to_confirm};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::SessionsCommand;
use lango_terminal::render_table;

/// Sets how many events are read at a time.
const PAGE_SIZE: u32 = 500;
/// Limits how many characters of a result or of thoughts are shown.
const MAX_SHOWN_CHARACTERS: usize = 2_000;

#[derive(Serialize)]
struct SessionView<'a> {
    id: &'a SessionId,
    title: &'a str,
    workspace: &'a str,
    created_at: Timestamp,
    updated_at: Timestamp,
    turns: u64,
    unfinished: bool,
}

pub(crate) async fn sessions(
    context: &CommandContext,
    command: SessionsCommand,
) -> Result<ExitStatus, Failure> {
    let Stores { database, journal } = context.app.open_stores().await?;
    match command {
        SessionsCommand::List { json, limit } => {
            list(context.printer, &journal, json, limit).await?;
        }
        SessionsCommand::Show { id, json } => show(context.printer, &journal, &id, json).await?,
        SessionsCommand::Export { id, output } => {
            let session = find_session(&journal, &id).await?;
            match output {
                Some(path) => {
                    let mut file = std::fs::File::create(&path).map_err(|error| {
                        Failure::usage(format!("cannot write {}: {error}", path.display()))
                    })?;
                    let write = |text: &str| Ok(file.write_all(text.as_bytes())?);
                    export(&journal, &session, write).await?;
                }
                None => {
                    export(&journal, &session, |text| Ok(context.printer.print_json_text(text)?))
                        .await?;
                }
            }
        }
        SessionsCommand::Delete { id, yes } => {
            return delete(context.printer, database, &journal, &id, yes).await;
        }
    }
    Ok(ExitStatus::Success)
}

async fn list(printer: Printer, journal: &Journal, json: bool, limit: u32) -> Result<(), Failure> {
    let sessions = journal.list_sessions(limit).await?;
    if json {
        let views: Vec<SessionView<'_>> = sessions.iter().map(build_view).collect();
        return Ok(printer.json(&views)?);
    }
    if sessions.is_empty() {
        return Ok(
            printer.print("There is no conversation yet. Start one with: lango run \"…\"\n")?
        );
    }
    let rows: Vec<Vec<String>> = sessions
        .iter()
        .map(|session| {
            let state = if session.unfinished { "unfinished" } else { "" };
            vec![
                session.id.to_string(),
                local_time(session.updated_at),
                session.turns.to_string(),
                state.to_owned(),
                session.title.clone(),
            ]
        })
        .collect();
    Ok(printer.print(&render_table(&["SESSION", "LAST USED", "TURNS", "STATE", "TITLE"], &rows))?)
}

fn build_view(session: &SessionSummary) -> SessionView<'_> {
    SessionView {
        id: &session.id,
        title: &session.title,
        workspace: &session.workspace,
        created_at: session.created_at,
        updated_at: session.updated_at,
        turns: session.turns,
        unfinished: session.unfinished,
    }
}

pub(super) fn local_time(time: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(time.as_microseconds()).map_or_else(
        |_| time.to_string(),
        |time| time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

pub(super) async fn find_session(journal: &Journal, given: &str) -> Result<SessionId, Failure> {
    let found = journal.find_sessions(given).await?;
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::usage(format!(
            "there is no conversation {given:?}. See: lango sessions list"
        ))),
        many => match many.iter().find(|id| id.as_str() == given) {
            Some(exact) => Ok(exact.clone()),
            None => Err(super::run::ambiguous_session_error(given, many)),
        },
    }
}

async fn show(printer: Printer, journal: &Journal, given: &str, json: bool) -> Result<(), Failure> {
    let session = find_session(journal, given).await?;
    if json {
        let mut all = Vec::new();
        let mut after = 0;
        while let Some((events, last)) = read_page(journal, &session, after).await? {
            all.extend(events);
            after = last;
        }
        return Ok(printer.json(&all)?);
    }
    let mut after = 0;
    while let Some((events, last)) = read_page(journal, &session, after).await? {
        let text: String = events.iter().filter_map(render_event).collect();
        printer.print(&text)?;
        after = last;
    }
    let redacted = journal.list_redacted_events(&session).await?;
    if !redacted.is_empty() {
        printer.print("\nWords of these calls and approvals were forgotten:\n")?;
        for RedactedEvent { seq, digest, redacted_at } in redacted {
            let at = local_time(redacted_at);
            printer.print(&format!("  event {seq}, {at}; it was SHA-256 {digest}\n"))?;
        }
    }
    Ok(())
}

async fn read_page(
    journal: &Journal,
    session: &SessionId,
    after: u64,
) -> Result<Option<(Vec<Event>, u64)>, Failure> {
    let events = journal.read_events(session, after, PAGE_SIZE).await?;
    Ok(events.last().map(|event| event.seq).map(|last| (events, last)))
}

/// Renders an event for the user.
fn render_event(event: &Event) -> Option<String> {
    let author = event.author.as_deref().unwrap_or("?");
    let indent = if event.branch.is_some() { "    " } else { "" };
    let said = match &event.body {
        EventBody::UserMessage { text, attachment, images, .. } => {
            let mut said = text.clone();
            if let Some(attachment) = attachment {
                said.push_str(&format!("\n[{} bytes attached]", attachment.len()));
            }
            for image in images {
                said.push_str(&format!("\n[{}, {} bytes]", image.media_type, image.bytes));
            }
            said
        }
        EventBody::Message { text, .. } => text.clone(),
        EventBody::ToolCall { tool, arguments, .. } => format!("calls {tool} {arguments}"),
        EventBody::ToolResult { status, output, milliseconds, .. } => {
            let shown = truncate_characters(output, MAX_SHOWN_CHARACTERS);
            format!("{status}, {milliseconds} ms\n{shown}")
        }
        EventBody::Transfer { to, task, .. } => format!("→ {to}: {task}"),
        EventBody::TransferRefused { requested, reason, .. } => {
            format!("no transfer to {requested:?}: {reason}")
        }
        EventBody::Rejected { reason } => format!("passes: {reason}"),
        EventBody::ApprovalRequested { summary, .. } => format!("asks to run:\n{summary}"),
        EventBody::ApprovalResolved { decision, by, .. } => format!("{decision:?} by {by}"),
        EventBody::Reasoning { text, .. } if text.is_empty() => return None,
        EventBody::Reasoning { text, .. } => {
            let shown = truncate_characters(text, MAX_SHOWN_CHARACTERS);
            format!("thinks: {shown}")
        }
        EventBody::Setback { reason, next, .. } => format!("setback: {reason}; next: {next}"),
        EventBody::Warning { text, .. } => format!("warning: {text}"),
        EventBody::TurnFinished(outcome) => {
            let calls = outcome.work.spent.model_calls;
            return Some(format!("-- turn finished, {calls} model calls\n\n"));
        }
        EventBody::TextDelta { .. }
        | EventBody::ToolStarted { .. }
        | EventBody::TransferFinished { .. }
        | EventBody::Usage { .. } => return None,
    };
    let text = said.replace('\n', &format!("\n{indent}  "));
    Some(format!("{indent}{author}: {text}\n"))
}

async fn export(
    journal: &Journal,
    session: &SessionId,
    mut write: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut after = 0;
    while let Some((events, last)) = read_page(journal, session, after).await? {
        let mut text = String::new();
        for event in &events {
            text.push_str(&serde_json::to_string(event).map_err(io::Error::from)?);
            text.push('\n');
        }
        write(&text)?;
        after = last;
    }
    Ok(())
}

async fn delete(
    printer: Printer,
    database: Database,
    journal: &Journal,
    given: &str,
    yes: bool,
) -> Result<ExitStatus, Failure> {
    let session = find_session(journal, given).await?;
    let question = format!("Delete {session} and everything in it?");
    if !yes && !ask_to_confirm(&question, &format!("deleting {session}")).await? {
        printer.print("Nothing was deleted.\n")?;
        return Ok(ExitStatus::Failure);
    }
    journal.delete_session(&session).await?;
    lango_a2a::remote::forget_session(database, &session).await?;
    printer.print(&format!("Deleted {session}.\n"))?;
    Ok(ExitStatus::Success)
}
