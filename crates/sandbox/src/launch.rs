//! The thread that starts jobs, and those that clear away after them.
//!
//! The kernel ends a sandbox when the *thread* that started it ends, so all are started from one
//! that lives as long as the process. Clearing away may have to wait for processes to end, and has
//! a thread of its own each time.

use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::oneshot;

use crate::error::SandboxError;

type Work = Box<dyn FnOnce() + Send>;

/// Does `work` on that thread and waits for it. Dropping the future does not stop it.
pub(crate) async fn there<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SandboxError> {
    let (sender, receiver) = oneshot::channel();
    send(Box::new(move || {
        // Nobody waits for it any more: what was made is dropped, and so ended.
        let _ = sender.send(work());
    }))?;
    receiver.await.map_err(|_| gone())
}

/// Begins `work` elsewhere. Whoever wants to know when it is done waits for the receiver.
pub(crate) fn aside(
    work: impl FnOnce() + Send + 'static,
) -> Result<oneshot::Receiver<()>, SandboxError> {
    let (sender, receiver) = oneshot::channel();
    let run = move || {
        work();
        // Nobody waits for it where the job was dropped.
        let _ = sender.send(());
    };
    let thread = std::thread::Builder::new().name("sandbox-clear".to_owned()).spawn(run);
    thread.map(|_| receiver).map_err(SandboxError::setup("clearing"))
}

fn send(work: Work) -> Result<(), SandboxError> {
    static THREAD: OnceLock<Option<Sender<Work>>> = OnceLock::new();
    let sender = THREAD.get_or_init(|| {
        let (sender, receiver) = channel::<Work>();
        let run = move || receiver.into_iter().for_each(|work| work());
        std::thread::Builder::new().name("sandbox".to_owned()).spawn(run).ok().map(|_| sender)
    });
    sender.as_ref().and_then(|sender| sender.send(work).ok()).ok_or_else(gone)
}

pub(crate) fn gone() -> SandboxError {
    SandboxError::Setup { step: "thread", reason: "the thread of the sandbox is gone".to_owned() }
}
