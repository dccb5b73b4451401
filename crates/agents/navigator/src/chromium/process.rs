//! Owns the process and its directory, which end together.
//!
//! Chromium is started by a shell that waits for it, then removes the directory. So the directory
//! is removed whenever Chromium ends, and Chromium ends when its pipe closes: on request, and also
//! when this process is killed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// Starts `$2…` with standard input and output as the descriptors that Chromium's protocol uses,
/// then removes the directory `$1`. A process that Chromium leaves behind for a moment may create
/// the directory again: so a detached shell removes it a few times more.
const KEEPER_SCRIPT: &str = r#"
home=$1; shift
"$@" 3<&0 4>&1 </dev/null >/dev/null
code=$?
exec <&- >&- 2>&-
rm -rf "$home"
(for pause in 0.1 0.2 0.4 0.8 1.5 3; do sleep $pause; rm -rf "$home"; done) &
exit $code
"#;

/// Limits how long to wait for the end of Chromium's standard error.
const STDERR_TIMEOUT: Duration = Duration::from_secs(5);

/// Limits how many lines of Chromium's standard error are kept, for when it does not start.
const MAX_STDERR_LINES: usize = 12;

/// Lists the environment variables that Chromium inherits: no keys, no addresses of databases.
const INHERITED_VARIABLES: [&str; 8] =
    ["PATH", "LANG", "LC_ALL", "TZ", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];

/// Owns a started Chromium. It ends when its pipes are closed; [`ChromiumProcess::end`] waits for it.
pub(crate) struct ChromiumProcess {
    child: Child,
    home: PathBuf,
    // Written by the reading task, read once after a failure.
    output: Arc<Mutex<VecDeque<String>>>,
    /// The task that reads standard error. It ends when all writers are gone.
    listener: Option<JoinHandle<()>>,
}

impl ChromiumProcess {
    /// Starts `program`. `home` is removed when it ends.
    pub(crate) fn start(
        program: &Path,
        arguments: &[String],
        home: &Path,
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let temporary = home.join("t");
        std::fs::create_dir_all(&temporary)?;
        let variables: Vec<(&str, OsString)> = INHERITED_VARIABLES
            .iter()
            .filter_map(|name| std::env::var_os(name).map(|value| (*name, value)))
            .collect();
        let mut child = Command::new("/bin/sh")
            .args(["-c", KEEPER_SCRIPT, "lango-browser"])
            .arg(home)
            .arg(program)
            .args(arguments)
            .env_clear()
            .envs(variables)
            .env("HOME", home)
            .env("TMPDIR", &temporary)
            .current_dir(home)
            // It gets its own group: Ctrl-C at the terminal is for this process, and all of the
            // browser can be ended at once.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("the pipes of the browser are missing");
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let output = Arc::new(Mutex::new(VecDeque::new()));
        let stderr = child.stderr.take();
        let listener = stderr.map(|stderr| tokio::spawn(read_stderr(stderr, Arc::clone(&output))));
        Ok((Self { child, home: home.to_owned(), output, listener }, stdout, stdin))
    }

    /// Returns the id of the keeper, which is also that of the process group.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Returns what Chromium printed last, once it has ended: it may not have been read yet.
    pub(crate) async fn last_output(&mut self) -> String {
        if let Some(listener) = self.listener.take() {
            // A process that it left behind may keep the pipe open; what was read by then is
            // returned.
            let _ = tokio::time::timeout(STDERR_TIMEOUT, listener).await;
        }
        let output = self.output.lock();
        output.iter().map(String::as_str).collect::<Vec<&str>>().join("\n")
    }

    /// Waits until it is gone; after `timeout`, kills it. Its directory is removed then.
    pub(crate) async fn end(&mut self, timeout: Duration) {
        if tokio::time::timeout(timeout, self.child.wait()).await.is_err() {
            self.kill();
            // A killed process is gone; nothing can be done about one that is not.
            let _ = tokio::time::timeout(timeout, self.child.wait()).await;
        }
        // The keeper has done this, unless it was killed with the others.
        let _ = std::fs::remove_dir_all(&self.home);
    }

    /// Waits for the end of a browser that ends by itself.
    pub(crate) async fn wait(&mut self) {
        // A process that cannot be waited for is gone.
        let _ = self.child.wait().await;
    }

    fn kill(&self) {
        let group = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(group) = group {
            // It may be gone already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

async fn read_stderr(stderr: ChildStderr, output: Arc<Mutex<VecDeque<String>>>) {
    let mut lines = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        // A line that never ends is read in pieces.
        let mut piece = (&mut lines).take(4096);
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        let mut output = output.lock();
        if output.len() == MAX_STDERR_LINES {
            output.pop_front();
        }
        output.push_back(line);
    }
}
