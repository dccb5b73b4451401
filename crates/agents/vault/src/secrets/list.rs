//! Implements `secrets_list`, which lists the names of secrets.

use lango_keystore::{EntryInfo, EntryKind};
use lango_protocol::{CallReport, Timestamp};
use lango_text::{code_span, plural};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{VaultTools, convert_error, owner_of};

pub(crate) struct ListSecrets(pub(crate) VaultTools);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {}

#[derive(Debug, Serialize)]
pub(crate) struct ListedSecret {
    name: String,
    created: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_for: Option<String>,
}

impl From<EntryInfo> for ListedSecret {
    fn from(entry: EntryInfo) -> Self {
        Self {
            name: entry.name.to_string(),
            created: entry.created_at,
            last_used: entry.used_at,
            only_for: entry.attributes.origin,
        }
    }
}

impl Tool for ListSecrets {
    type Arguments = ListArguments;
    type Output = Vec<ListedSecret>;
    const NAME: &'static str = "secrets_list";
    const DESCRIPTION: &'static str =
        "Lists the names of the stored secrets, when each was stored and last used. No values.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        _: ListArguments,
        context: ToolContext,
    ) -> Result<Vec<ListedSecret>, ToolError> {
        owner_of(&context, "secrets_list")?;
        let listed = self.0.store.list(EntryKind::Secret).await.map_err(convert_error)?;
        Ok(listed.into_iter().map(ListedSecret::from).collect())
    }

    fn describe(&self, _: &ListArguments) -> Option<String> {
        Some("Listing the secrets".to_owned())
    }

    fn report(&self, _: &ListArguments, output: &Vec<ListedSecret>) -> Option<CallReport> {
        if output.is_empty() {
            let summary = "There are no secrets yet. Store one with `lango secrets set NAME`.";
            return Some(CallReport::new(summary));
        }
        let count = plural(output.len(), "secret is", "secrets are");
        let lines: Vec<String> = output
            .iter()
            .map(|secret| {
                let used = secret
                    .last_used
                    .map_or("never used".to_owned(), |at| format!("last used {}", at.day()));
                format!("- {} (stored {}, {used})", code_span(&secret.name), secret.created.day())
            })
            .collect();
        let report = CallReport::new(format!("{count} stored:")).markdown(lines.join("\n"));
        Some(report.data(output))
    }
}
