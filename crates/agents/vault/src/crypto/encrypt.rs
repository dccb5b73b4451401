//! Implements `crypto_encrypt`, which encrypts a text or a file.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lango_keystore::{Actor, EncryptionKey, EntryKind, KeyStore, KeyStoreError};
use lango_protocol::CallReport;
use lango_text::{code_span, make_lines_visible, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DEFAULT_KEY;
use super::age_stream::{self, encrypt_for};
use super::create_key::{KeyKind, create_key};
use super::sealed_stream::encrypt_stream;
use super::source::{DataSource, run_blocking};
use crate::agent::{VaultTools, convert_error, owner_of};
use crate::secrets::parse_name;

/// Begins a text that was encrypted.
pub(super) const ARMOR: &str = "LNGO1:";
/// Ends the name of a file that was encrypted.
pub(super) const SUFFIX: &str = ".enc";

pub(crate) struct Encrypt(pub(crate) VaultTools);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EncryptArguments {
    /// Text to encrypt.
    #[serde(default)]
    data: Option<String>,
    /// File of the workspace to encrypt instead; NAME.enc or NAME.age is created beside it.
    #[serde(default)]
    path: Option<String>,
    /// Name of an xchacha20 or age key, or the public key of a recipient (age1…); the key `default` where
    /// none is named.
    #[serde(default)]
    key: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct EncryptedOutput {
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ciphertext: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    bytes: u64,
}

/// Opens a key for encryption. The default key is created at its first use, if `may_create`.
pub(super) async fn open_key(
    store: &KeyStore,
    given: Option<&str>,
    may_create: bool,
    actor: &Actor,
) -> Result<EncryptionKey, ToolError> {
    let name = parse_name(given.unwrap_or(DEFAULT_KEY))?;
    let kind = EntryKind::Xchacha20;
    let is_missing = store.find(kind, &name).await.map_err(convert_error)?.is_none();
    if is_missing && may_create && name.as_str() == DEFAULT_KEY {
        match create_key(store, &name, KeyKind::Xchacha20, actor).await {
            // Another call was faster.
            Ok(_) | Err(KeyStoreError::Exists { .. }) => {}
            Err(error) => return Err(convert_error(error)),
        }
    }
    let value = store.open_value(kind, &name, actor).await.map_err(convert_error)?;
    let damaged = || convert_error(KeyStoreError::Damaged { kind, name: name.clone() });
    EncryptionKey::from_bytes(value.reveal()).ok_or_else(damaged)
}

impl Tool for Encrypt {
    type Arguments = EncryptArguments;
    type Output = EncryptedOutput;
    const NAME: &'static str = "crypto_encrypt";
    const DESCRIPTION: &'static str = "Encrypts a text or a file of any size with a key of the vault, or for the public age key of a \
         recipient. The original file stays.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: EncryptArguments,
        context: ToolContext,
    ) -> Result<EncryptedOutput, ToolError> {
        let actor = owner_of(&context, "crypto_encrypt")?;
        let EncryptArguments { data, path, key } = arguments;
        let source = DataSource::choose(data, "data", path)?;
        let files = self.0.files.clone();
        // A file that is not there is found before a key is created.
        let opened = source.open(&files)?;
        let recipient = match &key {
            Some(key) => age_stream::find_recipient(&self.0.store, key).await?,
            None => None,
        };
        if let Some(recipient) = recipient {
            let key = key.unwrap_or_default();
            return run_blocking(&context, move |context| {
                let (mut source, path) = opened;
                let Some(path) = path else {
                    let (mut sealed, armored) = (Vec::new(), true);
                    let bytes =
                        encrypt_for(&recipient, &mut source, &mut sealed, armored, context)?;
                    let ciphertext = String::from_utf8(sealed).ok();
                    return Ok(EncryptedOutput { key, ciphertext, path: None, bytes });
                };
                let target = format!("{path}{}", age_stream::SUFFIX);
                let mut file = files.create(&target)?;
                let written = encrypt_for(&recipient, &mut source, &mut file, false, context);
                let bytes = written.inspect_err(|_| files.discard(&target))?;
                Ok(EncryptedOutput { key, ciphertext: None, path: Some(target), bytes })
            })
            .await;
        }
        let secret = open_key(&self.0.store, key.as_deref(), true, &actor).await?;
        let key = key.unwrap_or_else(|| DEFAULT_KEY.to_owned());
        run_blocking(&context, move |context| {
            let (mut source, path) = opened;
            let Some(path) = path else {
                let mut sealed = Vec::new();
                let bytes = encrypt_stream(&secret, &mut source, &mut sealed, context)?;
                let ciphertext = Some(format!("{ARMOR}{}", URL_SAFE_NO_PAD.encode(sealed)));
                return Ok(EncryptedOutput { key, ciphertext, path: None, bytes });
            };
            let target = format!("{path}{SUFFIX}");
            let mut file = files.create(&target)?;
            let written = encrypt_stream(&secret, &mut source, &mut file, context);
            let written = written.inspect_err(|_| files.discard(&target))?;
            Ok(EncryptedOutput { key, ciphertext: None, path: Some(target), bytes: written })
        })
        .await
    }

    fn describe(&self, arguments: &EncryptArguments) -> Option<String> {
        Some(match &arguments.path {
            Some(path) => format!("Encrypting {}", code_span(path)),
            None => "Encrypting the text".to_owned(),
        })
    }

    fn report(&self, arguments: &EncryptArguments, output: &EncryptedOutput) -> Option<CallReport> {
        let key = code_span(&output.key);
        Some(match (&output.path, &output.ciphertext) {
            (Some(path), _) => {
                let from = code_span(arguments.path.as_deref().unwrap_or_default());
                let to = code_span(path);
                CallReport::new(format!("Encrypted {from} as {to}, with the key {key}."))
                    .note("The original file is still there.")
                    .data(output)
            }
            (None, text) => CallReport::new(format!("Encrypted the text with the key {key}:"))
                .verbatim(text.clone().unwrap_or_default())
                .data(output),
        })
    }

    fn propose(&self, arguments: &EncryptArguments) -> Option<Proposal> {
        let key = arguments.key.as_deref().unwrap_or(DEFAULT_KEY);
        let shown_key = make_visible(key);
        Some(match (&arguments.path, &arguments.data) {
            (Some(path), _) => {
                let shown = make_visible(path);
                let summary = format!(
                    "Encrypt the file {shown}; the result is a new file beside it\nwith the key \
                     {shown_key}"
                );
                Proposal::of(summary, [path, key])
            }
            (None, data) => {
                let text = make_lines_visible(data.as_deref().unwrap_or_default(), "| ");
                Proposal::of(
                    format!("Encrypt this text with the key {shown_key}:\n{text}"),
                    ["text", key],
                )
            }
        })
    }
}
