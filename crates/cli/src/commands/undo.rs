//! `lango undo`: restores files as they were before a turn.

use std::path::PathBuf;

use lango_app::Stores;
use lango_operator::{ChangedTurn, Records, RestoreResult, RestoreState, Workspace};
use lango_protocol::Timestamp;
use serde::Serialize;

use super::sessions::local_time;
use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::UndoArguments;
use lango_terminal::render_table;

#[derive(Serialize)]
struct TurnView<'a> {
    turn: String,
    session: &'a str,
    workspace: String,
    at: Timestamp,
    changes: u64,
}

pub(crate) async fn undo(
    context: &CommandContext,
    arguments: UndoArguments,
) -> Result<ExitStatus, Failure> {
    let Stores { database, .. } = context.app.open_stores().await?;
    let store = context.app.open_key_store(database.clone()).await?;
    let log = Records::open(database).await?.with_key_store(store)?;
    let turns = log.list_changed_turns().await?;
    if arguments.list {
        list(context.printer, &turns, arguments.json)?;
        return Ok(ExitStatus::Success);
    }
    let chosen = choose_turn(&turns, &arguments)?;
    let workspace = Workspace::open(&chosen.workspace)?;
    let restored = log.undo(chosen.turn, &workspace, arguments.dry_run).await?;
    let left = restored.iter().any(|one| one.state == RestoreState::LeftAlone);
    if arguments.json {
        context.printer.json(&restored)?;
    } else {
        context.printer.print(&describe_undo(chosen, &restored, arguments.dry_run))?;
    }
    Ok(if left { ExitStatus::Failure } else { ExitStatus::Success })
}

fn choose_turn<'a>(
    turns: &'a [ChangedTurn],
    arguments: &UndoArguments,
) -> Result<&'a ChangedTurn, Failure> {
    if let Some(given) = &arguments.turn {
        let mut found = turns.iter().filter(|turn| turn.turn.to_string().starts_with(given));
        return match (found.next(), found.next()) {
            (Some(one), None) => Ok(one),
            (None, _) => Err(Failure::usage(format!(
                "no turn {given:?} has changes that could be taken back. See: lango undo --list"
            ))),
            (Some(_), Some(_)) => {
                Err(Failure::usage(format!("{given:?} could be several turns; type more of it")))
            }
        };
    }
    let here = match &arguments.workspace {
        Some(path) => path.canonicalize(),
        None => std::env::current_dir().and_then(|path| path.canonicalize()),
    };
    let here: PathBuf = here.map_err(|error| Failure::usage(format!("the workspace: {error}")))?;
    turns.iter().find(|turn| turn.workspace == here).ok_or_else(|| {
        Failure::usage(format!(
            "no turn changed files in {}. Other places: lango undo --list",
            here.display()
        ))
    })
}

fn list(printer: Printer, turns: &[ChangedTurn], json: bool) -> Result<(), Failure> {
    if json {
        let views: Vec<TurnView<'_>> = turns
            .iter()
            .map(|turn| TurnView {
                turn: turn.turn.to_string(),
                session: turn.session.as_str(),
                workspace: turn.workspace.display().to_string(),
                at: turn.at,
                changes: turn.changes,
            })
            .collect();
        return Ok(printer.json(&views)?);
    }
    if turns.is_empty() {
        return Ok(printer.print("No turn changed a file.\n")?);
    }
    let row = |turn: &ChangedTurn| {
        vec![
            turn.turn.to_string(),
            local_time(turn.at),
            turn.changes.to_string(),
            turn.session.to_string(),
            turn.workspace.display().to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = turns.iter().map(row).collect();
    Ok(printer.print(&render_table(&["TURN", "WHEN", "CHANGES", "SESSION", "WORKSPACE"], &rows))?)
}

fn describe_undo(turn: &ChangedTurn, restored: &[RestoreResult], pretend: bool) -> String {
    let would = if pretend { "would be " } else { "" };
    let mut text = format!("turn {} of {}:\n", turn.turn, local_time(turn.at));
    for one in restored {
        let RestoreResult { path, state, detail } = one;
        text += &match state {
            RestoreState::Restored => format!("  {would}restored  {path}: {detail}\n"),
            RestoreState::Unchanged => format!("  unchanged  {path}: {detail}\n"),
            RestoreState::LeftAlone => format!("  left alone {path}: {detail}\n"),
        };
    }
    text
}
