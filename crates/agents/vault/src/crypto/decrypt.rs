//! Implements `crypto_decrypt`, which decrypts to a handle or a file, never to words for a model.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lango_keystore::{Actor, SecretBytes};
use lango_protocol::CallReport;
use lango_text::{code_span, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::DEFAULT_KEY;
use super::age_stream::{self, MAX_BEGINNING_BYTES, decrypt_with, is_age, open_identities};
use super::encrypt::{ARMOR, SUFFIX, open_key};
use super::sealed_stream::decrypt_stream;
use super::source::{DataSource, read_piece, run_blocking};
use crate::agent::{VaultTools, owner_of};
use crate::files::WorkspaceFiles;

pub(crate) struct Decrypt(pub(crate) VaultTools);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecryptArguments {
    /// Text that `crypto_encrypt` returned, or that age wrote.
    #[serde(default)]
    ciphertext: Option<String>,
    /// File of the workspace to decrypt instead. The plain file is created beside it.
    #[serde(default)]
    path: Option<String>,
    /// Name of the key. Where none is named: `default`, or for age every age key of the vault.
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
        if is_age_source(&self.0.files, ciphertext.as_deref(), path.as_deref())? {
            let source = DataSource::choose(ciphertext, "ciphertext", path)?;
            return self.decrypt_age(source, key, &actor, &context).await;
        }
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
                let handle = Some(self.issue_handle(plain, &context));
                Ok(DecryptedOutput { key: name, handle, path: None, bytes })
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

impl Decrypt {
    /// Decrypts data in the format of age.
    async fn decrypt_age(
        &self,
        source: DataSource,
        key: Option<String>,
        actor: &Actor,
        context: &ToolContext,
    ) -> Result<DecryptedOutput, ToolError> {
        let identities = open_identities(&self.0.store, key.as_deref(), actor).await?;
        let key = key.unwrap_or_else(|| "age".to_owned());
        let files = self.0.files.clone();
        let done = run_blocking(context, move |context| {
            let (mut source, path) = source.open(&files)?;
            let Some(path) = path else {
                let mut plain = Zeroizing::new(Vec::new());
                let bytes = decrypt_with(&identities, &mut source, &mut *plain, context)?;
                return Ok((Some(plain), None, bytes));
            };
            let target = plain_name(&path);
            let mut file = files.create(&target)?;
            let written = decrypt_with(&identities, &mut source, &mut file, context);
            let bytes = written.inspect_err(|_| files.discard(&target))?;
            Ok((None, Some(target), bytes))
        });
        let (plain, path, bytes) = done.await?;
        let handle = plain.map(|plain| self.issue_handle(plain, context));
        Ok(DecryptedOutput { key, handle, path, bytes })
    }

    fn issue_handle(&self, mut plain: Zeroizing<Vec<u8>>, context: &ToolContext) -> String {
        let text = SecretBytes::new(std::mem::take(&mut *plain));
        self.0.handles.issue_text(text, "decrypted text", &context.session, &context.agent)
    }
}

/// Tells whether a text or a file is in the format of age.
fn is_age_source(
    files: &WorkspaceFiles,
    text: Option<&str>,
    path: Option<&str>,
) -> Result<bool, ToolError> {
    if let Some(path) = path {
        let (mut file, _) = files.read(path)?;
        let mut beginning = [0; MAX_BEGINNING_BYTES];
        let count = read_piece(&mut file, &mut beginning)?;
        return Ok(is_age(&beginning[..count]));
    }
    Ok(text.is_some_and(|text| is_age(text.trim_start().as_bytes())))
}

/// Returns the name of the plain file.
fn plain_name(path: &str) -> String {
    let plain = path.strip_suffix(SUFFIX).or_else(|| path.strip_suffix(age_stream::SUFFIX));
    plain.map_or_else(|| format!("{path}.decrypted"), str::to_owned)
}
