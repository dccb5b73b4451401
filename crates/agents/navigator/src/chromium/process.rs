//! The process and its directory: one life, one end.
//!
//! Chromium is started by a shell that waits for it, then removes the directory. So the directory
//! goes whenever Chromium does, and Chromium goes when its pipe closes: when we say so, and also
//! when we are killed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// Starts `$2…` with standard input and output as the descriptors that Chromium speaks over, then
/// removes the directory `$1`. A process that Chromium leaves behind for a moment may make the
/// directory again: so it is looked at a few times more, by a shell that nobody waits for.
const KEEPER: &str = r#"
home=$1; shift
"$@" 3<&0 4>&1 </dev/null >/dev/null
code=$?
exec <&- >&- 2>&-
rm -rf "$home"
(for pause in 0.1 0.2 0.4 0.8 1.5 3; do sleep $pause; rm -rf "$home"; done) &
exit $code
"#;

/// How long the end of Chromium's words is waited for.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Lines of Chromium's own words that are kept, for when it does not start.
const KEPT_LINES: usize = 12;

/// What Chromium sees of our environment: no keys, no addresses of databases.
const VARIABLES: [&str; 8] =
    ["PATH", "LANG", "LC_ALL", "TZ", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];

/// A started Chromium. Ends when its pipes are closed; [`Process::end`] waits for it.
pub(crate) struct Process {
    child: Child,
    home: PathBuf,
    // Written by the task that reads, read once when something went wrong.
    words: Arc<Mutex<VecDeque<String>>>,
    /// Ends when nobody can say anything any more.
    listener: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts `program`. `home` is removed when it ends.
    pub(crate) fn start(
        program: &Path,
        arguments: &[String],
        home: &Path,
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let temporary = home.join("t");
        std::fs::create_dir_all(&temporary)?;
        let variables: Vec<(&str, OsString)> = VARIABLES
            .iter()
            .filter_map(|name| std::env::var_os(name).map(|value| (*name, value)))
            .collect();
        let mut child = Command::new("/bin/sh")
            .args(["-c", KEEPER, "lango-browser"])
            .arg(home)
            .arg(program)
            .args(arguments)
            .env_clear()
            .envs(variables)
            .env("HOME", home)
            .env("TMPDIR", &temporary)
            .current_dir(home)
            // Its own group: Ctrl-C at our terminal is for us, and all of it can be ended at once.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("the pipes of the browser are missing");
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let words = Arc::new(Mutex::new(VecDeque::new()));
        let stderr = child.stderr.take();
        let listener = stderr.map(|stderr| tokio::spawn(keep_words(stderr, Arc::clone(&words))));
        Ok((Self { child, home: home.to_owned(), words, listener }, stdout, stdin))
    }

    /// The id of the keeper, which is also that of the process group.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// What Chromium said last, once it has ended: it may have been read by nobody yet.
    pub(crate) async fn last_words(&mut self) -> String {
        if let Some(listener) = self.listener.take() {
            // Somebody that it left behind may keep the pipe; what came by then has to do.
            let _ = tokio::time::timeout(LAST_WORDS, listener).await;
        }
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        words.iter().map(String::as_str).collect::<Vec<&str>>().join("\n")
    }

    /// Waits until it is gone; after `patience`, ends it by force. Its directory is gone then.
    pub(crate) async fn end(&mut self, patience: Duration) {
        if tokio::time::timeout(patience, self.child.wait()).await.is_err() {
            self.kill();
            // A killed process is gone; there is nothing to do about one that is not.
            let _ = tokio::time::timeout(patience, self.child.wait()).await;
        }
        // The keeper has done this, unless it was killed with the others.
        let _ = std::fs::remove_dir_all(&self.home);
    }

    /// Waits for the end of a browser that ends by itself.
    pub(crate) async fn wait(&mut self) {
        let _ = self.child.wait().await;
    }

    fn kill(&self) {
        let group = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(group) = group {
            // Gone already is as good.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

async fn keep_words(stderr: ChildStderr, words: Arc<Mutex<VecDeque<String>>>) {
    let mut lines = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        // A line that never ends is taken in pieces.
        let mut piece = (&mut lines).take(4096);
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        if words.len() == KEPT_LINES {
            words.pop_front();
        }
        words.push_back(line);
    }
}
