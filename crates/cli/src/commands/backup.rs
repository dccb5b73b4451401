//! `lango backup`: makes, checks and restores backups of the database.

use std::path::{Path, PathBuf};

use lango_app::schema_components;
use lango_protocol::Timestamp;
use lango_store::{BackupInfo, DatabaseLocation, RestoreReport, restore_backup, verify_backup};
use serde::Serialize;

use super::CommandContext;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::BackupCommand;

#[derive(Serialize)]
struct BackupOutput<'a> {
    file: String,
    #[serde(flatten)]
    backup: &'a BackupInfo,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<&'a str>,
}

pub(crate) async fn backup(
    context: &CommandContext,
    command: BackupCommand,
) -> Result<ExitStatus, Failure> {
    match command {
        BackupCommand::Create { file, json } => {
            let stores = context.app.open_stores().await?;
            let file = file.map_or_else(|| choose_file(context), Ok)?;
            let made = stores.database.create_backup(&file, &schema_components()).await?;
            let text = format!("Wrote {} ({} bytes)\n", file.display(), made.bytes);
            print(context, json, &file, &made, None, &text)
        }
        BackupCommand::Verify { file, json } => {
            let found = verify_backup(&file, &schema_components()).await?;
            let day = Timestamp::from_microseconds(found.created_at).day();
            let text =
                format!("{} is whole: made on {day}, {} bytes\n", file.display(), found.bytes);
            print(context, json, &file, &found, None, &text)
        }
        BackupCommand::Restore { file, force, json } => {
            let location = context.app.database_location()?;
            let restored = restore_backup(&file, &location, &schema_components(), force).await?;
            let RestoreReport { backup, kept } = restored;
            let before = kept.as_ref().map_or_else(String::new, |kept| {
                format!("The database that was there is kept: {kept}\n")
            });
            let text = format!("Restored {location} from {}\n{before}", file.display());
            print(context, json, &file, &backup, kept.as_deref(), &text)
        }
    }
}

fn print(
    context: &CommandContext,
    json: bool,
    file: &Path,
    backup: &BackupInfo,
    kept: Option<&str>,
    text: &str,
) -> Result<ExitStatus, Failure> {
    if json {
        let file = file.display().to_string();
        context.printer.json(&BackupOutput { file, backup, kept })?;
    } else {
        context.printer.print(text)?;
    }
    Ok(ExitStatus::Success)
}

/// Returns a file that is not there yet, in the directory of the database.
fn choose_file(context: &CommandContext) -> Result<PathBuf, Failure> {
    let directory = match context.app.database_location()? {
        DatabaseLocation::Sqlite(path) => path.parent().map(Path::to_owned),
        DatabaseLocation::Postgres(_) => None,
    };
    let directory = directory.unwrap_or_else(|| context.app.home.data.clone());
    std::fs::create_dir_all(&directory)?;
    let day = Timestamp::now().day();
    let name = |number: u32| match number {
        1 => format!("lango-{day}.backup"),
        _ => format!("lango-{day}-{number}.backup"),
    };
    let files = (1..=u32::MAX).map(|number| directory.join(name(number)));
    let mut free = files.filter(|file| !file.exists());
    free.next().ok_or_else(|| Failure::usage("name a file: lango backup create FILE"))
}
