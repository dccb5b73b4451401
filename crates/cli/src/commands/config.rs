//! `lango config`: shows and changes the configuration.

use std::path::PathBuf;

use lango_app::Home;
use lango_app::config::{self, Config, ValueOrigin, known_keys};
use serde::Serialize;

use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::ConfigCommand;
use lango_terminal::{render_table, render_wrapped_table};

#[derive(Serialize)]
struct KeyView {
    key: String,
    value: Option<toml::Value>,
    origin: ValueOrigin,
    variable: Option<String>,
    description: String,
}

/// Runs the command. `context` may have failed: the commands that help to repair a broken `file`
/// must still work.
pub(crate) fn config(
    context: Result<CommandContext, Failure>,
    printer: Printer,
    file: Option<PathBuf>,
    command: ConfigCommand,
) -> Result<ExitStatus, Failure> {
    match command {
        ConfigCommand::Path => {
            let home = match context {
                Ok(context) => context.app.home,
                Err(_) => Home::find(file)?,
            };
            printer.print(&format!(
                "config    {}\ndatabase  {}\n",
                home.config_file.display(),
                home.database().display()
            ))?;
        }
        ConfigCommand::Schema => printer.json(&config::config_schema())?,
        ConfigCommand::Show { json, origin } => show(&context?, json, origin)?,
        ConfigCommand::Get { key } => get(&context?, &key)?,
        ConfigCommand::Set { key, value } => {
            let home = match context {
                Ok(context) => context.app.home,
                Err(_) => Home::find(file)?,
            };
            config::set_key(&home.config_file, &key, &value)?;
            printer.print(&format!("{key} set in {}\n", home.config_file.display()))?;
        }
        ConfigCommand::Unset { key } => {
            let home = match context {
                Ok(context) => context.app.home,
                Err(_) => Home::find(file)?,
            };
            let path = home.config_file.display();
            let line = if config::unset_key(&home.config_file, &key)? {
                format!("{key} removed from {path}\n")
            } else {
                config::check_key(&key)?;
                format!("{key} is not set in {path}\n")
            };
            printer.print(&line)?;
        }
    }
    Ok(ExitStatus::Success)
}

fn build_key_views(context: &CommandContext) -> Result<Vec<KeyView>, Failure> {
    let table = toml::Table::try_from(context.config())?;
    let mut views = Vec::new();
    for key in known_keys() {
        for (path, value) in find_values(&table, &key.path) {
            let origin =
                context.app.loaded.origins.get(&path).cloned().unwrap_or(ValueOrigin::Default);
            views.push(KeyView {
                key: path,
                value,
                origin,
                variable: key.variable(),
                description: key.description.clone(),
            });
        }
    }
    Ok(views)
}

/// Returns the values at a path; `*` stands for every name there is.
fn find_values(table: &toml::Table, path: &str) -> Vec<(String, Option<toml::Value>)> {
    let Some((name, rest)) = path.split_once('.') else {
        return vec![(path.to_owned(), table.get(path).cloned())];
    };
    let names: Vec<&str> =
        if name == "*" { table.keys().map(String::as_str).collect() } else { vec![name] };
    let mut found = Vec::new();
    for name in names {
        match table.get(name) {
            Some(toml::Value::Table(inner)) => {
                let below = find_values(inner, rest).into_iter();
                found.extend(below.map(|(path, value)| (format!("{name}.{path}"), value)));
            }
            _ => found.push((format!("{name}.{rest}"), None)),
        }
    }
    found
}

fn show(context: &CommandContext, json: bool, origin: bool) -> Result<(), Failure> {
    let views: Vec<KeyView> =
        build_key_views(context)?.into_iter().filter(|v| !v.key.contains('*')).collect();
    if json {
        return Ok(context.printer.json(&views)?);
    }
    let text = |value: &Option<toml::Value>| {
        value.as_ref().map_or_else(|| "(not set)".to_owned(), render_value)
    };
    if !origin {
        let rows: Vec<Vec<String>> =
            views.iter().map(|view| vec![view.key.clone(), text(&view.value)]).collect();
        return Ok(context.printer.print(&render_wrapped_table(&["KEY", "VALUE"], &rows))?);
    }
    let rows: Vec<Vec<String>> = views
        .iter()
        .map(|view| {
            let variable = view.variable.clone().unwrap_or_default();
            vec![view.key.clone(), text(&view.value), variable, view.origin.to_string()]
        })
        .collect();
    Ok(context.printer.print(&render_table(&["KEY", "VALUE", "VARIABLE", "FROM"], &rows))?)
}

/// Renders a value, with passwords removed.
fn render_value(value: &toml::Value) -> String {
    if let toml::Value::String(text) = value
        && let Ok(location) = text.parse::<lango_store::DatabaseLocation>()
        && text.contains("://")
        && text.contains('@')
    {
        return format!("\"{location}\"");
    }
    value.to_string()
}

fn get(context: &CommandContext, key: &str) -> Result<(), Failure> {
    config::check_key(key)?;
    let table = toml::Table::try_from(Config::clone(context.config()))?;
    match find_values(&table, key).pop().and_then(|(_, value)| value) {
        Some(toml::Value::String(text)) => Ok(context.printer.print(&format!("{text}\n"))?),
        Some(value) => Ok(context.printer.print(&format!("{value}\n"))?),
        None => Ok(()),
    }
}
