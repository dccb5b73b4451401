//! A home, a workspace and a scripted model for one test.

use std::path::{Path, PathBuf};

use lango_model::Wire;
use lango_scripted::{ReceivedRequest, Script, ScriptedServer, profile};
use tempfile::TempDir;

use crate::invocation::Invocation;
use crate::request::Request;

/// The orchestrator hands the whole task to the operator, whose answer ends the turn.
pub(crate) const TO_OPERATOR: &str = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Do it." } }]
"#;

/// The same to the navigator.
pub(crate) const TO_NAVIGATOR: &str = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "navigator", task = "Do it." } }]
"#;

/// The same to the librarian.
pub(crate) const TO_LIBRARIAN: &str = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "librarian", task = "Do it." } }]
"#;

/// An agent that makes these calls one after the other, each a name and arguments in TOML, and then
/// says the last result.
pub(crate) fn calling(agent: &str, calls: &[(&str, &str)]) -> String {
    let reply = |(number, (tool, arguments)): (usize, &(&str, &str))| {
        format!(
            "[[reply]]\nagent = \"{agent}\"\nresults = {number}\n\
             call = [{{ name = \"{tool}\", arguments = {arguments} }}]\n"
        )
    };
    let replies: String = calls.iter().enumerate().map(reply).collect();
    format!("{replies}[[reply]]\nagent = \"{agent}\"\nsay = \"{{result}}\"\n")
}

/// Transfers to these names, for the `call` of a reply.
pub(crate) fn transfers(names: &[&str]) -> String {
    let transfer = |name: &&str| {
        let arguments = format!("{{ agent_name = \"{name}\", task = \"x\" }}");
        format!("{{ name = \"transfer_to_agent\", arguments = {arguments} }}")
    };
    names.iter().map(transfer).collect::<Vec<String>>().join(",\n")
}

/// Lango with nothing of the machine it runs on but the programs in `PATH`.
pub(crate) struct Lango {
    directory: TempDir,
    server: ScriptedServer,
}

impl Lango {
    /// The model says what these parts of a script tell it to.
    pub(crate) async fn playing(script: &[&str]) -> Self {
        Self::playing_within(&std::env::temp_dir(), script).await
    }

    /// The same, with everything in a directory of this place.
    pub(crate) async fn playing_within(place: &Path, script: &[&str]) -> Self {
        let directory = TempDir::new_in(place).unwrap();
        let workspace = directory.path().join("workspace");
        std::fs::create_dir_all(workspace.join("src")).unwrap();
        std::fs::create_dir(directory.path().join("home")).unwrap();
        std::fs::write(workspace.join("README.md"), "# Sample\n\nThree lines.\n").unwrap();
        std::fs::write(workspace.join("src/main.rs"), "fn main() {}\n").unwrap();
        let script = Script::parse("test", &script.concat()).unwrap();
        let server = ScriptedServer::start(script).await.unwrap();
        Self { directory, server }
    }

    /// The same home and workspace, with a model that says something else from now on.
    pub(crate) async fn now_playing(self, script: &[&str]) -> Self {
        let script = Script::parse("test", &script.concat()).unwrap();
        Self { server: ScriptedServer::start(script).await.unwrap(), ..self }
    }

    /// Starts a model with nothing to say, because it will not be asked.
    pub(crate) async fn silent() -> Self {
        Self::playing(&[]).await
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// Beside home and workspace.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.directory.path().join("workspace")
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.home().join("config.toml")
    }

    pub(crate) fn database_file(&self) -> PathBuf {
        self.home().join("lango.db")
    }

    /// Writes a file beside home and workspace.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        text_of(&path)
    }

    /// Every request that the model got and answered, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.server.requests().into_iter().map(Request::read).collect()
    }

    /// The requests of one agent.
    pub(crate) fn requests_of(&self, agent: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.agent == agent).collect()
    }

    /// Every request as it arrived, over whatever wire.
    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.server.requests()
    }

    /// What the model had to object to in requests.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.server.complaints()
    }

    /// What to configure as the base URL for this wire.
    pub(crate) fn base_url(&self, wire: Wire) -> String {
        self.server.base_url_for(wire)
    }

    /// A command of the binary for which nothing is set up.
    pub(crate) fn bare<'a>(&'a self, arguments: &[&str]) -> Invocation<'a> {
        Invocation::new(self, arguments)
    }

    /// `lango run` over this wire, set up as users do it: in the environment.
    pub(crate) fn ask_over<'a>(&'a self, wire: Wire, text: &str) -> Invocation<'a> {
        let invocation = self.bare(&["run", "--output-format", "stream-json", text]);
        let url = self.base_url(wire);
        let variables = profile(wire).environment.iter();
        variables.fold(invocation, |invocation, (name, value)| {
            invocation.set(name, value.replace("{url}", &url))
        })
    }

    /// A command of the binary.
    pub(crate) fn command<'a>(&'a self, arguments: &[&str]) -> Invocation<'a> {
        let invocation = Invocation::new(self, arguments);
        invocation.set("OPENAI_BASE_URL", self.server.base_url())
    }

    /// A command of the binary, run by another program that takes these arguments first.
    pub(crate) fn through<'a>(
        &'a self,
        program: &str,
        first: &[&str],
        arguments: &[&str],
    ) -> Invocation<'a> {
        let all = [first, &[env!("CARGO_BIN_EXE_lango")], arguments].concat();
        let invocation = Invocation::of(program, self, &all);
        invocation.set("OPENAI_BASE_URL", self.server.base_url())
    }

    /// A command line of the binary at a terminal, which is its input and both of its outputs.
    pub(crate) fn at_terminal<'a>(&'a self, line: &str) -> Invocation<'a> {
        let line = format!("exec '{}' {line}", env!("CARGO_BIN_EXE_lango"));
        let invocation = Invocation::of("script", self, &["-qefc", &line, "/dev/null"]);
        invocation.set("OPENAI_BASE_URL", self.server.base_url())
    }

    /// The same with nothing set up.
    pub(crate) fn at_bare_terminal<'a>(&'a self, line: &str) -> Invocation<'a> {
        self.at_terminal(line).unset("OPENAI_BASE_URL")
    }

    /// The same at a terminal of this size.
    pub(crate) fn at_small_terminal<'a>(&'a self, rows: u16, line: &str) -> Invocation<'a> {
        let binary = env!("CARGO_BIN_EXE_lango");
        let line = format!("stty rows {rows} cols 60; exec '{binary}' {line}");
        let invocation = Invocation::of("script", self, &["-qefc", &line, "/dev/null"]);
        invocation.set("OPENAI_BASE_URL", self.server.base_url())
    }

    /// The same in a shell that goes on after the binary, and survives Ctrl-C.
    pub(crate) fn in_terminal_shell<'a>(&'a self, line: &str) -> Invocation<'a> {
        let line = format!("trap : INT; '{}' {line}", env!("CARGO_BIN_EXE_lango"));
        let invocation = Invocation::of("script", self, &["-qefc", &line, "/dev/null"]);
        invocation.set("OPENAI_BASE_URL", self.server.base_url())
    }

    /// `lango run`, with events on standard output.
    pub(crate) fn ask<'a>(&'a self, text: &str) -> Invocation<'a> {
        self.command(&["run", "--output-format", "stream-json", text])
    }
}

pub(crate) fn text_of(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
