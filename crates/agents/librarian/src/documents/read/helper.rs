//! Runs the helper: this program, started again to read one file that may be malicious.
//!
//! Parsers meet files that were made to break them. A panic, an endless loop or exhausted memory in
//! the helper costs that one file only.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::document::DocumentKind;
use super::reader::{CutDocument, read_document};
use super::unreadable::UnreadableReason;

/// The first argument that makes a program the helper.
pub const READER_ARGUMENT: &str = "__read-document";

/// Limits the address space of the helper.
const MAX_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
/// Limits the processor time of the helper.
const MAX_CPU_SECONDS: u64 = 60;
/// Limits the helper's answer.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Limits how long the helper may take: longer than its processor time needs on a busy machine.
const HELPER_TIMEOUT: Duration = Duration::from_mins(10);

/// Does the helper's work if the arguments of this process request it.
///
/// Call it early in `main`. It returns none if this process is no helper, and the exit code
/// otherwise.
pub fn run_reader_if_requested() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != READER_ARGUMENT {
        return None;
    }
    let kind = arguments.next().unwrap_or_default();
    let content_type = arguments.next().map(|text| text.to_string_lossy().into_owned());
    let answered = answer_request(&kind.to_string_lossy(), content_type.as_deref());
    Some(if answered.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn answer_request(kind: &str, content_type: Option<&str>) -> std::io::Result<()> {
    limit_resources()?;
    // A panic is caught or ends the helper; its message is not needed.
    std::panic::set_hook(Box::new(|_| {}));
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let outcome = match DocumentKind::from_name(kind) {
        Some(kind) => read_document(kind, content_type, bytes),
        None => Err(UnreadableReason::Unsupported { format: kind.to_owned() }),
    };
    let text = serde_json::to_vec(&outcome).map_err(std::io::Error::from)?;
    std::io::stdout().write_all(&text)
}

/// Sets the limits of this process. A stricter existing limit stays.
fn limit_resources() -> std::io::Result<()> {
    // The answer is useless once the parent process has ended.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    for (resource, most) in [
        (Resource::As, MAX_MEMORY_BYTES),
        (Resource::Cpu, MAX_CPU_SECONDS),
        (Resource::Fsize, 0),
        (Resource::Nofile, 16),
        (Resource::Core, 0),
    ] {
        let most = getrlimit(resource).maximum.map_or(most, |found| found.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

/// Starts helper processes.
#[derive(Debug, Clone)]
pub(crate) struct ReaderProcess {
    program: PathBuf,
}

impl ReaderProcess {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Reads a file in a helper of its own, which ends when the future is dropped.
    pub(crate) async fn read(
        &self,
        kind: DocumentKind,
        content_type: Option<&str>,
        bytes: Vec<u8>,
    ) -> Result<CutDocument, UnreadableReason> {
        let mut child = tokio::process::Command::new(&self.program)
            .args([READER_ARGUMENT, kind.as_str()])
            .args(content_type)
            // The helper must not see the environment, which may hold keys.
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| UnreadableReason::Failed {
                detail: format!("{} cannot be started: {error}", self.program.display()),
            })?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let talk = async {
            let give = async {
                if let Some(mut stdin) = stdin {
                    // A helper that ended early is noticed by its exit code.
                    let _ = stdin.write_all(&bytes).await;
                }
            };
            let take = async {
                let mut answer = Vec::new();
                if let Some(stdout) = stdout {
                    stdout.take(MAX_ANSWER_BYTES + 1).read_to_end(&mut answer).await?;
                }
                Ok::<_, std::io::Error>(answer)
            };
            let ((), answer) = tokio::join!(give, take);
            let answer = answer?;
            if answer.len() as u64 > MAX_ANSWER_BYTES {
                // It may still be writing.
                child.start_kill()?;
            }
            Ok::<_, std::io::Error>((answer, child.wait().await?))
        };
        let Ok(ended) = tokio::time::timeout(HELPER_TIMEOUT, talk).await else {
            return Err(UnreadableReason::Exhausted {
                limit: format!("{} s", HELPER_TIMEOUT.as_secs()),
            });
        };
        let (answer, status) = ended?;
        if answer.len() as u64 > MAX_ANSWER_BYTES {
            return Err(UnreadableReason::Exhausted {
                limit: format!("{MAX_ANSWER_BYTES} bytes of text"),
            });
        }
        if status.success() {
            let outcome: Result<CutDocument, UnreadableReason> = serde_json::from_slice(&answer)
                .map_err(|error| UnreadableReason::Failed { detail: error.to_string() })?;
            return outcome;
        }
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        Err(match signal.and_then(Signal::from_named_raw) {
            // The processor time: the hard limit equals the soft one, so the process is killed at
            // once.
            Some(Signal::KILL | Signal::XCPU) => UnreadableReason::Exhausted {
                limit: format!("{MAX_CPU_SECONDS} s of processor time"),
            },
            // A program aborts if it gets no memory.
            Some(Signal::ABORT) => UnreadableReason::Exhausted {
                limit: format!("{} MiB of memory", MAX_MEMORY_BYTES >> 20),
            },
            _ => UnreadableReason::corrupt(format!("the reader crashed on it ({status})")),
        })
    }
}
