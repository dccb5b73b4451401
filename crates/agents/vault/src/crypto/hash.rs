//! Implements `crypto_hash`, which computes a digest.

use lango_protocol::CallReport;
use lango_text::{code_span, hex};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256, Sha512};

use super::source::{DataSource, for_each_piece, run_blocking};
use crate::agent::VaultTools;

pub(crate) struct HashData(pub(crate) VaultTools);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HashAlgorithm {
    #[default]
    Sha256,
    Sha512,
    Blake3,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HashArguments {
    /// Text to hash.
    #[serde(default)]
    data: Option<String>,
    /// File of the workspace to hash instead, of any size.
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    algorithm: HashAlgorithm,
}

#[derive(Debug, Serialize)]
pub(crate) struct DigestOutput {
    algorithm: HashAlgorithm,
    digest: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

impl Tool for HashData {
    type Arguments = HashArguments;
    type Output = DigestOutput;
    const NAME: &'static str = "crypto_hash";
    const DESCRIPTION: &'static str = "Computes the digest of a text or a file.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: HashArguments,
        context: ToolContext,
    ) -> Result<DigestOutput, ToolError> {
        let HashArguments { data, path, algorithm } = arguments;
        let source = DataSource::choose(data, "data", path)?;
        let files = self.0.files.clone();
        run_blocking(&context, move |context| {
            let (mut source, path) = source.open(&files)?;
            let (digest, bytes) = match algorithm {
                HashAlgorithm::Sha256 => {
                    let mut state = Sha256::new();
                    let bytes = for_each_piece(&mut source, context, |piece| state.update(piece))?;
                    (hex(state.finalize()), bytes)
                }
                HashAlgorithm::Sha512 => {
                    let mut state = Sha512::new();
                    let bytes = for_each_piece(&mut source, context, |piece| state.update(piece))?;
                    (hex(state.finalize()), bytes)
                }
                HashAlgorithm::Blake3 => {
                    let mut state = blake3::Hasher::new();
                    let bytes = for_each_piece(&mut source, context, |piece| {
                        state.update(piece);
                    })?;
                    (hex(state.finalize().as_bytes()), bytes)
                }
            };
            Ok(DigestOutput { algorithm, digest, bytes, path })
        })
        .await
    }

    fn describe(&self, arguments: &HashArguments) -> Option<String> {
        Some(match &arguments.path {
            Some(path) => format!("Hashing {}", code_span(path)),
            None => "Hashing the text".to_owned(),
        })
    }

    fn report(&self, _: &HashArguments, output: &DigestOutput) -> Option<CallReport> {
        let what = output.path.as_deref().map_or("the text".to_owned(), code_span);
        let algorithm = match output.algorithm {
            HashAlgorithm::Sha256 => "SHA-256",
            HashAlgorithm::Sha512 => "SHA-512",
            HashAlgorithm::Blake3 => "BLAKE3",
        };
        let summary = format!("The {algorithm} of {what}:");
        Some(CallReport::new(summary).verbatim(output.digest.clone()).data(output))
    }
}
