//! Where the programs of others are, and how they are configured.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::fixture::{Lango, TO_OPERATOR, calling};

/// The directory that `cargo xtask peers` fills.
pub(crate) fn peers() -> PathBuf {
    let place = std::env::var_os("LANGO_PEERS").expect(
        "LANGO_PEERS is not set, so there are no peers. `cargo xtask peers` installs what is \
         needed and prints the directory",
    );
    PathBuf::from(place)
}

pub(crate) fn node_programs() -> PathBuf {
    peers().join("node/node_modules/.bin")
}

pub(crate) fn python_program(name: &str) -> String {
    peers().join("python/mcp/bin").join(name).display().to_string()
}

/// The programs of this repository that misbehave.
pub(crate) fn hostile_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/python").canonicalize().unwrap()
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> =
        words.iter().map(|word| toml::Value::String((*word).to_owned()).to_string()).collect();
    words.join(", ")
}

/// A server of the operator's, with more keys below.
pub(crate) fn program(name: &str, command: &[&str], more: &str) -> String {
    format!(
        "[mcp_servers.{name}]\nagent = \"operator\"\ncommand = {}\nargs = [{}]\n{more}\n",
        quoted(&command[..1]),
        quoted(&command[1..])
    )
}

/// A server on Node.
pub(crate) fn on_node(name: &str, program_name: &str, arguments: &[&str], more: &str) -> String {
    let node = node_programs().join("node").display().to_string();
    let script = node_programs().join(program_name).canonicalize().unwrap().display().to_string();
    let command = [&[node.as_str(), script.as_str()], arguments].concat();
    program(name, &command, more)
}

/// A server that misbehaves.
pub(crate) fn hostile(name: &str, misbehaviour: &[&str], more: &str) -> String {
    let directory = hostile_directory().display().to_string();
    let script = format!("{directory}/hostile_mcp.py");
    let command = [&["python3", script.as_str(), "--mode"], misbehaviour].concat();
    program(name, &command, &format!("cwd = {}\n{more}", quoted(&[&directory])))
}

/// The words of a shell that do something first and then are a server without faults.
pub(crate) fn shell_server(first: &str) -> String {
    let script = hostile_directory().join("hostile_mcp.py");
    format!("{first}; exec python3 {} --mode plain", script.display())
}

/// The homes of the servers, by the names of the servers.
pub(crate) fn server_homes(lango: &Lango) -> Vec<PathBuf> {
    let homes = std::fs::read_dir(lango.home().join("mcp/homes")).into_iter().flatten();
    let mut homes: Vec<PathBuf> = homes.map(|entry| entry.unwrap().path()).collect();
    homes.sort();
    homes
}

/// The operator makes these calls; the servers are these.
pub(super) async fn lango_with(config: &str, calls: &[(&str, &str)]) -> Lango {
    let lango = Lango::playing(&[TO_OPERATOR, &calling("operator", calls)]).await;
    configure(&lango, config);
    lango
}

pub(crate) fn configure(lango: &Lango, config: &str) {
    std::fs::create_dir_all(lango.path("user")).unwrap();
    std::fs::write(lango.config_file(), config).unwrap();
}

/// A server at an address. Killed when dropped.
pub(crate) struct Listening {
    _child: Child,
    pub(crate) port: u16,
}

impl Listening {
    /// Starts a program that prints `listening on PORT` on its first line.
    pub(crate) async fn start(program: impl AsRef<Path>, arguments: &[&str]) -> Self {
        let mut child = Command::new(program.as_ref())
            .args(arguments)
            .env("PORT", "0")
            .env("LANGO_PEERS", peers())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = loop {
            let line = lines.next_line().await.unwrap().expect("it ended without listening");
            if let Some(port) = line.strip_prefix("listening on ") {
                break port.trim().parse().unwrap();
            }
        };
        // A peer that prints more must not wait for us.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { _child: child, port }
    }

    /// A hostile server at an address.
    pub(crate) async fn hostile(misbehaviour: &[&str]) -> Self {
        let script = hostile_directory().join("hostile_mcp.py").display().to_string();
        let arguments = [&[script.as_str(), "--http", "0", "--mode"], misbehaviour].concat();
        Self::start("python3", &arguments).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Its entry in the configuration.
    pub(crate) fn entry(&self, name: &str, more: &str) -> String {
        format!("[mcp_servers.{name}]\nagent = \"operator\"\nurl = \"{}\"\n{more}\n", self.url())
    }
}
