//! Reads the configuration: file, then environment, each value with its origin.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::Config;
use super::keys::{ConfigKey, find_nearest_key, known_keys};

/// A configuration that cannot be used. The user can act.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there and cannot be read.
    #[error("cannot read {}: {reason}. Check it with: ls -l {}", path.display(), path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// The file is not TOML.
    #[error("{} is not valid TOML: {reason}\nCorrect the file; `lango config schema` lists all keys", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// The position and the reason.
        reason: String,
    },
    /// A key that does not exist.
    #[error("unknown key {key:?} in {origin}{}. `lango config schema` lists all keys", suggest_nearest(.nearest.as_deref()))]
    UnknownKey {
        /// The key as written.
        key: String,
        /// The origin of the key or value.
        origin: ValueOrigin,
        /// The most similar key.
        nearest: Option<String>,
    },
    /// A value that does not fit.
    #[error("{key} in {origin}: {reason}. See `lango config schema`")]
    BadValue {
        /// The key.
        key: String,
        /// The origin of the key or value.
        origin: ValueOrigin,
        /// The reason.
        reason: String,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        reason: String,
    },
}

fn suggest_nearest(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |key| format!("; did you mean {key:?}?"))
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueOrigin {
    /// It is not set.
    Default,
    /// The file.
    File(PathBuf),
    /// A variable.
    Environment(String),
}

impl std::fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("the defaults"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "the variable {name}"),
        }
    }
}

/// Holds a configuration and the origins of its values.
#[derive(Debug)]
pub struct LoadedConfig {
    /// The configuration.
    pub config: Config,
    /// By key; what is not here has its default.
    pub origins: BTreeMap<String, ValueOrigin>,
    /// Variables that look like keys and are none. They may belong to another program, or to
    /// another version of this one.
    pub unknown_variables: Vec<UnknownVariable>,
}

/// A `LANGO_…` variable that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVariable {
    /// The name.
    pub name: String,
    /// The most similar variable of a key.
    pub nearest: Option<String>,
}

impl std::fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nearest = suggest_nearest(self.nearest.as_deref());
        write!(f, "the variable {} has no effect{nearest}", self.name)
    }
}

/// Variables that are not keys of the configuration.
const OTHER_VARIABLES: &[&str] = &[
    "LANGO_HOME",
    "LANGO_CONFIG",
    "LANGO_LOG",
    // It is a secret, and users share their configuration files.
    "LANGO_SERVER_TOKEN",
    // The same.
    "LANGO_VAULT_PASSPHRASE",
    // The documents use it for the token of an API client.
    "LANGO_TOKEN",
    "LANGO_TEST_POSTGRES",
    "LANGO_PEERS",
];

/// Reads the file at `path`, if there is one, and the `LANGO_…` variables.
pub fn load_config(
    path: &Path,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<LoadedConfig, ConfigError> {
    let mut table = read_table(path)?;
    let keys = known_keys();
    let mut origins = BTreeMap::new();
    let mut unknown_variables = Vec::new();
    let file = ValueOrigin::File(path.to_owned());
    for key in value_paths(&table) {
        check_known(&key, &keys, &file)?;
        origins.insert(key.join("."), file.clone());
    }
    for (name, text) in variables {
        if !name.starts_with("LANGO_") || OTHER_VARIABLES.contains(&name.as_str()) {
            continue;
        }
        let known = keys.iter().find(|key| key.variable().as_ref() == Some(&name));
        let Some(key) = known else {
            let names: Vec<String> = keys.iter().filter_map(ConfigKey::variable).collect();
            let nearest =
                find_nearest_key(&name, names.iter().map(String::as_str)).map(str::to_owned);
            unknown_variables.push(UnknownVariable { name, nearest });
            continue;
        };
        let value = if key.is_list { list_of(&text) } else { parse_value(&text) };
        insert_value(&mut table, &split_key(&key.path), value);
        origins.insert(key.path.clone(), ValueOrigin::Environment(name));
    }
    let config =
        Config::deserialize(table.clone()).map_err(|_| find_bad_value(&table, &origins))?;
    check_ranges(&table, &keys, &origins)?;
    Ok(LoadedConfig { config, origins, unknown_variables })
}

fn read_table(path: &Path) -> Result<Table, ConfigError> {
    let unreadable = |reason: String| ConfigError::Unreadable { path: path.to_owned(), reason };
    let text = match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".into()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Table::new()),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    text.parse::<Table>().map_err(|error| ConfigError::NotToml {
        path: path.to_owned(),
        reason: error.to_string().trim().to_owned(),
    })
}

/// Refuses a key that does not exist, with the nearest one that does.
pub(super) fn check_known(
    path: &[String],
    keys: &[ConfigKey],
    origin: &ValueOrigin,
) -> Result<(), ConfigError> {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    if keys.iter().any(|key| key.matches(&parts)) {
        return Ok(());
    }
    let given = path.join(".");
    let nearest =
        find_nearest_key(&given, keys.iter().map(|key| key.path.as_str())).map(str::to_owned);
    Err(ConfigError::UnknownKey { key: given, origin: origin.clone(), nearest })
}

/// Returns the paths of all values that are not tables.
fn value_paths(table: &Table) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (name, value) in table {
        match value {
            Value::Table(inner) if !inner.is_empty() => {
                for mut path in value_paths(inner) {
                    path.insert(0, name.clone());
                    found.push(path);
                }
            }
            Value::Table(_) => {}
            _ => found.push(vec![name.clone()]),
        }
    }
    found
}

/// Parses a value from a command line or a variable: as TOML if it is valid, else as text.
pub(super) fn parse_value(text: &str) -> Value {
    format!("value = {text}")
        .parse::<Table>()
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Parses a list from a variable: as TOML if it is valid, else as names separated by commas.
pub(super) fn list_of(text: &str) -> Value {
    if let list @ Value::Array(_) = parse_value(text) {
        return list;
    }
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    Value::Array(items.map(|item| Value::String(item.to_owned())).collect())
}

/// Returns the parts of a key. A name that has a dot in it is quoted: `models."gpt-4.1".maxOutput`.
pub(super) fn split_key(key: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for character in key.chars() {
        match (quote, character) {
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            (None, '.') => parts.push(String::new()),
            (_, other) => parts.iter_mut().last().into_iter().for_each(|part| part.push(other)),
        }
    }
    parts
}

pub(super) fn insert_value(table: &mut Table, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => {
            table.insert(name.clone(), value);
        }
        [name, rest @ ..] => {
            let inner = table.entry(name.to_owned()).or_insert_with(|| Value::Table(Table::new()));
            if !inner.is_table() {
                *inner = Value::Table(Table::new());
            }
            if let Value::Table(inner) = inner {
                insert_value(inner, rest, value);
            }
        }
    }
}

/// Returns the value at a path.
fn value_at(table: &Table, path: &[String]) -> Option<Value> {
    path.iter().try_fold(Value::Table(table.clone()), |value, name| match value {
        Value::Table(mut table) => table.remove(name),
        _ => None,
    })
}

/// Refuses a number that is out of its key's range.
pub(super) fn check_ranges(
    table: &Table,
    keys: &[ConfigKey],
    origins: &BTreeMap<String, ValueOrigin>,
) -> Result<(), ConfigError> {
    for path in value_paths(table) {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let Some(key) = keys.iter().find(|key| key.matches(&parts)) else { continue };
        #[expect(clippy::cast_precision_loss, reason = "no range ends beyond 2^52")]
        let number = match value_at(table, &path) {
            Some(Value::Integer(number)) => number as f64,
            Some(Value::Float(number)) => number,
            _ => continue,
        };
        if let Err(reason) = key.range.check_number(number) {
            let key = path.join(".");
            let origin = origins.get(&key).cloned().unwrap_or(ValueOrigin::Default);
            return Err(ConfigError::BadValue { key, origin, reason });
        }
    }
    Ok(())
}

/// Finds the value that does not fit, by trying each alone.
fn find_bad_value(table: &Table, origins: &BTreeMap<String, ValueOrigin>) -> ConfigError {
    for path in value_paths(table) {
        let key = path.join(".");
        let value = value_at(table, &path);
        let mut alone = Table::new();
        if let Some(value) = value {
            insert_value(&mut alone, &path, value);
        }
        if let Err(error) = Config::deserialize(alone) {
            let origin = origins.get(&key).cloned().unwrap_or(ValueOrigin::Default);
            let reason = error.message().trim().to_owned();
            return ConfigError::BadValue { key, origin, reason };
        }
    }
    let reason = "the values do not fit together".to_owned();
    ConfigError::BadValue { key: "the configuration".into(), origin: ValueOrigin::Default, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_text(text: &str, variables: &[(&str, &str)]) -> Result<LoadedConfig, ConfigError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        load_config(&path, variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())))
    }

    #[test]
    fn the_environment_overrides_the_file_which_overrides_the_defaults() {
        let loaded = load_text(
            "[agent]\nmultiAgent = false\n[budget]\nseconds = 7\n",
            &[("LANGO_BUDGET_SECONDS", "9"), ("LANGO_MODEL_NAME", "m-1"), ("HOME", "x")],
        )
        .unwrap();
        assert!(!loaded.config.agent.multi_agent);
        assert_eq!(loaded.config.budget.seconds, 9);
        assert_eq!(loaded.config.model.name.as_deref(), Some("m-1"));
        assert_eq!(loaded.config.budget.tool_calls, 100);
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_one() {
        for (text, expected) in [
            ("[agent]\nmultiagent = true", "agent.multiAgent"),
            ("[agent]\nmaxRounds = 3", "agent.maxDelegationRounds"),
            ("[providers.local]\nbaseURL = \"x\"", "providers.*.baseUrl"),
        ] {
            let error = load_text(text, &[]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let variables = [("LANGO_AGENT_TOPOLGY", "x"), ("LANGO_TOKEN", "y"), ("OTHER", "z")];
        let unknown = load_text("", &variables).unwrap().unknown_variables;
        let texts: Vec<String> = unknown.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "the variable LANGO_AGENT_TOPOLGY has no effect; did you mean \"LANGO_AGENT_TOPOLOGY\"?"
            ]
        );
    }

    #[test]
    fn a_value_that_does_not_fit_is_named_with_where_it_came_from() {
        let error = load_text("[agent]\nmultiAgent = \"yes\"", &[]).unwrap_err().to_string();
        assert!(error.contains("agent.multiAgent") && error.contains("config.toml"), "{error}");
        let error = load_text("", &[("LANGO_BUDGET_SECONDS", "soon")]).unwrap_err().to_string();
        assert!(error.contains("LANGO_BUDGET_SECONDS"), "{error}");
        let error = load_text("[agent", &[]).unwrap_err().to_string();
        assert!(error.contains("not valid TOML"), "{error}");
    }
}
