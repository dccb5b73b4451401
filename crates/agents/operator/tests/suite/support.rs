//! Sets up a workspace with a directory outside next to it, and calls its tools.

use std::path::{Path, PathBuf};

use lango_operator::{OperatorAgent, OperatorResources, OperatorSettings, Workspace};
use lango_places::{Places, PlacesSettings};
use lango_protocol::{CallId, CallReport, SessionId, Space, SpaceAccess, TurnId};
use lango_sandbox::{ConfinementLevel, LevelRequirement, Sandbox};
use lango_store::{Database, DatabaseLocation};
use lango_tool::{
    ExcludedPaths, PreparedCall, Proposal, ToolContext, ToolError, ToolOutput, ToolRegistry,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Bench {
    directory: TempDir,
    /// The database, outside of the tools' reach.
    _records: TempDir,
    pub(crate) registry: ToolRegistry,
    session: SessionId,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(OperatorSettings::default()).await
    }

    /// Sets up a workspace whose commands are confined at this level, whatever the machine
    /// supports.
    pub(crate) async fn at(level: ConfinementLevel) -> Self {
        let requirement = LevelRequirement::Exactly(level);
        let sandbox = Sandbox { requirement, ..Sandbox::default() };
        Self::with(OperatorSettings { sandbox, ..OperatorSettings::default() }).await
    }

    pub(crate) async fn with(settings: OperatorSettings) -> Self {
        Self::with_places(settings, |_| Places::default()).await
    }

    /// Sets up a workspace that is the user's home.
    pub(crate) async fn in_home() -> Self {
        let places = |home: &Path| {
            let (home, roots) = (Some(home.to_owned()), vec![home.to_owned()]);
            Places::new(PlacesSettings { home, roots, ..PlacesSettings::default() })
        };
        Self::with_places(OperatorSettings::default(), places).await
    }

    async fn with_places(
        mut settings: OperatorSettings,
        places: impl FnOnce(&Path) -> Places,
    ) -> Self {
        settings.sandbox.helper = Some(env!("CARGO_BIN_EXE_lango-operator-confine").into());
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("workspace")).unwrap();
        std::fs::create_dir(directory.path().join("outside")).unwrap();
        std::fs::write(directory.path().join("outside/secret"), "secret\n").unwrap();
        let root = directory.path().join("workspace");
        let workspace = Workspace::open_with_places(&root, places(&root)).unwrap();
        let records = tempfile::tempdir().unwrap();
        let location = DatabaseLocation::Sqlite(records.path().join("lango.db"));
        let database = Database::open(&location).await.unwrap();
        let resources = OperatorResources { workspace, database };
        let operator = OperatorAgent::open(settings, resources).await.unwrap();
        let mut registry = ToolRegistry::new();
        for tool in operator.parts().tools {
            registry.add_registered(tool).unwrap();
        }
        Self { directory, _records: records, registry, session: SessionId::generate() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("workspace").join(name)
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.directory.path().join("outside")
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn content(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, name: &str) {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
    }

    /// Asserts that the directory outside is unchanged.
    pub(crate) fn assert_outside_untouched(&self) {
        let names: Vec<_> = std::fs::read_dir(self.outside())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(names, ["secret"]);
        assert_eq!(std::fs::read_to_string(self.outside().join("secret")).unwrap(), "secret\n");
        let mut beside: Vec<_> = std::fs::read_dir(self.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        beside.sort();
        assert_eq!(beside, ["outside", "workspace"]);
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<String, ToolError> {
        self.call_with(tool, arguments, CancellationToken::new()).await
    }

    pub(crate) async fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        cancel: CancellationToken,
    ) -> Result<String, ToolError> {
        self.output(tool, arguments, cancel).await.map(|output| output.text)
    }

    /// Makes a call from which rules keep the paths for which `test` is true.
    pub(crate) async fn call_without(
        &self,
        tool: &str,
        arguments: Value,
        test: fn(&Path) -> bool,
    ) -> Result<String, ToolError> {
        let prepared = self.registry.get(tool).unwrap().prepare(&arguments.to_string())?;
        let excluded = ExcludedPaths::new(test);
        let context = ToolContext { excluded, ..context(CancellationToken::new()) };
        prepared.run(context).await.map(|output| output.text)
    }

    async fn output(
        &self,
        tool: &str,
        arguments: Value,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let tool = self.registry.get(tool).unwrap();
        let context = ToolContext { session: self.session.clone(), ..context(cancel) };
        tool.prepare(&arguments.to_string())?.run(context).await
    }

    /// Runs a call that was prepared before.
    pub(crate) async fn run(&self, prepared: PreparedCall) -> Result<ToolOutput, ToolError> {
        prepared.run(context(CancellationToken::new())).await
    }

    /// Returns what a successful call reports to users.
    pub(crate) async fn report(&self, tool: &str, arguments: Value) -> CallReport {
        let output = self.output(tool, arguments, CancellationToken::new()).await.unwrap();
        output.report.unwrap()
    }

    /// Describes what a call is about.
    pub(crate) fn description(&self, tool: &str, arguments: &Value) -> Option<String> {
        let tool = self.registry.get(tool).unwrap();
        tool.prepare(&arguments.to_string()).unwrap().describe()
    }

    /// Returns the message of a call that must fail for a reason other than confinement.
    pub(crate) async fn failure(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments).await {
            Err(ToolError::Failed(message)) => message,
            other => panic!("expected a failure, got {other:?}"),
        }
    }

    /// Returns what a call would do.
    pub(crate) fn propose(&self, tool: &str, arguments: &Value) -> Proposal {
        let prepared = self.registry.get(tool).unwrap().prepare(&arguments.to_string()).unwrap();
        prepared.propose().unwrap()
    }

    pub(crate) fn summary(&self, tool: &str, arguments: &Value) -> String {
        let prepared = self.registry.get(tool).unwrap().prepare(&arguments.to_string()).unwrap();
        prepared.propose().unwrap().summary
    }
}

pub(crate) fn context(cancel: CancellationToken) -> ToolContext {
    ToolContext {
        session: SessionId::generate(),
        turn: TurnId::generate(),
        call: CallId::generate(),
        agent: "operator".parse().unwrap(),
        space: SpaceAccess::to(Space::Owner),
        cancel,
        excluded: ExcludedPaths::default(),
    }
}
