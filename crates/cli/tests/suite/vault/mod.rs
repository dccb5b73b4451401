//! The vault: its commands, and whole turns in which no model sees a value.

mod commands;
mod credentials;
mod forms;
mod headers;
mod keeping;
mod keyring;
mod memory;
mod running;
mod scenarios;
mod turns;

use std::path::Path;

use crate::fixture::Lango;

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

async fn store(lango: &Lango, name: &str, value: &str) {
    let stored = lango.bare(&["secrets", "set", name]).input(format!("{value}\n")).run().await;
    assert_eq!(stored.code, 0, "{stored:?}");
}

/// Sets a passphrase, and locks the vault.
async fn lock_with_passphrase(lango: &Lango) {
    let mut session = lango.at_terminal("vault passphrase").start_typing();
    for prompt in ["New passphrase: ", "The same again: "] {
        session.wait_for(prompt).await;
        session.paste("correct horse").await;
    }
    assert_eq!(session.finish().await.code, 0);
    assert_eq!(lango.bare(&["vault", "lock"]).run().await.code, 0);
}
