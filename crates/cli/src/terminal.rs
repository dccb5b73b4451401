//! The person at the terminal: asked for approvals, and for lines in a chat.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::sync::mpsc as blocking;

use lango_runtime::{ApprovalAnswer, ApprovalFuture, ApprovalRequest, Approver};
use tokio::sync::oneshot;

use crate::arguments::Approve;

/// Reads lines when asked to, and only then, so that a chat and an approval never compete for
/// what is typed. The reading thread waits in the system, where nothing can cancel it; it ends
/// with the process.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    requests: blocking::Sender<oneshot::Sender<Option<String>>>,
}

impl Terminal {
    /// Standard input.
    pub(crate) fn standard_input() -> Self {
        Self::reading(BufReader::new(io::stdin()))
    }

    /// Whoever sees standard error and can type: none in scripts and services.
    pub(crate) fn person() -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        if io::stdin().is_terminal() {
            return Some(Self::standard_input());
        }
        File::open("/dev/tty").ok().map(|tty| Self::reading(BufReader::new(tty)))
    }

    fn reading(mut input: impl BufRead + Send + 'static) -> Self {
        let (requests, queue) = blocking::channel::<oneshot::Sender<Option<String>>>();
        std::thread::spawn(move || {
            for reply in queue {
                let mut line = String::new();
                let read = input.read_line(&mut line).unwrap_or(0);
                // Whoever asked may have been cancelled since.
                let _ = reply.send((read > 0).then_some(line));
            }
        });
        Self { requests }
    }

    /// The next line; `None` at the end of the input.
    pub(crate) async fn line(&self) -> Option<String> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(reply).ok()?;
        answer.await.ok().flatten()
    }
}

/// Asks as `--approve` says.
pub(crate) struct TerminalApprover {
    mode: Approve,
    person: Option<Terminal>,
}

impl TerminalApprover {
    /// Whether somebody will be asked.
    pub(crate) fn asks(&self) -> bool {
        self.mode == Approve::Ask && self.person.is_some()
    }

    /// `person` is whom to ask with `--approve ask`.
    pub(crate) fn new(mode: Approve, person: Option<Terminal>) -> Self {
        Self { mode, person }
    }
}

impl Approver for TerminalApprover {
    fn ask(&self, request: ApprovalRequest) -> ApprovalFuture {
        let person = match (self.mode, &self.person) {
            (Approve::All, _) => {
                let by = "--approve all".to_owned();
                return Box::pin(async { ApprovalAnswer::Approved { by } });
            }
            (Approve::None, _) => {
                let by = "--approve none".to_owned();
                return Box::pin(async { ApprovalAnswer::Denied { by } });
            }
            (Approve::Ask, None) => return lango_runtime::NobodyToAsk.ask(request),
            (Approve::Ask, Some(person)) => person.clone(),
        };
        // The display shows the question: it knows what else has to be shown first.
        Box::pin(async move {
            match person.line().await {
                Some(line) if matches!(line.trim(), "y" | "Y" | "yes") => {
                    ApprovalAnswer::Approved { by: "the user".to_owned() }
                }
                Some(_) => ApprovalAnswer::Denied { by: "the user".to_owned() },
                None => ApprovalAnswer::Nobody { why: "the input ended".to_owned() },
            }
        })
    }
}
