//! Defines the vault agent: the resources that it needs and the tools that it provides.

use std::path::PathBuf;
use std::sync::Arc;

use lango_keystore::{Actor, KeyStore, SecretHandles};
use lango_places::Places;
use lango_protocol::Space;
use lango_runtime::AgentParts;
use lango_tool::{RegisteredTool, ToolContext, ToolError};

use crate::crypto::{CreateKey, Decrypt, Encrypt, HashData, ListKeys, Sign, Verify};
use crate::files::WorkspaceFiles;
use crate::prompt::ValuePrompt;
use crate::secrets::{DeleteSecret, GetSecret, ListSecrets, SetSecret};

/// Configures the vault agent.
#[derive(Clone)]
pub struct VaultSettings {
    /// The directory whose files are hashed, encrypted and signed.
    pub workspace: PathBuf,
    /// The places that are not read or changed.
    pub places: Places,
}

/// Holds what the vault works on.
pub struct VaultResources {
    /// The secrets and keys.
    pub store: KeyStore,
    /// The handles that are given out for values.
    pub handles: SecretHandles,
    /// Asks the person for values.
    pub prompt: Arc<dyn ValuePrompt>,
}

/// Keeps secrets and keys, and works with them.
pub struct VaultAgent {
    tools: VaultTools,
}

/// What every tool of the vault shares.
#[derive(Clone)]
pub(crate) struct VaultTools {
    pub(crate) store: KeyStore,
    pub(crate) handles: SecretHandles,
    pub(crate) prompt: Arc<dyn ValuePrompt>,
    pub(crate) files: WorkspaceFiles,
}

impl VaultAgent {
    /// Opens the vault agent. Nothing is created in the key store.
    pub fn open(settings: VaultSettings, resources: VaultResources) -> std::io::Result<Self> {
        let VaultResources { store, handles, prompt } = resources;
        let files = WorkspaceFiles::open(&settings.workspace, settings.places)?;
        Ok(Self { tools: VaultTools { store, handles, prompt, files } })
    }

    /// Returns what the vault contributes to turns.
    pub fn parts(&self) -> AgentParts {
        let tools = || self.tools.clone();
        let tools = vec![
            RegisteredTool::new(SetSecret(tools())),
            RegisteredTool::new(GetSecret(tools())),
            RegisteredTool::new(ListSecrets(tools())),
            RegisteredTool::new(DeleteSecret(tools())),
            RegisteredTool::new(HashData(tools())),
            RegisteredTool::new(ListKeys(tools())),
            RegisteredTool::new(CreateKey(tools())),
            RegisteredTool::new(Encrypt(tools())),
            RegisteredTool::new(Decrypt(tools())),
            RegisteredTool::new(Sign(tools())),
            RegisteredTool::new(Verify(tools())),
        ];
        AgentParts { tools, ..AgentParts::default() }
    }
}

/// Returns who makes a call, for the record. What is in the vault belongs to the owner: the clients of
/// a server do not reach it.
pub(crate) fn owner_of(context: &ToolContext, purpose: &str) -> Result<Actor, ToolError> {
    if *context.space.own() != Space::Owner {
        let reason = "the vault belongs to the owner of this machine, and serves no API client";
        return Err(ToolError::Forbidden(reason.to_owned()));
    }
    Ok(Actor {
        name: context.agent.to_string(),
        session: Some(context.session.clone()),
        purpose: purpose.to_owned(),
    })
}

/// Converts an error of the key store for a model.
#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(crate) fn convert_error(error: lango_keystore::KeyStoreError) -> ToolError {
    ToolError::Failed(error.to_string())
}
