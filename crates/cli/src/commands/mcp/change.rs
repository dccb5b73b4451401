//! Adds, removes and imports servers.

use std::path::{Path, PathBuf};

use lango_app::SecretValues;
use lango_app::config::{self, McpServerConfig};
use lango_app::mcp::{self as wired, EntryError};
use lango_mcp::client::{ConfigSource, delete_home, logout, read_servers, server_home};

use super::super::CommandContext;
use crate::failure::Failure;
use lango_arguments::McpAddArguments;

/// Splits `name=value` into its two parts.
pub(super) fn split_pair(text: &str, sign: char) -> Result<(String, String), Failure> {
    let (name, value) = text
        .split_once(sign)
        .ok_or_else(|| Failure::usage(format!("{text:?} is not of the form NAME{sign}VALUE")))?;
    Ok((name.trim().to_owned(), value.trim_start().to_owned()))
}

pub(super) fn add(context: &CommandContext, arguments: McpAddArguments) -> Result<(), Failure> {
    let name = arguments.name;
    if context.config().mcp_servers.contains_key(&name) {
        return Err(Failure::usage(format!(
            "there is a server {name} already. To replace it: lango mcp remove {name}"
        )));
    }
    let mut command = arguments.command.into_iter();
    let given = McpServerConfig {
        command: command.next(),
        args: command.collect(),
        env: arguments.env.iter().map(|text| split_pair(text, '=')).collect::<Result<_, _>>()?,
        headers: arguments
            .header
            .iter()
            .map(|text| split_pair(text, ':'))
            .collect::<Result<_, _>>()?,
        url: arguments.url,
        bearer_token_env_var: arguments.bearer_token_env_var,
        agent: arguments.agent,
        cwd: arguments.cwd,
        ..McpServerConfig::default()
    };
    write_entry(context, &name, &given)?;
    let mut text =
        format!("{name} is configured. To see whether it works: lango mcp test {name}\n");
    if given.agent.is_none() {
        text += &format!(
            "No agent has its tools yet. For example: lango config set mcp_servers.{name}.agent \
             operator\n"
        );
    }
    Ok(context.printer.print(&text)?)
}

/// Checks an entry and writes the values that are not defaults.
fn write_entry(
    context: &CommandContext,
    name: &str,
    given: &McpServerConfig,
) -> Result<(), Failure> {
    match wired::resolve_entry(name, given, &SecretValues::unread()) {
        // A variable may be set later, in the shell that uses it.
        Ok(_) | Err(EntryError::UnsetVariable(_)) => {}
        Err(why) => return Err(Failure::usage(format!("{name} cannot be used: {why}"))),
    }
    let whole = toml::Value::try_from(given)?;
    let usual = toml::Value::try_from(McpServerConfig::default())?;
    let (Some(whole), Some(usual)) = (whole.as_table(), usual.as_table()) else { return Ok(()) };
    for (key, value) in whole.iter().filter(|(key, value)| usual.get(*key) != Some(value)) {
        match value {
            toml::Value::Table(entries) => {
                for (inner, value) in entries {
                    let key = format!("mcp_servers.{name}.{key}.\"{inner}\"");
                    config::set_key(&context.app.home.config_file, &key, &value.to_string())?;
                }
            }
            value => {
                let key = format!("mcp_servers.{name}.{key}");
                config::set_key(&context.app.home.config_file, &key, &value.to_string())?;
            }
        }
    }
    Ok(())
}

pub(super) async fn remove(
    context: &CommandContext,
    name: &str,
    delete_files: bool,
) -> Result<(), Failure> {
    let (servers, environment) = super::load_stored_servers(context).await?;
    let mut files = String::new();
    if let Ok(server) = servers.get(name) {
        if let ConfigSource::Project(entry) = &server.config.source {
            return Err(Failure::usage(format!(
                "{name} is in {}/{}; remove it there, or: lango mcp revoke {name}",
                entry.directory.display(),
                wired::PROJECT_FILE
            )));
        }
        servers.known_servers().forget(&server.config).await?;
        logout(&server.config, &environment).await?;
        let homes = &environment.process_environment.homes;
        let home = server_home(homes, &server.config);
        if delete_files {
            delete_home(homes, &server.config)?;
        } else if home.exists() {
            files = format!("Its files stay in {}\n", home.display());
        }
    } else if !context.config().mcp_servers.contains_key(name) {
        servers.get(name)?;
    }
    config::unset_key(&context.app.home.config_file, &format!("mcp_servers.{name}"))?;
    Ok(context.printer.print(&format!("{name} is removed.\n{files}"))?)
}

/// Lists the files in which other programs keep their servers, below the home directory.
const SERVER_FILES: [&str; 7] = [
    ".claude.json",
    ".config/Claude/claude_desktop_config.json",
    "Library/Application Support/Claude/claude_desktop_config.json",
    ".cursor/mcp.json",
    ".config/Code/User/mcp.json",
    ".config/Code/User/settings.json",
    ".codex/config.toml",
];

pub(super) fn import(
    context: &CommandContext,
    file: Option<&Path>,
    dry_run: bool,
) -> Result<(), Failure> {
    let is_search = file.is_none();
    let files: Vec<PathBuf> = if let Some(file) = file {
        vec![file.to_owned()]
    } else {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        SERVER_FILES.iter().map(|place| home.join(place)).filter(|place| place.is_file()).collect()
    };
    if files.is_empty() {
        return Ok(context
            .printer
            .print("No file of another program was found. Name one: lango mcp import FILE\n")?);
    }
    let mut taken: Vec<String> = context.config().mcp_servers.keys().cloned().collect();
    for file in files {
        let place = file.display().to_string();
        let text = wired::read_optional_file(&file)
            .and_then(|text| text.ok_or("there is no such file".to_owned()));
        let entries = text.and_then(|text| match file.extension() {
            Some(extension) if extension == "toml" => parse_toml_entries(&text),
            _ => parse_json_entries(&text),
        });
        let entries = match entries {
            Ok(entries) => entries,
            // What is not understood is an error only in a file that the user named.
            Err(why) if is_search => {
                context.printer.note(&format!("{place} was passed over: {why}"));
                continue;
            }
            Err(why) => return Err(Failure::usage(format!("{place}: {why}"))),
        };
        for (name, entry, remark) in entries {
            let shown = lango_text::make_visible_short(&name);
            if taken.contains(&name) {
                context.printer.print(&format!("{shown}: configured already, left as it is\n"))?;
                continue;
            }
            let outcome = entry.and_then(|entry| {
                if dry_run {
                    return wired::resolve_entry(&name, &entry, &SecretValues::unread())
                        .map(drop)
                        .map_err(|why| why.to_string());
                }
                write_entry(context, &name, &entry).map_err(|failure| failure.message)
            });
            match outcome {
                Ok(()) => {
                    taken.push(name);
                    let verb = if dry_run { "would be imported" } else { "imported" };
                    context.printer.print(&format!("{shown}: {verb} from {place}{remark}\n"))?;
                }
                Err(why) => context.printer.print(&format!("{shown}: not imported: {why}\n"))?,
            }
        }
    }
    Ok(())
}

/// The name of an entry, its configuration, and a remark about it.
type ImportedEntry = (String, Result<McpServerConfig, String>, String);

/// Returns a remark about the unknown keys of an entry.
fn describe_unknown_keys(unknown: &[String]) -> String {
    match unknown {
        [] => String::new(),
        unknown => format!(" (not understood: {})", unknown.join(", ")),
    }
}

fn parse_json_entries(text: &str) -> Result<Vec<ImportedEntry>, String> {
    let entries = read_servers(text)?;
    let imported = entries.into_iter().map(|found| {
        let entry = found
            .entry
            .and_then(|entry| wired::import_entry(&entry).map_err(|why| why.to_string()));
        let remark = describe_unknown_keys(&found.unknown);
        (found.name, entry, remark)
    });
    Ok(imported.collect())
}

fn parse_toml_entries(text: &str) -> Result<Vec<ImportedEntry>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let servers = table.get("mcp_servers").and_then(toml::Value::as_table);
    let servers = servers.ok_or("it has no mcp_servers")?;
    let usual = toml::Value::try_from(McpServerConfig::default()).map_err(|e| e.to_string())?;
    // Optional keys are missing from the defaults.
    let optional = [
        "command",
        "cwd",
        "url",
        "bearer_token_env_var",
        "oauth_client_id",
        "agent",
        "oauth_client_secret_env_var",
    ];
    let imported = servers.iter().map(|(name, value)| {
        let mut entry = value.as_table().cloned().unwrap_or_default();
        let known = |key: &str| usual.get(key).is_some() || optional.contains(&key);
        let unknown: Vec<String> = entry.keys().filter(|key| !known(key)).cloned().collect();
        entry.retain(|key, _| known(key));
        let read = entry.try_into::<McpServerConfig>().map_err(|error| error.to_string());
        let remark = describe_unknown_keys(&unknown);
        (name.clone(), read, remark)
    });
    Ok(imported.collect())
}
