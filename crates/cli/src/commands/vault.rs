//! `lango vault`, `lango keys` and `lango audit`: what protects secrets and keys, and what was done
//! with them.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use lango_app::AppError;
use lango_keystore::{
    Actor, EntryInfo, EntryKind, KeyStore, KeyStoreError, Protection, SecretBytes, VaultStatus,
};
use lango_terminal::Terminal;
use lango_text::plural;
use lango_vault::{KeyKind, create_key};
use serde::Serialize;

use super::sessions::local_time;
use super::{CommandContext, ask_hidden, ask_to_confirm};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{AuditArguments, KeyKindName, KeysCommand, VaultCommand};
use lango_terminal::render_table;

#[derive(Serialize)]
struct VerifyView {
    records: i64,
    head: String,
    problem: Option<String>,
}

pub(crate) async fn vault(
    context: &CommandContext,
    command: VaultCommand,
) -> Result<ExitStatus, Failure> {
    let store = open(context).await?;
    let printer = context.printer;
    match command {
        VaultCommand::Status { json } => {
            let status = store.status().await?;
            if json {
                printer.json(&status)?;
            } else {
                printer.print(&describe_status(&store, &status))?;
            }
        }
        VaultCommand::Unlock { minutes } => {
            let passphrase = ask_passphrase("Passphrase of the vault: ").await?;
            let time = minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60)));
            let until = store.unlock(&passphrase, time, &actor("lango vault unlock")).await?;
            printer.print(&format!("Unlocked until {}.\n", local_time(until)))?;
            // What waited in plain text for the vault to be unlocked.
            let stores = context.app.open_stores().await?;
            context.app.move_credentials(&stores.database, &store).await?;
        }
        VaultCommand::Lock => {
            store.lock(&actor("lango vault lock")).await?;
            printer.print("Locked.\n")?;
        }
        VaultCommand::Passphrase { remove } => change_passphrase(context, &store, remove).await?,
        VaultCommand::Keyring { remove } => change_keyring(context, &store, remove).await?,
        VaultCommand::Rotate { revoke } => {
            let passphrase = match store.status().await?.protection {
                Protection::None => {
                    return Err(Failure::usage(
                        "the vault is empty. Store something first: lango secrets set NAME",
                    ));
                }
                Protection::KeyFile | Protection::Keyring => None,
                Protection::Passphrase => Some(ask_passphrase("Passphrase of the vault: ").await?),
            };
            let actor = actor("lango vault rotate");
            let generation = store.rotate(passphrase.as_ref(), revoke, &actor).await?;
            printer.print(&format!("Everything has new keys now (generation {generation}).\n"))?;
        }
        VaultCommand::Export { file } => {
            let passphrase = ask_twice("Passphrase for the file: ").await?;
            let sealed = store.export(&passphrase, &actor("lango vault export")).await?;
            write_new_file(&file, &sealed)?;
            printer.print(&format!("Wrote {}. It has every secret and key.\n", file.display()))?;
        }
        VaultCommand::Import { file, replace, start_anew, yes } => {
            if start_anew && !yes && !confirm_start_anew(context, &store).await? {
                printer.print("It was kept.\n")?;
                return Ok(ExitStatus::Failure);
            }
            import(context, &store, &file, replace, start_anew).await?;
        }
    }
    Ok(ExitStatus::Success)
}

pub(crate) async fn keys(
    context: &CommandContext,
    command: KeysCommand,
) -> Result<ExitStatus, Failure> {
    let store = open(context).await?;
    let printer = context.printer;
    match command {
        KeysCommand::List { json } => {
            let mut keys = Vec::new();
            for kind in EntryKind::KEYS {
                keys.extend(store.list(*kind).await?);
            }
            if json {
                printer.json(&keys)?;
            } else if keys.is_empty() {
                printer.print("No keys yet. Create one with: lango keys create NAME\n")?;
            } else {
                printer.print(&render_keys(&keys))?;
            }
        }
        KeysCommand::Create { name, kind } => {
            let kind = match kind {
                KeyKindName::Ed25519 => KeyKind::Ed25519,
                KeyKindName::Xchacha20 => KeyKind::Xchacha20,
                KeyKindName::Age => KeyKind::Age,
            };
            let name = name.parse().map_err(KeyStoreError::from)?;
            let key = create_key(&store, &name, kind, &actor("lango keys create")).await?;
            let public = key.attributes.public.map_or(String::new(), |key| format!("{key}\n"));
            printer.print(&format!("Created the {} {name}.\n{public}", key.kind))?;
        }
    }
    Ok(ExitStatus::Success)
}

pub(crate) async fn audit(
    context: &CommandContext,
    arguments: &AuditArguments,
) -> Result<ExitStatus, Failure> {
    let store = open(context).await?;
    let printer = context.printer;
    if arguments.verify {
        let verified = store.verify_audit().await?;
        let problem = verified.problem.map(|problem| problem.to_string());
        let status = if problem.is_some() { ExitStatus::Failure } else { ExitStatus::Success };
        let (records, head) = (verified.records, verified.head);
        let text = match &problem {
            None => format!(
                "{} fit together. Note the last hash to find out later whether records were cut \
                 off:\n{head}\n",
                plural(records, "record", "records")
            ),
            Some(problem) => format!("The record is not to be trusted: {problem}.\n"),
        };
        if arguments.json {
            printer.json(&VerifyView { records, head, problem })?;
        } else {
            printer.print(&text)?;
        }
        return Ok(status);
    }
    let records = store.list_audit(arguments.limit).await?;
    if arguments.json {
        printer.json(&records)?;
    } else if records.is_empty() {
        printer.print("Nothing was done with the vault yet.\n")?;
    } else {
        let rows: Vec<Vec<String>> = records
            .into_iter()
            .map(|record| {
                let (number, time) = (record.number.to_string(), local_time(record.at));
                vec![
                    number,
                    time,
                    record.action,
                    record.kind,
                    record.name,
                    record.actor,
                    record.detail,
                ]
            })
            .collect();
        let header = ["NUMBER", "TIME", "ACTION", "KIND", "NAME", "BY", "FOR"];
        printer.print(&render_table(&header, &rows))?;
    }
    Ok(ExitStatus::Success)
}

/// Opens the vault of the database.
pub(super) async fn open(context: &CommandContext) -> Result<KeyStore, AppError> {
    let stores = context.app.open_stores().await?;
    context.app.open_key_store(stores.database).await
}

pub(super) fn actor(command: &str) -> Actor {
    Actor::command(command)
}

async fn change_passphrase(
    context: &CommandContext,
    store: &KeyStore,
    remove: bool,
) -> Result<(), Failure> {
    let actor = actor("lango vault passphrase");
    let has_one = store.protection().await? == Protection::Passphrase;
    let old = if has_one { Some(ask_passphrase("Present passphrase: ").await?) } else { None };
    if remove {
        let old = old.ok_or(KeyStoreError::NoPassphrase)?;
        store.use_key_file(Some(&old), &actor).await?;
        return print_key_file(context, store);
    }
    let new = ask_twice("New passphrase: ").await?;
    store.set_passphrase(old.as_ref(), &new, &actor).await?;
    context.printer.print(
        "The vault has this passphrase now. There is no way to open it without: keep it well.\n",
    )?;
    Ok(())
}

/// Asks before everything is deleted that does not open.
async fn confirm_start_anew(context: &CommandContext, store: &KeyStore) -> Result<bool, Failure> {
    // A keyring that is away today is no lost key: the user decides by the reason.
    let why = match store.status().await {
        Ok(status) if status.unlocked => return Err(KeyStoreError::NotLost.into()),
        Ok(_) => KeyStoreError::Locked.to_string(),
        Err(error) => error.to_string(),
    };
    context.printer.print(&format!("The vault does not open: {why}\n"))?;
    ask_to_confirm("Delete everything that it has for good?", "starting anew").await
}

async fn import(
    context: &CommandContext,
    store: &KeyStore,
    file: &Path,
    replace: bool,
    start_anew: bool,
) -> Result<(), Failure> {
    let sealed = std::fs::read(file)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    let passphrase = ask_passphrase("Passphrase of the file: ").await?;
    let actor = actor("lango vault import");
    let report = if start_anew {
        store.start_anew(sealed, &passphrase, &actor).await?
    } else {
        store.import(sealed, &passphrase, replace, &actor).await?
    };
    let stored = plural(report.stored, "entry", "entries");
    let kept = match report.kept {
        0 => String::new(),
        kept => format!(" {kept} were there already; to replace them: --replace"),
    };
    context.printer.print(&format!("Stored {stored}.{kept}\n"))?;
    Ok(())
}

async fn change_keyring(
    context: &CommandContext,
    store: &KeyStore,
    remove: bool,
) -> Result<(), Failure> {
    let actor = actor("lango vault keyring");
    let protection = store.protection().await?;
    if remove {
        if protection != Protection::Keyring {
            return Err(KeyStoreError::NotInKeyring.into());
        }
        store.use_key_file(None, &actor).await?;
        return print_key_file(context, store);
    }
    let has_passphrase = protection == Protection::Passphrase;
    let old = if has_passphrase { Some(ask_passphrase("Passphrase: ").await?) } else { None };
    store.use_keyring(old.as_ref(), &actor).await?;
    context.printer.print(
        "A key in the system's keyring unlocks the vault now. Without it nothing can be opened; make a \
         backup: lango vault export FILE\n",
    )?;
    Ok(())
}

fn print_key_file(context: &CommandContext, store: &KeyStore) -> Result<(), Failure> {
    let file = store.key_file().display();
    context.printer.print(&format!("The key file {file} unlocks the vault now.\n"))?;
    Ok(())
}

async fn ask_twice(prompt: &str) -> Result<SecretBytes, Failure> {
    let first = ask_passphrase(prompt).await?;
    if ask_passphrase("The same again: ").await? != first {
        return Err(Failure::usage("the two are not the same; nothing was changed"));
    }
    Ok(first)
}

/// Writes a file that does not exist, readable by its owner only.
fn write_new_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(path);
    let written = opened.and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

async fn ask_passphrase(prompt: &str) -> Result<SecretBytes, Failure> {
    let Some(terminal) = Terminal::person() else {
        return Err(Failure::usage(
            "a passphrase is typed at a terminal. For a server, set LANGO_VAULT_PASSPHRASE",
        ));
    };
    Ok(SecretBytes::from(ask_hidden(&terminal, prompt).await?))
}

fn describe_status(store: &KeyStore, status: &VaultStatus) -> String {
    let file = store.key_file().display();
    let protection = match status.protection {
        Protection::None => {
            return "The vault is empty. Store something: lango secrets set NAME\n".to_owned();
        }
        Protection::KeyFile => format!(
            "The key file {file} unlocks the vault: who can read it can read everything. To protect \
             it with a passphrase: lango vault passphrase"
        ),
        Protection::Keyring => "A key in the system's keyring unlocks the vault.".to_owned(),
        Protection::Passphrase => "A passphrase protects the vault.".to_owned(),
    };
    let state = match (status.unlocked, status.unlocked_until) {
        (true, Some(until)) => format!("unlocked until {}", local_time(until)),
        (true, None) => "unlocked".to_owned(),
        (false, _) => "locked; unlock it: lango vault unlock".to_owned(),
    };
    let (secrets, keys) =
        (plural(status.secrets, "secret", "secrets"), plural(status.keys, "key", "keys"));
    format!("{protection}\nIt is {state}.\nIt keeps {secrets} and {keys}.\n")
}

fn render_keys(keys: &[EntryInfo]) -> String {
    let row = |key: &EntryInfo| {
        let used = key.used_at.map_or("never".to_owned(), local_time);
        let public = key.attributes.public.clone().unwrap_or_default();
        let kind = key.kind.as_str().to_owned();
        vec![key.name.to_string(), kind, local_time(key.created_at), used, public]
    };
    let rows: Vec<Vec<String>> = keys.iter().map(row).collect();
    render_table(&["KEY", "KIND", "CREATED", "USED", "PUBLIC"], &rows)
}
