//! Implements `crypto_keys`, which lists keys.

use lango_keystore::EntryKind;
use lango_protocol::{CallReport, Timestamp};
use lango_text::{code_span, plural};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{VaultTools, convert_error, owner_of};

pub(crate) struct ListKeys(pub(crate) VaultTools);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeysArguments {}

#[derive(Debug, Serialize)]
pub(crate) struct ListedKey {
    id: String,
    kind: EntryKind,
    created: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public: Option<String>,
}

impl Tool for ListKeys {
    type Arguments = KeysArguments;
    type Output = Vec<ListedKey>;
    const NAME: &'static str = "crypto_keys";
    const DESCRIPTION: &'static str =
        "Lists the keys of the vault: id, kind, when created and last used, public part.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        _: KeysArguments,
        context: ToolContext,
    ) -> Result<Vec<ListedKey>, ToolError> {
        owner_of(&context, "crypto_keys")?;
        let mut keys = Vec::new();
        for kind in EntryKind::KEYS {
            let listed = self.0.store.list(*kind).await.map_err(convert_error)?;
            keys.extend(listed.into_iter().map(|entry| ListedKey {
                id: entry.name.to_string(),
                kind: entry.kind,
                created: entry.created_at,
                last_used: entry.used_at,
                public: entry.attributes.public,
            }));
        }
        Ok(keys)
    }

    fn describe(&self, _: &KeysArguments) -> Option<String> {
        Some("Listing the keys".to_owned())
    }

    fn report(&self, _: &KeysArguments, output: &Vec<ListedKey>) -> Option<CallReport> {
        if output.is_empty() {
            let summary = "There are no keys yet. Create one with `lango keys create NAME`.";
            return Some(CallReport::new(summary));
        }
        let line = |key: &ListedKey| {
            let used = key
                .last_used
                .map_or("never used".to_owned(), |at| format!("last used {}", at.day()));
            format!(
                "- {} ({}, created {}, {used})",
                code_span(&key.id),
                key.kind.as_str(),
                key.created.day()
            )
        };
        let lines: Vec<String> = output.iter().map(line).collect();
        let count = plural(output.len(), "key", "keys");
        Some(
            CallReport::new(format!("There are {count}:").replace("There are 1 ", "There is 1 "))
                .markdown(lines.join("\n"))
                .data(output),
        )
    }
}
