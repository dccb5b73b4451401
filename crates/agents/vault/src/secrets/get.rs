//! Implements `secrets_get`, which gives out a handle for a secret.

use lango_egress::Url;
use lango_keystore::{HandlePlace, HandleRequest};
use lango_protocol::CallReport;
use lango_text::{code_span, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parse_name;
use crate::agent::{VaultTools, convert_error, owner_of};

pub(crate) struct GetSecret(pub(crate) VaultTools);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetArguments {
    /// Name of the secret.
    name: String,
    /// What it is needed for, in a few words.
    #[serde(default)]
    purpose: Option<String>,
    /// Where it goes: a command, a field of a web page, or a header of requests.
    #[serde(default)]
    r#use: SecretUse,
    /// The only site that it may go to, such as `https://github.com`. A header needs one.
    #[serde(default)]
    site: Option<String>,
}

impl GetArguments {
    /// Returns the origin of the site, as browsers write it.
    fn origin(&self) -> Result<Option<String>, ToolError> {
        let Some(site) = &self.site else { return Ok(None) };
        let url = Url::parse(site).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let wrong =
            || ToolError::Arguments(format!("{site:?} is no site; write it as https://github.com"));
        Ok(Some(url.ok_or_else(wrong)?.origin().ascii_serialization()))
    }
}

/// The kinds of places that a secret may go to.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SecretUse {
    #[default]
    Command,
    FormField,
    Header,
}

impl SecretUse {
    fn place(self) -> HandlePlace {
        match self {
            Self::Command => HandlePlace::Command,
            Self::FormField => HandlePlace::FormField,
            Self::Header => HandlePlace::Header,
        }
    }

    /// Says how a handle is passed on.
    fn advice(self) -> &'static str {
        match self {
            Self::Command => {
                "pass the handle on: exec_shell takes it in `secrets` as the value of a variable, and in \
                 `secret_files` as a file"
            }
            Self::FormField => "pass the handle on: browser_type takes it as `secret`",
            Self::Header => "pass the handle on: rag_ingest takes it as `secret` for its url",
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct IssuedSecret {
    name: String,
    handle: String,
    valid_minutes: u32,
    how_to_use: &'static str,
}

impl Tool for GetSecret {
    type Arguments = GetArguments;
    type Output = IssuedSecret;
    const NAME: &'static str = "secrets_get";
    const DESCRIPTION: &'static str = "Returns a handle for a secret, never its value. A command gets the value through `secrets` \
         of exec_shell, a field of a web page through `secret` of browser_type, a site through `secret` \
         of rag_ingest.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: GetArguments,
        context: ToolContext,
    ) -> Result<IssuedSecret, ToolError> {
        let origin = arguments.origin()?;
        let purpose = arguments.purpose.unwrap_or_default();
        owner_of(&context, &purpose)?;
        let name = parse_name(&arguments.name)?;
        let VaultTools { store, handles, .. } = &self.0;
        let request = HandleRequest {
            session: &context.session,
            agent: &context.agent,
            place: arguments.r#use.place(),
            purpose: &purpose,
            origin: origin.as_deref(),
        };
        let handle = handles.issue(store, &name, request).await.map_err(convert_error)?;
        Ok(IssuedSecret {
            name: name.to_string(),
            handle,
            valid_minutes: 30,
            how_to_use: arguments.r#use.advice(),
        })
    }

    fn describe(&self, arguments: &GetArguments) -> Option<String> {
        Some(format!("Getting a handle for the secret {}", code_span(&arguments.name)))
    }

    fn report(&self, _: &GetArguments, output: &IssuedSecret) -> Option<CallReport> {
        let name = code_span(&output.name);
        let summary = format!("The secret {name} can be used in this conversation for 30 minutes.");
        let note = "Its value is not shown; you are asked before it goes anywhere.";
        Some(CallReport::new(summary).note(note))
    }

    fn propose(&self, arguments: &GetArguments) -> Option<Proposal> {
        let name = make_visible(&arguments.name);
        let purpose = arguments.purpose.as_deref().map(make_visible).unwrap_or_default();
        let purpose = if purpose.is_empty() { "not stated".to_owned() } else { purpose };
        let site = arguments.site.as_deref().map(make_visible);
        let site = site.map_or(String::new(), |site| format!(", {site} and no other"));
        let summary = format!(
            "Let this conversation use the secret {name}\nas {}{site}\nfor: {purpose}\nThe model gets \
             a handle, not the value.",
            arguments.r#use.place()
        );
        Some(Proposal::of(summary, [&arguments.name]))
    }
}
