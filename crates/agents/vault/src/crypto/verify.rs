//! Implements `crypto_verify`, which checks a signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lango_keystore::{EntryKind, KeyStoreError};
use lango_protocol::CallReport;
use lango_text::code_span;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use ring::signature::{ED25519, UnparsedPublicKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sign::{SIGNATURE_PREFIX, choose_key, digest_to_sign};
use super::source::DataSource;
use crate::agent::{VaultTools, convert_error, owner_of};

pub(crate) struct Verify(pub(crate) VaultTools);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifyArguments {
    /// Text that was signed.
    #[serde(default)]
    data: Option<String>,
    /// File of the workspace that was signed instead.
    #[serde(default)]
    path: Option<String>,
    /// Name of an ed25519 key, or its public part (`ed25519:…`).
    #[serde(default)]
    key: Option<String>,
    /// Signature that `crypto_sign` returned.
    signature: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct VerifyOutput {
    valid: bool,
    key: String,
}

impl Verify {
    /// Returns the name and the public part of a key.
    async fn public_key(&self, given: Option<&str>) -> Result<(String, String), ToolError> {
        if let Some(public) = given.filter(|key| key.starts_with(SIGNATURE_PREFIX)) {
            return Ok((public.to_owned(), public.to_owned()));
        }
        let (kind, name) = (EntryKind::Ed25519, choose_key(&self.0, given).await?);
        let entry = self.0.store.find(kind, &name).await.map_err(convert_error)?;
        let missing = || convert_error(KeyStoreError::NotFound { kind, name: name.clone() });
        let public = entry.ok_or_else(missing)?.attributes.public;
        Ok((name.to_string(), public.unwrap_or_default()))
    }
}

impl Tool for Verify {
    type Arguments = VerifyArguments;
    type Output = VerifyOutput;
    const NAME: &'static str = "crypto_verify";
    const DESCRIPTION: &'static str =
        "Checks whether a signature fits a text or a file and a key. Says valid or not.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: VerifyArguments,
        context: ToolContext,
    ) -> Result<VerifyOutput, ToolError> {
        owner_of(&context, "crypto_verify")?;
        let VerifyArguments { data, path, key, signature } = arguments;
        let source = DataSource::choose(data, "data", path)?;
        let (key, public) = self.public_key(key.as_deref()).await?;
        let message = digest_to_sign(&self.0, source, &context).await?;
        let decode = |text: &str| {
            let text = text.trim();
            STANDARD.decode(text.strip_prefix(SIGNATURE_PREFIX).unwrap_or(text)).ok()
        };
        // What is no signature or no key at all fits nothing.
        let valid = match (decode(&public), decode(&signature)) {
            (Some(public), Some(signature)) => {
                UnparsedPublicKey::new(&ED25519, public).verify(&message, &signature).is_ok()
            }
            _ => false,
        };
        Ok(VerifyOutput { valid, key })
    }

    fn describe(&self, _: &VerifyArguments) -> Option<String> {
        Some("Checking the signature".to_owned())
    }

    fn report(&self, arguments: &VerifyArguments, output: &VerifyOutput) -> Option<CallReport> {
        let what = arguments.path.as_deref().map_or("the text".to_owned(), code_span);
        let key = code_span(&output.key);
        let report = if output.valid {
            CallReport::new(format!("The signature of {what} is valid for the key {key}."))
        } else {
            CallReport::new(format!("The signature is NOT valid for {what} and the key {key}."))
                .unsuccessful()
        };
        Some(report.data(output))
    }
}
