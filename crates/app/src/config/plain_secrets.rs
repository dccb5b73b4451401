//! Finds keys and tokens that stand in the file as they are, and puts names of secrets in their place.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use toml_edit::{DocumentMut, TableLike, Value};
use zeroize::Zeroizing;

use super::ConfigError;
use super::edit::{read_document, write_document};

/// Parts of the names of variables and headers that hold secrets.
const SECRET_WORDS: [&str; 8] =
    ["key", "token", "secret", "password", "passwd", "auth", "credential", "cookie"];

/// A value of the file that belongs into the vault.
pub struct PlainSecret {
    /// The key, as `lango config` writes it.
    pub key: String,
    /// The name that its secret gets.
    pub name: String,
    /// The value.
    pub value: Zeroizing<String>,
}

/// Lists the keys and tokens that stand in the file as they are. A file that is not there has none.
pub fn list_plain_secrets(path: &Path) -> Result<Vec<PlainSecret>, ConfigError> {
    let mut document = read_document(path)?;
    let mut listed = Vec::new();
    visit(&mut document, &mut |found, _| listed.push(found));
    Ok(listed)
}

/// Puts the names of secrets in the place of keys and tokens, in one step, and overwrites the file that
/// was there. `names` are those of all that [`list_plain_secrets`] found, in its order. Nothing is
/// written if the file has changed since.
pub fn replace_plain_secrets(
    path: &Path,
    replaced: &[(PlainSecret, String)],
) -> Result<(), ConfigError> {
    let mut document = read_document(path)?;
    let mut remaining = replaced.iter();
    let mut is_same = true;
    visit(&mut document, &mut |found, value| {
        let Some((expected, name)) = remaining.next() else {
            is_same = false;
            return;
        };
        is_same &= expected.key == found.key && expected.value == found.value;
        let decor = value.decor().clone();
        *value = Value::from(format!("secret:{name}"));
        *value.decor_mut() = decor;
    });
    if !is_same || remaining.next().is_some() {
        let reason = "it was changed meanwhile; try again".to_owned();
        return Err(ConfigError::Unwritable { path: path.to_owned(), reason });
    }
    let before = File::options().write(true).open(path);
    write_document(path, &document)?;
    if let Ok(file) = before
        && let Err(error) = erase(file)
    {
        tracing::warn!(%error, "the file from before was replaced, but not overwritten on the disk");
    }
    Ok(())
}

/// Overwrites a file that has no name any more. One that has another name is a user's own copy.
fn erase(mut file: File) -> std::io::Result<()> {
    let found = file.metadata()?;
    if found.nlink() > 0 {
        return Ok(());
    }
    file.rewind()?;
    let length = usize::try_from(found.len()).unwrap_or(0);
    file.write_all(&vec![0; length])?;
    file.sync_all()
}

type Visitor<'a> = &'a mut dyn FnMut(PlainSecret, &mut Value);

fn visit(document: &mut DocumentMut, visitor: Visitor<'_>) {
    for (id, provider) in entries(document.as_table_mut(), "providers") {
        let place = (format!("providers.{id}.apiKey"), format!("{id}-key"));
        visit_value(provider, "apiKey", place, visitor);
    }
    for (id, server) in entries(document.as_table_mut(), "mcp_servers") {
        for (key, what) in [("bearer_token", "token"), ("oauth_client_secret", "client-secret")] {
            let place = (format!("mcp_servers.{id}.{key}"), format!("{id}-{what}"));
            visit_value(server, key, place, visitor);
        }
        for key in ["env", "headers"] {
            let Some(values) = server.get_mut(key).and_then(toml_edit::Item::as_table_like_mut)
            else {
                continue;
            };
            let names: Vec<String> = values.iter().map(|(name, _)| name.to_owned()).collect();
            for name in names.into_iter().filter(|name| is_secret_name(name)) {
                let secret = format!("{id}-{}", name.to_lowercase().replace('_', "-"));
                let place = (format!("mcp_servers.{id}.{key}.{name}"), secret);
                visit_value(values, &name, place, visitor);
            }
        }
    }
    visit_remote_agents(document, visitor);
}

/// Visits the tokens of remote agents, whose list is written in one of two ways.
fn visit_remote_agents(document: &mut DocumentMut, visitor: Visitor<'_>) {
    let section = document.get_mut("a2a").and_then(toml_edit::Item::as_table_like_mut);
    let Some(list) = section.and_then(|section| section.get_mut("remoteAgents")) else { return };
    let mut visit_one = |agent: &mut dyn TableLike| {
        let name = agent.get("name").and_then(toml_edit::Item::as_str).unwrap_or("agent");
        let place = (format!("a2a.remoteAgents, {name}: token"), format!("{name}-token"));
        visit_value(agent, "token", place, visitor);
    };
    if let Some(tables) = list.as_array_of_tables_mut() {
        tables.iter_mut().for_each(|table| visit_one(table));
    } else if let Some(array) = list.as_array_mut() {
        let tables = array.iter_mut().filter_map(Value::as_inline_table_mut);
        tables.for_each(|table| visit_one(table));
    }
}

/// Returns the tables of a section, with their names.
fn entries<'a>(
    table: &'a mut dyn TableLike,
    section: &str,
) -> Vec<(String, &'a mut dyn TableLike)> {
    let Some(section) = table.get_mut(section).and_then(toml_edit::Item::as_table_like_mut) else {
        return Vec::new();
    };
    let named = |(name, item): (toml_edit::KeyMut<'a>, &'a mut toml_edit::Item)| {
        Some((name.get().to_owned(), item.as_table_like_mut()?))
    };
    section.iter_mut().filter_map(named).collect()
}

fn visit_value(
    table: &mut dyn TableLike,
    key: &str,
    (place, name): (String, String),
    visitor: Visitor<'_>,
) {
    let Some(value) = table.get_mut(key).and_then(toml_edit::Item::as_value_mut) else { return };
    let Some(text) = value.as_str() else { return };
    // The name of a secret or of a variable is no secret.
    if text.is_empty() || text.starts_with("secret:") || text.contains("${") {
        return;
    }
    let found = PlainSecret { key: place, name, value: Zeroizing::new(text.to_owned()) };
    visitor(found, value);
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = r#"# my servers
[providers.own]
baseUrl = "http://127.0.0.1:1/v1" # here
apiKey = "sk-1234567890" # the old one
[mcp_servers.hub]
url = "http://127.0.0.1:2/"
bearer_token = 'abc-token'
headers = { X-Api-Key = "header-key", Accept = "text/plain" }
[mcp_servers.desk.env]
DESK_TOKEN = "${DESK_TOKEN}"
LANG = "C"
DESK_PASSWORD = "secret:desk"
[[a2a.remoteAgents]]
name = "far"
agentCardUrl = "http://127.0.0.1:3/"
token = "far-away-token"
"#;

    #[test]
    fn every_key_is_replaced_by_a_name_and_all_else_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        std::fs::write(&path, BEFORE).unwrap();
        let listed = list_plain_secrets(&path).unwrap();
        let names: Vec<&str> = listed.iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names, ["own-key", "hub-token", "hub-x-api-key", "far-token"]);
        let replaced: Vec<_> = listed
            .into_iter()
            .map(|found| {
                let name = found.name.clone();
                (found, name)
            })
            .collect();
        replace_plain_secrets(&path, &replaced).unwrap();
        let after = std::fs::read_to_string(&path).unwrap();
        let expected = BEFORE
            .replace("\"sk-1234567890\"", "\"secret:own-key\"")
            .replace("'abc-token'", "\"secret:hub-token\"")
            .replace("\"header-key\"", "\"secret:hub-x-api-key\"")
            .replace("\"far-away-token\"", "\"secret:far-token\"");
        assert_eq!(after, expected);
        assert!(list_plain_secrets(&path).unwrap().is_empty());
        let changed = replace_plain_secrets(&path, &replaced).unwrap_err();
        assert!(changed.to_string().contains("changed meanwhile"), "{changed}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        assert!(list_plain_secrets(&directory.path().join("none.toml")).unwrap().is_empty());
    }
}
