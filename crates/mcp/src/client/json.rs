//! Reads server lists of other programs: JSON with `mcpServers` or a similar key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Limits the size of a file that is read.
pub const MAX_SERVER_FILE_BYTES: u64 = 1024 * 1024;

/// Holds one entry as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JsonEntry {
    /// `stdio`, `http` or `streamable-http`; if not set, the other keys decide.
    pub r#type: Option<String>,
    /// The program.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment.
    pub env: BTreeMap<String, String>,
    /// The directory in which it runs.
    pub cwd: Option<String>,
    /// The address.
    pub url: Option<String>,
    /// Headers.
    pub headers: BTreeMap<String, String>,
    /// True if it is disabled.
    pub disabled: bool,
}

impl JsonEntry {
    /// Returns a SHA-256 digest of the entry as it is written, before variables are expanded. The
    /// text itself is not used, because it may contain secrets.
    pub fn digest(&self) -> Result<String, String> {
        let text = serde_json::to_string(self).map_err(|error| error.to_string())?;
        Ok(super::pin::digest_parts(&[&text]))
    }
}

/// Lists the supported keys of an entry.
const KEYS: [&str; 8] = ["type", "command", "args", "env", "cwd", "url", "headers", "disabled"];

/// Holds an entry with its unsupported keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedEntry {
    /// Its name, as written.
    pub name: String,
    /// The entry, or the reason why it cannot be read.
    pub entry: Result<JsonEntry, String>,
    /// The keys that are not supported.
    pub unknown: Vec<String>,
}

/// Reads the servers of a file: `mcpServers`, `servers`, or `mcp.servers`.
pub fn read_servers(text: &str) -> Result<Vec<ParsedEntry>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let places = [&value["mcpServers"], &value["servers"], &value["mcp"]["servers"]];
    let servers = places.into_iter().find_map(Value::as_object);
    let servers = servers.ok_or("it has no mcpServers")?;
    Ok(servers.iter().map(|(name, entry)| read_entry(name, entry)).collect())
}

fn read_entry(name: &str, value: &Value) -> ParsedEntry {
    let nothing = Map::new();
    let keys = value.as_object().unwrap_or(&nothing).keys();
    let unknown = keys.filter(|key| !KEYS.contains(&key.as_str())).cloned().collect();
    let entry = JsonEntry::deserialize(value).map_err(|error| error.to_string());
    ParsedEntry { name: name.to_owned(), entry, unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_wherever_programs_put_them() {
        let entry =
            r#"{"time": {"command": "uvx", "args": ["mcp-server-time"], "alwaysAllow": []}}"#;
        for file in [
            format!(r#"{{"mcpServers": {entry}}}"#),
            format!(r#"{{"servers": {entry}, "inputs": []}}"#),
            format!(r#"{{"mcp": {{"servers": {entry}}}}}"#),
        ] {
            let found = read_servers(&file).unwrap();
            let entry = found[0].entry.as_ref().unwrap();
            assert_eq!((found[0].name.as_str(), entry.command.as_deref()), ("time", Some("uvx")));
            assert_eq!(found[0].unknown, ["alwaysAllow"]);
        }
        assert!(read_servers("{}").is_err() && read_servers("[").is_err());
        let broken = read_servers(r#"{"mcpServers": {"a": {"args": "x"}}}"#).unwrap();
        assert!(broken[0].entry.is_err());
    }

    #[test]
    fn every_value_of_an_entry_counts_for_its_digest() {
        let digest =
            |text: &str| serde_json::from_str::<JsonEntry>(text).unwrap().digest().unwrap();
        let one = digest(r#"{"command":"x","env":{"A":"1","B":"${C}"}}"#);
        assert_eq!(one, digest(r#"{"env":{"B":"${C}","A":"1"},"command":"x"}"#));
        for other in [
            r#"{"command":"x","env":{"A":"2","B":"${C}"}}"#,
            r#"{"command":"x","env":{"A":"1","B":"${D}"}}"#,
            r#"{"command":"x","env":{"A":"1","B":"${C}"},"headers":{"X":"y"}}"#,
        ] {
            assert_ne!(one, digest(other), "{other}");
        }
    }
}
