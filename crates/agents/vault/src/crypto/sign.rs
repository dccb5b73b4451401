//! Implements `crypto_sign`, which signs a text or a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lango_keystore::{EntryKind, KeyStoreError};
use lango_protocol::CallReport;
use lango_text::{code_span, make_lines_visible, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use ring::signature::Ed25519KeyPair;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha512};

use super::source::{DataSource, for_each_piece, run_blocking};
use crate::agent::{VaultTools, convert_error, owner_of};
use crate::secrets::parse_name;

/// Begins a signature.
pub(super) const SIGNATURE_PREFIX: &str = "ed25519:";

pub(crate) struct Sign(pub(crate) VaultTools);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignArguments {
    /// Text to sign.
    #[serde(default)]
    data: Option<String>,
    /// File of the workspace to sign instead.
    #[serde(default)]
    path: Option<String>,
    /// Name of an ed25519 key; the only one there is where none is named.
    #[serde(default)]
    key: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SignatureOutput {
    key: String,
    signature: String,
    public: Option<String>,
}

/// Returns what is signed: the SHA-512 of the data behind the name of this use, so that data of any
/// size is read once, and a signature is of no use anywhere else.
pub(super) async fn digest_to_sign(
    tools: &VaultTools,
    source: DataSource,
    context: &ToolContext,
) -> Result<Vec<u8>, ToolError> {
    let files = tools.files.clone();
    run_blocking(context, move |context| {
        let (mut source, _) = source.open(&files)?;
        let mut state = Sha512::new();
        for_each_piece(&mut source, context, |piece| state.update(piece))?;
        Ok([b"lango-signature-1\0".as_slice(), &state.finalize()].concat())
    })
    .await
}

/// Returns the name of the signing key to use.
pub(super) async fn choose_key(
    tools: &VaultTools,
    given: Option<&str>,
) -> Result<lango_keystore::EntryName, ToolError> {
    if let Some(given) = given {
        return parse_name(given);
    }
    let keys = tools.store.list(EntryKind::Ed25519).await.map_err(convert_error)?;
    match keys.as_slice() {
        [one] => Ok(one.name.clone()),
        [] => Err(ToolError::Failed(
            "there is no signing key yet; create one with crypto_create_key".to_owned(),
        )),
        _ => Err(ToolError::Arguments("there are several signing keys; name one".to_owned())),
    }
}

impl Tool for Sign {
    type Arguments = SignArguments;
    type Output = SignatureOutput;
    const NAME: &'static str = "crypto_sign";
    const DESCRIPTION: &'static str = "Signs a text or a file with an ed25519 key of the vault.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: SignArguments,
        context: ToolContext,
    ) -> Result<SignatureOutput, ToolError> {
        let actor = owner_of(&context, "crypto_sign")?;
        let SignArguments { data, path, key } = arguments;
        let source = DataSource::choose(data, "data", path)?;
        let name = choose_key(&self.0, key.as_deref()).await?;
        let message = digest_to_sign(&self.0, source, &context).await?;
        let (kind, store) = (EntryKind::Ed25519, &self.0.store);
        let seed = store.open_value(kind, &name, &actor).await.map_err(convert_error)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.reveal())
            .map_err(|_| convert_error(KeyStoreError::Damaged { kind, name: name.clone() }))?;
        let signature = format!("{SIGNATURE_PREFIX}{}", STANDARD.encode(pair.sign(&message)));
        let entry = store.find(kind, &name).await.map_err(convert_error)?;
        let public = entry.and_then(|entry| entry.attributes.public);
        Ok(SignatureOutput { key: name.to_string(), signature, public })
    }

    fn describe(&self, arguments: &SignArguments) -> Option<String> {
        Some(match &arguments.path {
            Some(path) => format!("Signing {}", code_span(path)),
            None => "Signing the text".to_owned(),
        })
    }

    fn report(&self, _: &SignArguments, output: &SignatureOutput) -> Option<CallReport> {
        let summary = format!("Signed with the key {}:", code_span(&output.key));
        Some(CallReport::new(summary).verbatim(output.signature.clone()).data(output))
    }

    fn propose(&self, arguments: &SignArguments) -> Option<Proposal> {
        let key = arguments.key.as_deref().unwrap_or("the only signing key");
        let shown_key = make_visible(key);
        Some(match (&arguments.path, &arguments.data) {
            (Some(path), _) => {
                let summary = format!("Sign the file {} with {shown_key}", make_visible(path));
                Proposal::of(summary, [path, key])
            }
            (None, data) => {
                let text = data.as_deref().unwrap_or_default();
                let shown = make_lines_visible(text, "| ");
                Proposal::of(format!("Sign this text with {shown_key}:\n{shown}"), [text, key])
            }
        })
    }
}
