//! Implements `crypto_create_key`, which creates a key that stays in the vault.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lango_keystore::{
    Actor, EntryAttributes, EntryInfo, EntryKind, EntryName, KeyStore, KeyStoreError, SecretBytes,
};
use lango_protocol::CallReport;
use lango_text::{code_span, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::age_stream::generate_identity;
use crate::agent::{VaultTools, convert_error, owner_of};
use crate::secrets::parse_name;

pub(crate) struct CreateKey(pub(crate) VaultTools);

/// The kinds of keys that can be created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// Signs.
    #[default]
    Ed25519,
    /// Encrypts, for the vault itself.
    Xchacha20,
    /// Decrypts what others encrypt for its public part.
    Age,
}

impl KeyKind {
    /// Returns the kind of entry.
    pub fn entry_kind(self) -> EntryKind {
        match self {
            Self::Ed25519 => EntryKind::Ed25519,
            Self::Xchacha20 => EntryKind::Xchacha20,
            Self::Age => EntryKind::Age,
        }
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateArguments {
    /// Name of the key, by which it is used.
    name: String,
    /// ed25519 signs, xchacha20 encrypts, age receives what others encrypt for it.
    #[serde(default)]
    kind: KeyKind,
}

#[derive(Debug, Serialize)]
pub(crate) struct CreatedKey {
    id: String,
    kind: KeyKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    public: Option<String>,
}

/// Creates a key under a name that no key has, and returns its description.
pub async fn create_key(
    store: &KeyStore,
    name: &EntryName,
    kind: KeyKind,
    actor: &Actor,
) -> Result<EntryInfo, KeyStoreError> {
    for other in EntryKind::KEYS {
        if store.find(*other, name).await?.is_some() {
            return Err(KeyStoreError::Exists { kind: *other, name: name.clone() });
        }
    }
    let (value, public) = match kind {
        KeyKind::Xchacha20 => (SecretBytes::random(32)?, None),
        KeyKind::Age => {
            let (identity, public) = generate_identity();
            (identity, Some(public))
        }
        KeyKind::Ed25519 => {
            let value = SecretBytes::random(32)?;
            let pair = Ed25519KeyPair::from_seed_unchecked(value.reveal());
            let pair = pair.map_err(|_| KeyStoreError::NoRandomness)?;
            let public = format!("ed25519:{}", STANDARD.encode(pair.public_key()));
            (value, Some(public))
        }
    };
    let attributes = EntryAttributes { public, ..EntryAttributes::default() };
    store.create(kind.entry_kind(), name, &value, attributes, actor).await
}

impl Tool for CreateKey {
    type Arguments = CreateArguments;
    type Output = CreatedKey;
    const NAME: &'static str = "crypto_create_key";
    const DESCRIPTION: &'static str = "Creates a key in the vault. The key never leaves it; the public part of a signing or age \
         key is returned.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: CreateArguments,
        context: ToolContext,
    ) -> Result<CreatedKey, ToolError> {
        let actor = owner_of(&context, "crypto_create_key")?;
        let name = parse_name(&arguments.name)?;
        let kind = arguments.kind;
        let entry = create_key(&self.0.store, &name, kind, &actor).await.map_err(convert_error)?;
        Ok(CreatedKey { id: name.to_string(), kind, public: entry.attributes.public })
    }

    fn describe(&self, arguments: &CreateArguments) -> Option<String> {
        Some(format!("Creating the key {}", code_span(&arguments.name)))
    }

    fn report(&self, _: &CreateArguments, output: &CreatedKey) -> Option<CallReport> {
        let id = code_span(&output.id);
        let report = match (&output.kind, &output.public) {
            (KeyKind::Ed25519, Some(public)) => {
                CallReport::new(format!("Created the signing key {id}. Its public part:"))
                    .verbatim(public.clone())
            }
            (KeyKind::Age, Some(public)) => CallReport::new(format!(
                "Created the key {id}. Others encrypt for you with its public part:"
            ))
            .verbatim(public.clone()),
            _ => CallReport::new(format!("Created the encryption key {id}.")),
        };
        Some(report.data(output))
    }

    fn propose(&self, arguments: &CreateArguments) -> Option<Proposal> {
        let name = make_visible(&arguments.name);
        let kind = arguments.kind.entry_kind();
        Some(Proposal::of(format!("Create the {kind} {name} in the vault"), [&arguments.name]))
    }
}
