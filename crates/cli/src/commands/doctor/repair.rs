//! `lango doctor --repair`.

use lango_store::{RepairReport, repair_database};
use lango_text::make_visible;

use crate::commands::CommandContext;
use crate::failure::{ExitStatus, Failure};

/// Repairs the database, and says what was done.
pub(crate) async fn repair(context: &CommandContext, json: bool) -> Result<ExitStatus, Failure> {
    let location = context.app.database_location()?;
    let report = repair_database(&location).await?;
    if json {
        context.printer.json(&report)?;
        return Ok(ExitStatus::Success);
    }
    let RepairReport { actions, kept } = report;
    let mut text = format!("Repaired {location}\n");
    for action in actions {
        text.push_str(&format!("  {}\n", make_visible(&action)));
    }
    if let Some(kept) = kept {
        text.push_str(&format!("The files from before are kept: {kept}\n"));
    }
    context.printer.print(&text)?;
    Ok(ExitStatus::Success)
}
