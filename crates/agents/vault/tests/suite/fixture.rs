//! A vault agent with a database, a workspace and a person.

use std::sync::{Arc, Mutex};

use lango_keystore::{DerivationCost, KeyStore, KeyStoreSettings, SecretBytes, SecretHandles};
use lango_places::Places;
use lango_protocol::{CallId, SessionId, Space, SpaceAccess, TurnId};
use lango_store::DatabaseLocation;
use lango_store::testing::open;
use lango_tool::{ExcludedPaths, RegisteredTool, ToolContext, ToolError, ToolOutput};
use lango_vault::{
    PromptFuture, ValueAnswer, ValuePrompt, ValueQuestion, VaultAgent, VaultResources,
    VaultSettings,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A person who types this value, and remembers what was asked for.
#[derive(Default)]
pub(crate) struct TypingPerson {
    pub(crate) value: String,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl ValuePrompt for TypingPerson {
    fn ask(&self, question: ValueQuestion) -> PromptFuture {
        self.asked.lock().unwrap().push(question.name);
        let value = self.value.clone();
        Box::pin(async move {
            match value.as_str() {
                "" => ValueAnswer::Declined,
                _ => ValueAnswer::Given(SecretBytes::from(value)),
            }
        })
    }
}

pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) store: KeyStore,
    pub(crate) handles: SecretHandles,
    pub(crate) session: SessionId,
    tools: Vec<RegisteredTool>,
}

impl Fixture {
    pub(crate) async fn with_person(prompt: Arc<dyn ValuePrompt>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let workspace = directory.path().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
        let settings = KeyStoreSettings {
            derivation_cost: DerivationCost { memory_kib: 64, passes: 1 },
            ..KeyStoreSettings::new(
                directory.path().join("vault.key"),
                directory.path().join("run"),
            )
        };
        let store = KeyStore::open(open(&location).await, settings).await.unwrap();
        let handles = SecretHandles::default();
        let resources = VaultResources { store: store.clone(), handles: handles.clone(), prompt };
        let settings = VaultSettings { workspace, places: Places::default() };
        let tools = VaultAgent::open(settings, resources).unwrap().parts().tools;
        Self { directory, store, handles, session: SessionId::generate(), tools }
    }

    pub(crate) async fn new() -> Self {
        Self::with_person(Arc::new(TypingPerson::default())).await
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join("workspace").join(name)
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        self.call_in(Space::Owner, tool, arguments).await
    }

    pub(crate) async fn call_in(
        &self,
        space: Space,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        let context = ToolContext {
            session: self.session.clone(),
            turn: TurnId::generate(),
            call: CallId::generate(),
            agent: "vault".parse().unwrap(),
            space: SpaceAccess::to(space),
            cancel: CancellationToken::new(),
            excluded: ExcludedPaths::default(),
        };
        let tool = self.tools.iter().find(|known| known.name() == tool).unwrap();
        tool.prepare(&arguments.to_string())?.run(context).await
    }

    /// The output of a call that succeeds, as JSON.
    pub(crate) async fn output(&self, tool: &str, arguments: Value) -> Value {
        let output = self.call(tool, arguments).await.unwrap();
        serde_json::from_str(&output.text).unwrap()
    }

    /// The error of a call that fails.
    pub(crate) async fn error(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await.unwrap_err().to_string()
    }
}
