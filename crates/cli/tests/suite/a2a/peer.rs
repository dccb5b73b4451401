//! Agents of others, each a process of its own.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Who is talked to, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    PythonRpc,
    PythonRest,
    PythonThree,
    NodeRpc,
    NodeRest,
    NodeThree,
    /// One that misbehaves.
    Hostile,
    /// No agent, but a server of e-mail.
    Smtp,
}

/// An agent under way. Killed when dropped.
pub(crate) struct Peer {
    child: Child,
    port: u16,
}

fn installed() -> PathBuf {
    let directory = std::env::var_os("LANGO_PEERS");
    PathBuf::from(directory.expect(
        "LANGO_PEERS is not set. Install the peers and see where they are: cargo xtask peers",
    ))
}

fn program(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../peers").join(path)
}

impl Peer {
    pub(crate) async fn start(kind: Kind, options: &[&str]) -> Self {
        Self::start_at(kind, 0, options).await
    }

    /// On a port that is known before.
    pub(crate) async fn start_at(kind: Kind, port: u16, options: &[&str]) -> Self {
        let (interpreter, file, own): (&str, &str, &[&str]) = match kind {
            Kind::PythonRpc => {
                ("python/a2a/bin/python", "python/a2a_agent.py", &["--binding", "jsonrpc"])
            }
            Kind::PythonRest => {
                ("python/a2a/bin/python", "python/a2a_agent.py", &["--binding", "rest"])
            }
            Kind::PythonThree => ("python/a2a03/bin/python", "python/a2a03_agent.py", &[]),
            Kind::NodeRpc => {
                ("node/node_modules/.bin/node", "node/a2a_agent.mjs", &["--binding", "jsonrpc"])
            }
            Kind::NodeRest => {
                ("node/node_modules/.bin/node", "node/a2a_agent.mjs", &["--binding", "rest"])
            }
            Kind::NodeThree => ("node/node_modules/.bin/node", "node/a2a03_agent.mjs", &[]),
            Kind::Smtp => ("python/smtp/bin/python", "python/smtp_server.py", &[]),
            Kind::Hostile => ("python/a2a/bin/python", "python/hostile_a2a.py", &[]),
        };
        let mut child = Command::new(installed().join(interpreter))
            .arg(program(file))
            .args(["--port", &port.to_string()])
            .args(own)
            .args(options)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the peers are not installed. Type: cargo xtask peers");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().expect("the peer said nothing");
        let port = line.rsplit(' ').next().unwrap().parse().unwrap();
        // Its later output is discarded, so that it does not fill the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { child, port }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Ends it, and waits until it is gone.
    pub(crate) async fn stop(mut self) {
        self.child.kill().await.unwrap();
    }
}
