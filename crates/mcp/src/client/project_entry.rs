//! Holds an entry of a project's file as it is written, for the person who approves it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::config::is_secret_name;
use super::{ExpandError, JsonEntry, ServerConfig, TransportConfig, expand};

/// Limits the text of an entry: what cannot be shown whole cannot be approved.
const MAX_SHOWN_BYTES: usize = 16 * 1024;

/// Holds an entry of a project's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectEntry {
    /// The directory of the file.
    pub directory: PathBuf,
    /// The digest of everything that the entry says, before variables are expanded.
    pub digest: String,
    /// The variables of the environment that it names.
    pub variables: BTreeSet<String>,
    /// Everything that it says, in lines without invisible characters.
    shown: String,
}

impl ProjectEntry {
    /// Reads an entry. The error says why it cannot be used.
    pub fn new(directory: &Path, entry: &JsonEntry) -> Result<Self, String> {
        let shown = show_entry(entry);
        if shown.len() > MAX_SHOWN_BYTES {
            let limit = MAX_SHOWN_BYTES / 1024;
            return Err(format!(
                "it has more than {limit} KiB, so it cannot be shown whole and approved. Put it into \
                 your own configuration: lango mcp add"
            ));
        }
        Ok(Self {
            directory: directory.to_owned(),
            digest: entry.digest()?,
            variables: find_variables(entry).map_err(|error| error.to_string())?,
            shown,
        })
    }

    /// Returns the question whether it may be used: the entry whole, and what it would get.
    pub(crate) fn describe(&self, config: &ServerConfig, home: &Path) -> String {
        let mut text = format!(
            "The file .mcp.json of {} has this MCP server:\n\n  name      {}\n{}\n",
            lango_text::make_visible(&self.directory.display().to_string()),
            config.name,
            self.shown
        );
        match &config.transport {
            TransportConfig::Stdio(program) => {
                let network = if program.network { "yes" } else { "no" };
                text += &format!(
                    "It would be a program on this machine, and get:\n\
                     \x20 network   {network}\n\
                     \x20 files     reads what you can read, except for keys, passwords and Lango's \
                     own files; writes to its own home alone\n\
                     \x20 home      {}\n",
                    lango_text::make_visible(&home.display().to_string())
                );
            }
            TransportConfig::Http(_) => {
                text += "It would be sent the calls of its tools with their arguments, and get:\n";
            }
        }
        text += &format!("  variables {}\n", self.describe_variables());
        text
    }

    fn describe_variables(&self) -> String {
        let describe = |name: &String| {
            let shown = lango_text::make_visible(name);
            if is_secret_name(name) { format!("{shown} (looks like a secret)") } else { shown }
        };
        let names: Vec<String> = self.variables.iter().map(describe).collect();
        if names.is_empty() { "none of yours".to_owned() } else { names.join(", ") }
    }
}

/// Returns everything that an entry says. Values are JSON strings, so that spaces and line breaks
/// are seen.
fn show_entry(entry: &JsonEntry) -> String {
    let quoted = |text: &str| {
        lango_text::make_visible(&serde_json::Value::String(text.to_owned()).to_string())
    };
    let mut text = String::new();
    let mut line = |label: &str, value: String| text += &format!("  {label:<9} {value}\n");
    for (label, value) in [
        ("type", &entry.r#type),
        ("command", &entry.command),
        ("url", &entry.url),
        ("cwd", &entry.cwd),
    ] {
        if let Some(value) = value {
            line(label, quoted(value));
        }
    }
    for argument in &entry.args {
        line("argument", quoted(argument));
    }
    for (name, value) in &entry.env {
        line("env", format!("{} = {}", quoted(name), quoted(value)));
    }
    for (name, value) in &entry.headers {
        line("header", format!("{}: {}", quoted(name), quoted(value)));
    }
    if entry.disabled {
        line("disabled", "true".to_owned());
    }
    text
}

/// Returns the variables that the values of an entry name, with or without a default.
fn find_variables(entry: &JsonEntry) -> Result<BTreeSet<String>, ExpandError> {
    let names = RefCell::new(BTreeSet::new());
    let note = |name: &str| {
        names.borrow_mut().insert(name.to_owned());
        Some(String::new())
    };
    let single = [&entry.command, &entry.cwd, &entry.url].into_iter().flatten();
    let values = entry.env.values().chain(entry.headers.values());
    for text in single.chain(&entry.args).chain(values) {
        expand(text, &note)?;
    }
    Ok(names.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::StdioConfig;

    fn entry(text: &str) -> JsonEntry {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_question_shows_every_value_and_every_variable() {
        let entry = entry(
            r#"{"type": "stdio", "command": "sh", "args": ["-c", "x \u001b[2J\u202ey"], "cwd": "d",
                "env": {"A": "${GITHUB_TOKEN:-none}", "B": "${LOG}"}, "disabled": true}"#,
        );
        let entry = ProjectEntry::new(Path::new("/work"), &entry).unwrap();
        let transport = TransportConfig::Stdio(StdioConfig::default());
        let config = ServerConfig::new("theirs".parse().unwrap(), transport);
        let text = entry.describe(&config, Path::new("/homes/theirs"));
        for words in [
            "of /work",
            "name      theirs",
            "type      \"stdio\"",
            "command   \"sh\"",
            "argument  \"-c\"",
            "env       \"A\" = \"${GITHUB_TOKEN:-none}\"",
            "cwd       \"d\"",
            "disabled  true",
            "home      /homes/theirs",
            "variables GITHUB_TOKEN (looks like a secret), LOG",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }

    #[test]
    fn what_is_too_long_to_be_shown_is_refused() {
        let long = entry(&format!(r#"{{"command": "sh", "args": ["{}"]}}"#, "x".repeat(20_000)));
        let error = ProjectEntry::new(Path::new("/work"), &long).unwrap_err();
        assert!(error.contains("lango mcp add"), "{error}");
    }
}
