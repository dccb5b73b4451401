//! `lango secrets`: stores, lists and deletes secrets.

use std::io::{IsTerminal as _, Read as _};

use lango_app::config::list_plain_secrets;
use lango_app::parse_origin;
use lango_keystore::{
    EntryAttributes, EntryInfo, EntryKind, EntryName, KeyStoreError, SecretBytes,
};
use lango_terminal::Terminal;

use super::sessions::local_time;
use super::vault::{actor, open};
use super::{CommandContext, ask_hidden, ask_to_confirm};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::SecretsCommand;
use lango_terminal::render_table;

/// Limits what is read from standard input.
const MAX_INPUT_BYTES: u64 = 1024 * 1024;

/// Sets below which length a value is not recognised where it must not appear.
const SHORT_BYTES: usize = 8;

pub(crate) async fn secrets(
    context: &CommandContext,
    command: SecretsCommand,
) -> Result<ExitStatus, Failure> {
    let printer = context.printer;
    match command {
        SecretsCommand::Set { name, origin } => set(context, &name, origin.as_deref()).await?,
        SecretsCommand::List { json } => {
            let secrets = open(context).await?.list(EntryKind::Secret).await?;
            if json {
                printer.json(&secrets)?;
            } else if secrets.is_empty() {
                printer.print("No secrets yet. Store one with: lango secrets set NAME\n")?;
            } else {
                printer.print(&render(&secrets))?;
            }
        }
        SecretsCommand::ImportConfig { dry_run } => import_config(context, dry_run).await?,
        SecretsCommand::Delete { name, yes } => {
            let store = open(context).await?;
            let (kind, name) = (EntryKind::Secret, parse(&name)?);
            let missing = || KeyStoreError::NotFound { kind, name: name.clone() };
            store.find(kind, &name).await?.ok_or_else(missing)?;
            let question = format!("Delete the secret {name} for good?");
            if !yes && !ask_to_confirm(&question, "deleting a secret").await? {
                printer.print("It was kept.\n")?;
                return Ok(ExitStatus::Failure);
            }
            if !store.delete(kind, &name, &actor("lango secrets delete")).await? {
                return Err(missing().into());
            }
            printer.print(&format!("Deleted {name}.\n"))?;
        }
    }
    Ok(ExitStatus::Success)
}

async fn set(context: &CommandContext, name: &str, origin: Option<&str>) -> Result<(), Failure> {
    let name = parse(name)?;
    let origin = origin.map(parse_origin).transpose()?;
    let store = open(context).await?;
    let value = read_value(&name).await?;
    if value.is_empty() {
        return Err(Failure::usage("the value is empty; nothing was stored"));
    }
    let short = value.len() < SHORT_BYTES;
    // A secret that is bound to a site stays bound to it.
    let before = store.find(EntryKind::Secret, &name).await?;
    let origin = origin.or_else(|| before.and_then(|entry| entry.attributes.origin));
    let attributes = EntryAttributes { origin, ..EntryAttributes::default() };
    let actor = actor("lango secrets set");
    let entry = store.put(EntryKind::Secret, &name, &value, attributes, &actor).await?;
    let done = if entry.version == 1 { "Stored" } else { "Replaced" };
    context.printer.print(&format!("{done} {name}.\n"))?;
    if short {
        context.printer.note(
            "The value is so short that it is not recognised where it must not appear, such as in the \
             output of a command.",
        );
    }
    Ok(())
}

/// Moves what stands in the configuration's file.
async fn import_config(context: &CommandContext, dry_run: bool) -> Result<(), Failure> {
    let (printer, file) = (context.printer, context.app.home.config_file.display());
    let moved: Vec<(String, String)> = if dry_run {
        let listed = list_plain_secrets(&context.app.home.config_file)?;
        listed.into_iter().map(|found| (found.key, found.name)).collect()
    } else {
        context.app.move_plain_secrets(&open(context).await?).await?
    };
    if moved.is_empty() {
        printer.print(&format!("There are no keys or tokens in {file}.\n"))?;
        return Ok(());
    }
    let done = if dry_run { "would become" } else { "is now" };
    for (key, name) in &moved {
        printer.print(&format!("{key} {done} secret:{name}\n"))?;
    }
    if !dry_run {
        printer
            .note("Copies of the file from before still have them. Replace keys that others saw.");
    }
    Ok(())
}

/// Reads a value from a pipe or a file as it is, without a line break at its end, or asks for it.
async fn read_value(name: &EntryName) -> Result<SecretBytes, Failure> {
    if std::io::stdin().is_terminal() {
        let Some(terminal) = Terminal::on_standard_input() else {
            return Err(Failure::usage("give the value on standard input, or at a terminal"));
        };
        let prompt = format!("Value of the secret {name} (not shown): ");
        return Ok(SecretBytes::from(ask_hidden(&terminal, &prompt).await?));
    }
    let mut value = Vec::new();
    std::io::stdin().take(MAX_INPUT_BYTES + 1).read_to_end(&mut value)?;
    if value.last() == Some(&b'\n') {
        value.pop();
        if value.last() == Some(&b'\r') {
            value.pop();
        }
    }
    Ok(SecretBytes::new(value))
}

fn parse(name: &str) -> Result<EntryName, Failure> {
    Ok(name.parse().map_err(KeyStoreError::from)?)
}

fn render(secrets: &[EntryInfo]) -> String {
    let row = |secret: &EntryInfo| {
        let used = secret.used_at.map_or("never".to_owned(), local_time);
        let origin = secret.attributes.origin.clone().unwrap_or_default();
        vec![secret.name.to_string(), local_time(secret.updated_at), used, origin]
    };
    let rows: Vec<Vec<String>> = secrets.iter().map(row).collect();
    render_table(&["SECRET", "STORED", "USED", "ONLY FOR"], &rows)
}
