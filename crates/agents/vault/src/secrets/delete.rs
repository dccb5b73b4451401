//! Implements `secrets_delete`, which deletes a secret for good.

use lango_keystore::{EntryKind, KeyStoreError};
use lango_protocol::CallReport;
use lango_text::{code_span, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parse_name;
use crate::agent::{VaultTools, convert_error, owner_of};

pub(crate) struct DeleteSecret(pub(crate) VaultTools);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteArguments {
    /// Name of the secret.
    name: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct DeletedSecret {
    deleted: String,
}

impl Tool for DeleteSecret {
    type Arguments = DeleteArguments;
    type Output = DeletedSecret;
    const NAME: &'static str = "secrets_delete";
    const DESCRIPTION: &'static str = "Deletes a stored secret for good.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: DeleteArguments,
        context: ToolContext,
    ) -> Result<DeletedSecret, ToolError> {
        let actor = owner_of(&context, "secrets_delete")?;
        let (kind, name) = (EntryKind::Secret, parse_name(&arguments.name)?);
        let deleted = self.0.store.delete(kind, &name, &actor).await.map_err(convert_error)?;
        if !deleted {
            return Err(convert_error(KeyStoreError::NotFound { kind, name }));
        }
        Ok(DeletedSecret { deleted: name.to_string() })
    }

    fn describe(&self, arguments: &DeleteArguments) -> Option<String> {
        Some(format!("Deleting the secret {}", code_span(&arguments.name)))
    }

    fn report(&self, _: &DeleteArguments, output: &DeletedSecret) -> Option<CallReport> {
        Some(CallReport::new(format!("Deleted the secret {}.", code_span(&output.deleted))))
    }

    fn propose(&self, arguments: &DeleteArguments) -> Option<Proposal> {
        let name = make_visible(&arguments.name);
        let summary = format!("Delete the secret {name} for good; it cannot be brought back");
        Some(Proposal::of(summary, [&arguments.name]))
    }
}
