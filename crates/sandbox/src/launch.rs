//! Runs the thread that starts jobs, and the threads that clean up after them.
//!
//! The kernel ends a sandbox when the *thread* that started it ends, so all are started from one
//! thread that lives as long as the process. A cleanup may have to wait for processes to end, so
//! each has its own thread.

use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::oneshot;

use crate::error::SandboxError;

type LaunchWork = Box<dyn FnOnce() + Send>;

/// Runs `work` on the launcher thread and waits for it. Dropping the future does not stop it.
pub(crate) async fn run_on_launcher<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SandboxError> {
    let (sender, receiver) = oneshot::channel();
    send_to_launcher(Box::new(move || {
        // If the receiver is gone, the result is dropped, which ends the job.
        let _ = sender.send(work());
    }))?;
    receiver.await.map_err(|_| launcher_gone_error())
}

/// Runs `work` on a new thread. The receiver reports its result.
pub(crate) fn run_in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>, SandboxError> {
    let (sender, receiver) = oneshot::channel();
    let run = move || {
        // The receiver is gone if the job was dropped.
        let _ = sender.send(work());
    };
    let thread = std::thread::Builder::new().name("sandbox-clear".to_owned()).spawn(run);
    thread.map(|_| receiver).map_err(SandboxError::setup("clearing"))
}

fn send_to_launcher(work: LaunchWork) -> Result<(), SandboxError> {
    static THREAD: OnceLock<Result<Sender<LaunchWork>, String>> = OnceLock::new();
    let sender = THREAD.get_or_init(|| {
        let (sender, receiver) = channel::<LaunchWork>();
        let run = move || receiver.into_iter().for_each(|work| work());
        let thread = std::thread::Builder::new().name("sandbox".to_owned()).spawn(run);
        thread.map(|_| sender).map_err(|error| error.to_string())
    });
    match sender {
        Ok(sender) => sender.send(work).map_err(|_| launcher_gone_error()),
        Err(reason) => Err(SandboxError::Setup { step: "thread", reason: reason.clone() }),
    }
}

pub(crate) fn launcher_gone_error() -> SandboxError {
    SandboxError::Setup { step: "thread", reason: "the thread of the sandbox is gone".to_owned() }
}
