//! Questions, answers and rules.

mod answers;
mod reading;
mod rights;
mod rules;

use serde_json::Value;

use crate::fixture::{Lango, calling};

/// The operator runs one command and says what came of it.
pub(crate) fn run_once(command: &str) -> String {
    calling("operator", &[("exec_shell", &format!("{{ command = {} }}", toml_text(command)))])
}

/// A text as a TOML string, with everything unusual escaped.
pub(crate) fn toml_text(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|character| match character {
            '"' | '\\' => format!("\\{character}"),
            ' '..='~' => character.to_string(),
            _ => format!("\\U{:08X}", u32::from(character)),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// What `lango approvals list` says.
async fn listed(lango: &Lango) -> Value {
    let list = lango.command(&["approvals", "list", "--json"]).run().await;
    assert_eq!(list.code, 0, "{list:?}");
    serde_json::from_str(&list.stdout).unwrap()
}

/// The id of the one question that waits, once it does.
pub(crate) async fn question(lango: &Lango) -> String {
    for _ in 0..600 {
        if lango.database_file().exists()
            && let Some(id) = listed(lango).await["waiting"][0]["id"].as_str()
        {
            return id.to_owned();
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("no approval was asked for");
}
