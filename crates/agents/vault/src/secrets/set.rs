//! Implements `secrets_set`, which asks the person for a value and stores it.

use lango_keystore::{EntryAttributes, EntryKind};
use lango_protocol::CallReport;
use lango_text::code_span;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parse_name;
use crate::agent::{VaultTools, convert_error, owner_of};
use crate::prompt::{ValueAnswer, ValueQuestion};

pub(crate) struct SetSecret(pub(crate) VaultTools);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetArguments {
    /// Name of the secret, such as `github-token`. The value is asked from the user.
    name: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct StoredSecret {
    name: String,
    stored: bool,
    replaced: bool,
}

impl Tool for SetSecret {
    type Arguments = SetArguments;
    type Output = StoredSecret;
    const NAME: &'static str = "secrets_set";
    const DESCRIPTION: &'static str = "Stores a secret under a name. The user is asked for the value and types it unseen; it is \
         never shown to you. Never ask for it yourself.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: SetArguments,
        context: ToolContext,
    ) -> Result<StoredSecret, ToolError> {
        let actor = owner_of(&context, "secrets_set")?;
        let name = parse_name(&arguments.name)?;
        let store = &self.0.store;
        let kind = EntryKind::Secret;
        let before = store.find(kind, &name).await.map_err(convert_error)?;
        let question = ValueQuestion { call: context.call.clone(), name: name.to_string() };
        let answer = tokio::select! {
            answer = self.0.prompt.ask(question) => answer,
            () = context.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        let value = match answer {
            ValueAnswer::Given(value) => value,
            ValueAnswer::Declined => {
                return Err(ToolError::Failed("the user gave no value; nothing was stored".into()));
            }
            ValueAnswer::NoPerson => {
                return Err(ToolError::Failed(format!(
                    "no person can be asked for the value here; nothing was stored. The user stores \
                     it with: lango secrets set {}",
                    quote_for_shell(name.as_str())
                )));
            }
        };
        // A secret that is bound to a site stays bound to it.
        let origin = before.as_ref().and_then(|entry| entry.attributes.origin.clone());
        let attributes = EntryAttributes { origin, ..EntryAttributes::default() };
        store.put(kind, &name, &value, attributes, &actor).await.map_err(convert_error)?;
        Ok(StoredSecret { name: name.to_string(), stored: true, replaced: before.is_some() })
    }

    fn describe(&self, arguments: &SetArguments) -> Option<String> {
        Some(format!("Storing the secret {}", code_span(&arguments.name)))
    }

    fn report(&self, _: &SetArguments, output: &StoredSecret) -> Option<CallReport> {
        let name = code_span(&output.name);
        let summary = if output.replaced {
            format!("Replaced the value of the secret {name}.")
        } else {
            format!("Stored the secret {name}.")
        };
        Some(CallReport::new(summary).data(output))
    }

    fn propose(&self, arguments: &SetArguments) -> Option<Proposal> {
        let name = lango_text::make_visible(&arguments.name);
        let summary = format!(
            "Store a secret named {name} in the vault\nYou type its value next; no model sees it. A \
             value that is there is replaced."
        );
        Some(Proposal::of(summary, [&arguments.name]))
    }
}

/// Writes a name as a word of a shell.
fn quote_for_shell(name: &str) -> String {
    if name.contains(' ') { format!("'{name}'") } else { name.to_owned() }
}
