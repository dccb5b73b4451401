//! Changes the file without losing what the user wrote in it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Table;
use toml_edit::DocumentMut;

use super::keys::known_keys;
use super::load::{check_known, check_ranges, insert_value, list_of, parse_value, split_key};
use super::{Config, ConfigError, ValueOrigin};

/// Refuses a key that does not exist.
pub fn check_key(key: &str) -> Result<(), ConfigError> {
    check_known(&split_key(key), &known_keys(), &ValueOrigin::Default)
}

/// Sets one key in the file, keeping comments and order. Nothing is written unless the result is
/// a valid configuration.
pub fn set_key(path: &Path, key: &str, text: &str) -> Result<(), ConfigError> {
    let origin = ValueOrigin::File(path.to_owned());
    let file = origin.clone();
    let parts = split_key(key);
    check_known(&parts, &known_keys(), &origin)?;
    let mut document = read_document(path)?;

    // A bare word is text, unless the key wants something else.
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    let wants_list = known_keys().iter().any(|known| known.is_list && known.matches(&names));
    let value = if wants_list { list_of(text) } else { parse_value(text) };
    let mut alone = Table::new();
    insert_value(&mut alone, &parts, value.clone());
    let bad = |reason: String| ConfigError::BadValue { key: key.to_owned(), origin, reason };
    Config::deserialize(alone.clone()).map_err(|error| bad(error.message().trim().to_owned()))?;
    check_ranges(&alone, &known_keys(), &BTreeMap::from([(key.to_owned(), file)]))?;

    let item: toml_edit::Value = value
        .to_string()
        .parse()
        .map_err(|error: toml_edit::TomlError| not_toml_error(path, error.to_string()))?;
    let Some((name, sections)) = parts.split_last() else { return Ok(()) };
    find_or_add_section(path, &mut document, sections)?.insert(name, toml_edit::value(item));
    write_document(path, &document)
}

/// Adds a table to a list of tables, as a `[[find_or_add_section]]` of its own unless the list is written in
/// one line.
pub fn add_to_list(path: &Path, key: &str, entry: &toml_edit::Table) -> Result<(), ConfigError> {
    let mut document = read_document(path)?;
    let parts = split_key(key);
    let Some((name, sections)) = parts.split_last() else { return Ok(()) };
    let table = find_or_add_section(path, &mut document, sections)?;
    let list = table
        .entry(name)
        .or_insert_with(|| toml_edit::Item::ArrayOfTables(toml_edit::ArrayOfTables::new()));
    match list {
        toml_edit::Item::ArrayOfTables(tables) => tables.push(entry.clone()),
        toml_edit::Item::Value(toml_edit::Value::Array(array)) => {
            array.push(entry.clone().into_inline_table());
        }
        _ => return Err(not_toml_error(path, format!("{key} is not a list"))),
    }
    // The file must read back as what is written.
    let text = document.to_string();
    let parsed = text.parse::<Table>().map_err(|error| not_toml_error(path, error.to_string()))?;
    Config::deserialize(parsed).map_err(|error| ConfigError::BadValue {
        key: key.to_owned(),
        origin: ValueOrigin::File(path.to_owned()),
        reason: error.message().trim().to_owned(),
    })?;
    write_document(path, &document)
}

/// Removes the tables of a list whose `name` is this one. Tells whether there was any.
pub fn remove_from_list(path: &Path, key: &str, wanted: &str) -> Result<bool, ConfigError> {
    let mut document = read_document(path)?;
    let parts = split_key(key);
    let Some((name, sections)) = parts.split_last() else { return Ok(false) };
    let table = find_or_add_section(path, &mut document, sections)?;
    let is_wanted = |value: Option<&str>| value == Some(wanted);
    let removed = match table.get_mut(name) {
        Some(toml_edit::Item::ArrayOfTables(tables)) => {
            let before = tables.len();
            tables.retain(|table| !is_wanted(table.get("name").and_then(|name| name.as_str())));
            before != tables.len()
        }
        Some(toml_edit::Item::Value(toml_edit::Value::Array(array))) => {
            let before = array.len();
            array.retain(|value| {
                let table = value.as_inline_table();
                let name = table.and_then(|table| table.get("name")).and_then(|name| name.as_str());
                !is_wanted(name)
            });
            before != array.len()
        }
        _ => false,
    };
    if removed {
        write_document(path, &document)?;
    }
    Ok(removed)
}

fn not_toml_error(path: &Path, reason: String) -> ConfigError {
    ConfigError::NotToml { path: path.to_owned(), reason }
}

pub(super) fn read_document(path: &Path) -> Result<DocumentMut, ConfigError> {
    let current = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(ConfigError::Unreadable {
                path: path.to_owned(),
                reason: error.to_string(),
            });
        }
    };
    current.parse().map_err(|error: toml_edit::TomlError| not_toml_error(path, error.to_string()))
}

pub(super) fn write_document(path: &Path, document: &DocumentMut) -> Result<(), ConfigError> {
    crate::home::write_private(path, &document.to_string()).map_err(|error| {
        ConfigError::Unwritable { path: path.to_owned(), reason: error.to_string() }
    })
}

/// Returns the table of these sections, and makes it if it does not exist.
fn find_or_add_section<'a>(
    path: &Path,
    document: &'a mut DocumentMut,
    sections: &[String],
) -> Result<&'a mut toml_edit::Table, ConfigError> {
    let mut table = document.as_table_mut();
    for section in sections {
        // New tables are written as [sections], as a person would.
        let section = table.entry(section).or_insert_with(|| {
            let mut table = toml_edit::Table::new();
            table.set_implicit(true);
            toml_edit::Item::Table(table)
        });
        let inline = || {
            not_toml_error(
                path,
                format!("write {} as a [section] to change it", sections.join(".")),
            )
        };
        table = section.as_table_mut().ok_or_else(inline)?;
    }
    Ok(table)
}

/// Removes a key, or a section with its content. Returns false if it was not there.
pub fn unset_key(path: &Path, key: &str) -> Result<bool, ConfigError> {
    let current = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => {
            return Err(ConfigError::Unreadable {
                path: path.to_owned(),
                reason: error.to_string(),
            });
        }
    };
    let mut document: DocumentMut = current.parse().map_err(|error: toml_edit::TomlError| {
        ConfigError::NotToml { path: path.to_owned(), reason: error.to_string() }
    })?;
    let parts = split_key(key);
    let Some((name, sections)) = parts.split_last() else { return Ok(false) };
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for section in sections {
        let inner = table.get_mut(section).and_then(toml_edit::Item::as_table_like_mut);
        let Some(inner) = inner else { return Ok(false) };
        table = inner;
    }
    if table.remove(name).is_none() {
        return Ok(false);
    }
    crate::home::write_private(path, &document.to_string()).map_err(|error| {
        ConfigError::Unwritable { path: path.to_owned(), reason: error.to_string() }
    })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_keeps_comments_and_refuses_what_would_not_load() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        std::fs::write(&path, "# mine\n[agent]\nmultiAgent = true # yes\n").unwrap();
        set_key(&path, "agent.topology", "compact").unwrap();
        set_key(&path, "budget.seconds", "5").unwrap();
        set_key(&path, "providers.local.baseUrl", "http://127.0.0.1:1234/v1").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("# mine") && text.contains("# yes"), "{text}");
        let loaded = super::super::load_config(&path, []).unwrap();
        assert_eq!(loaded.config.agent.topology, "compact");
        assert_eq!(loaded.config.budget.seconds, 5);
        assert_eq!(
            loaded.config.providers["local"].base_url.as_deref(),
            Some("http://127.0.0.1:1234/v1")
        );
        set_key(&path, "model.fallbacks", "local/a, openai/b").unwrap();
        set_key(&path, "models.\"gpt-4.1\".contextWindow", "1000").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let loaded = super::super::load_config(&path, []).unwrap();
        assert_eq!(loaded.config.model.fallbacks, ["local/a", "openai/b"]);
        assert_eq!(loaded.config.models["gpt-4.1"].context_window, Some(1000));
        assert!(set_key(&path, "budget.seconds", "soon").is_err());
        assert!(set_key(&path, "budget.second", "5").is_err());
        for (key, value) in [
            ("model.temperature", "5"),
            ("model.temperature", "-0.1"),
            ("model.temperature", "nan"),
            ("agents.operator.temperature", "2.5"),
            ("budget.toolCalls", "0"),
        ] {
            let refused = set_key(&path, key, value).unwrap_err().to_string();
            assert!(refused.starts_with(key), "{refused}");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn tables_are_added_to_a_list_and_removed_by_name() {
        let directory = tempfile::tempdir().unwrap();
        for start in
            ["# mine\n", "# mine\n[a2a]\nremoteAgents = [{ name = \"x\", agentCardUrl = \"u\" }]\n"]
        {
            let path = directory.path().join("config.toml");
            std::fs::write(&path, start).unwrap();
            let mut entry = toml_edit::Table::new();
            entry.insert("name", toml_edit::value("weather"));
            assert!(add_to_list(&path, "a2a.remoteAgents", &entry).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), start);
            entry.insert("agentCardUrl", toml_edit::value("http://127.0.0.1:1/"));
            add_to_list(&path, "a2a.remoteAgents", &entry).unwrap();
            let agents = super::super::load_config(&path, []).unwrap().config.a2a.remote_agents;
            assert_eq!(agents.last().unwrap().name, "weather");
            assert!(remove_from_list(&path, "a2a.remoteAgents", "weather").unwrap());
            assert!(!remove_from_list(&path, "a2a.remoteAgents", "weather").unwrap());
            let left = super::super::load_config(&path, []).unwrap().config.a2a.remote_agents;
            assert_eq!(left.len(), agents.len() - 1);
            assert!(std::fs::read_to_string(&path).unwrap().contains("# mine"));
        }
    }
}
