//! A program of this crate that serves, while a test talks to it.

use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// A running server. Killed when dropped.
pub(crate) struct RunningServer {
    child: Child,
    pub(crate) port: u16,
}

impl RunningServer {
    /// Starts a program, and waits until it says where it listens.
    pub(crate) async fn start(program: &str) -> Self {
        let mut command = Command::new(program);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().expect("the server ended at once");
        let port = line.strip_prefix("listening on ").expect(&line).parse().unwrap();
        Self { child, port }
    }

    /// Asks the program to end, and waits until it has.
    pub(crate) async fn terminate(mut self) -> ExitStatus {
        let pid = Pid::from_raw(self.child.id().unwrap().cast_signed()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        self.child.wait().await.unwrap()
    }
}
