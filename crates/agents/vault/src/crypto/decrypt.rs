//! Implements `crypto_decrypt`, which decrypts to a handle or a file, never to words for a model.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lango_keystore::SecretBytes;
use lango_protocol::CallReport;
use lango_text::{code_span, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::DEFAULT_KEY;
use super::encrypt::{ARMOR, SUFFIX, open_key};
use super::sealed_stream::decrypt_stream;
use super::source::run_blocking;
use crate::agent::{VaultTools, owner_of};

pub(crate) struct Decrypt(pub(crate) VaultTools);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecryptArguments {
    /// Text that `crypto_encrypt` returned.
    #[serde(default)]
    ciphertext: Option<String>,
    /// File of the workspace to decrypt instead. The plain file is created beside it.
    #[serde(default)]
    path: Option<String>,
    /// Name of the key; `default` where none is named.
    #[serde(default)]
    key: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct DecryptedOutput {
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    bytes: u64,
}

impl Tool for Decrypt {
    type Arguments = DecryptArguments;
    type Output = DecryptedOutput;
    const NAME: &'static str = "crypto_decrypt";
    const DESCRIPTION: &'static str =
        "Decrypts a file to a file, or a text to a handle. Never returns the plain text.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: DecryptArguments,
        context: ToolContext,
    ) -> Result<DecryptedOutput, ToolError> {
        let actor = owner_of(&context, "crypto_decrypt")?;
        let DecryptArguments { ciphertext, path, key } = arguments;
        let name = key.clone().unwrap_or_else(|| DEFAULT_KEY.to_owned());
        let secret = open_key(&self.0.store, key.as_deref(), false, &actor).await?;
        match (ciphertext, path) {
            (Some(ciphertext), None) => {
                let sealed = ciphertext.trim().strip_prefix(ARMOR);
                let sealed = sealed.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
                let sealed = sealed.ok_or_else(|| {
                    ToolError::Failed("this text was not encrypted by crypto_encrypt".into())
                })?;
                let mut plain = Zeroizing::new(Vec::new());
                let bytes = decrypt_stream(&secret, &mut sealed.as_slice(), &mut *plain, &context)?;
                let text = SecretBytes::new(std::mem::take(&mut *plain));
                let label = "decrypted text";
                let handle =
                    self.0.handles.issue_text(text, label, &context.session, &context.agent);
                Ok(DecryptedOutput { key: name, handle: Some(handle), path: None, bytes })
            }
            (None, Some(path)) => {
                let files = self.0.files.clone();
                run_blocking(&context, move |context| {
                    let (mut source, path) = files.read(&path)?;
                    let target = plain_name(&path);
                    let mut file = files.create(&target)?;
                    let written = decrypt_stream(&secret, &mut source, &mut file, context);
                    let bytes = written.inspect_err(|_| files.discard(&target))?;
                    Ok(DecryptedOutput { key: name, handle: None, path: Some(target), bytes })
                })
                .await
            }
            _ => Err(ToolError::Arguments("give either ciphertext or path".to_owned())),
        }
    }

    fn describe(&self, arguments: &DecryptArguments) -> Option<String> {
        Some(match &arguments.path {
            Some(path) => format!("Decrypting {}", code_span(path)),
            None => "Decrypting the text".to_owned(),
        })
    }

    fn report(&self, arguments: &DecryptArguments, output: &DecryptedOutput) -> Option<CallReport> {
        Some(match &output.path {
            Some(path) => {
                let from = code_span(arguments.path.as_deref().unwrap_or_default());
                CallReport::new(format!("Decrypted {from} as {}.", code_span(path))).data(output)
            }
            None => CallReport::new("Decrypted the text; it can be used in this conversation.")
                .note("It is not shown, because a model would see it."),
        })
    }

    fn propose(&self, arguments: &DecryptArguments) -> Option<Proposal> {
        let key = arguments.key.as_deref().unwrap_or(DEFAULT_KEY);
        let shown_key = make_visible(key);
        Some(match &arguments.path {
            Some(path) => {
                let (from, to) = (make_visible(path), make_visible(&plain_name(path)));
                let summary = format!(
                    "Decrypt the file {from} as {to}, which others can read then\nwith the key \
                     {shown_key} of the vault"
                );
                Proposal::of(summary, [path, key])
            }
            None => Proposal::of(
                format!("Decrypt a text with the key {shown_key}; the model gets a handle"),
                ["text", key],
            ),
        })
    }
}

/// Returns the name of the plain file.
fn plain_name(path: &str) -> String {
    path.strip_suffix(SUFFIX).map_or_else(|| format!("{path}.decrypted"), str::to_owned)
}
