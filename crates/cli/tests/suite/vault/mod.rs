//! The vault: its commands, and whole turns in which no model sees a value.

mod commands;
mod credentials;
mod forms;
mod headers;
mod keyring;
mod memory;
mod scenarios;
mod turns;

use std::path::Path;

/// The orchestrator hands the whole task to the vault, whose answer ends the turn.
const TO_VAULT: &str = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "vault", task = "Do it." } }]
"#;

/// A value that must not be anywhere but in the vault.
const CANARY: &str = "ghp_canary7Jx2Qm9Lw4Tz8Kd";

/// The files under a directory that hold a value, as it is, in hexadecimal, or reversed.
pub(crate) fn files_with(directory: &Path, value: &str) -> Vec<String> {
    let reversed: String = value.chars().rev().collect();
    let forms = [value.to_owned(), lango_text::hex(value), reversed];
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, value));
        } else if let Ok(bytes) = std::fs::read(&path) {
            let has = |form: &String| bytes.windows(form.len()).any(|part| part == form.as_bytes());
            if forms.iter().any(has) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}
