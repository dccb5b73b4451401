//! Sets up tools, a session, and a directory for files.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lango_egress::{Guard, Rules};
use lango_navigator::{Navigator, NavigatorAgent, NavigatorSettings};
use lango_protocol::{CallId, CallReport, SessionId, Space, SpaceAccess, TurnId};
use lango_tool::{ExcludedPaths, Proposal, ToolContext, ToolError, ToolOutput, ToolRegistry};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Is longer than any test needs on a busy machine: a test that reaches it hangs.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_mins(4);

/// Holds the navigator's tools for one session, with a Chromium of their own.
pub(crate) struct Tools {
    pub(crate) navigator: Navigator,
    pub(crate) session: SessionId,
    registry: ToolRegistry,
    directory: Arc<TempDir>,
}

impl Tools {
    /// Allows these addresses of this machine.
    pub(crate) fn at(allowed: &[String]) -> Self {
        Self::with(allowed, |_| {})
    }

    /// Uses settings of its own.
    pub(crate) fn with(allowed: &[String], change: impl FnOnce(&mut NavigatorSettings)) -> Self {
        let directory = TempDir::new().unwrap();
        let guard = Guard::new(Rules::parse(allowed, &[], &[]).unwrap());
        let mut settings = NavigatorSettings::new(directory.path(), guard);
        change(&mut settings);
        let mut registry = ToolRegistry::new();
        let agent = NavigatorAgent::open(settings);
        for tool in agent.parts().tools {
            registry.add_registered(tool).unwrap();
        }
        let navigator = agent.navigator().clone();
        let session = SessionId::generate();
        Self { navigator, session, registry, directory: Arc::new(directory) }
    }

    /// Returns the same tools for another session.
    pub(crate) fn as_another_session(&self) -> Self {
        Self {
            navigator: self.navigator.clone(),
            session: SessionId::generate(),
            registry: self.registry.clone(),
            directory: Arc::clone(&self.directory),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<String, ToolError> {
        self.output(tool, arguments).await.map(|output| output.text)
    }

    /// Returns what a successful call reports to users.
    pub(crate) async fn report(&self, tool: &str, arguments: Value) -> CallReport {
        self.output(tool, arguments).await.unwrap().report.unwrap()
    }

    /// Describes what a call is about.
    pub(crate) fn description(&self, tool: &str, arguments: &Value) -> Option<String> {
        let tool = self.registry.get(tool).unwrap();
        tool.prepare(&arguments.to_string()).unwrap().describe()
    }

    async fn output(&self, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let context = ToolContext {
            session: self.session.clone(),
            turn: TurnId::generate(),
            call: CallId::generate(),
            agent: "navigator".parse().unwrap(),
            space: SpaceAccess::to(Space::Owner),
            cancel: CancellationToken::new(),
            excluded: ExcludedPaths::default(),
        };
        let prepared = self.registry.get(tool).unwrap().prepare(&arguments.to_string())?;
        tokio::time::timeout(TEST_TIMEOUT, prepared.run(context)).await.expect("the call hangs")
    }

    /// Returns what the user is shown before a call.
    pub(crate) fn propose(&self, tool: &str, arguments: &Value) -> Proposal {
        let prepared = self.registry.get(tool).unwrap().prepare(&arguments.to_string()).unwrap();
        prepared.propose().unwrap()
    }

    /// Opens a page.
    pub(crate) async fn open(&self, url: &str) -> Result<String, ToolError> {
        self.call("browser_navigate", json!({ "url": url })).await
    }

    /// Reads the page.
    pub(crate) async fn read(&self, mode: &str) -> String {
        self.call("browser_read", json!({ "mode": mode })).await.unwrap()
    }

    /// Clicks the element whose outline line contains `words`.
    pub(crate) async fn click(&self, words: &str) -> Result<String, ToolError> {
        let reference = self.reference(words).await;
        self.call("browser_click", json!({ "ref": reference })).await
    }

    /// Returns the reference of the element whose outline line contains `words`.
    pub(crate) async fn reference(&self, words: &str) -> String {
        let outline = self.call("browser_read", json!({"mode": "outline", "limit": 1000})).await;
        reference_in(&outline.unwrap(), words)
    }
}

/// Returns the reference in the line of an outline that contains `words`.
pub(crate) fn reference_in(outline: &str, words: &str) -> String {
    let line = outline.lines().find(|line| line.contains(words) && line.ends_with(']'));
    let line = line.unwrap_or_else(|| panic!("no element {words:?} in:\n{outline}"));
    line.rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned()
}
