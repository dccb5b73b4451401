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

/// Where the answer to a question comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// A person at this terminal.
    Here,
    /// Another process.
    Elsewhere,
    /// It is known already.
    Beforehand,
}

/// Asks as `--approve` says.
pub(crate) struct TerminalApprover {
    mode: Approve,
    person: Option<Terminal>,
}

impl TerminalApprover {
    /// Where answers come from.
    pub(crate) fn answers(&self) -> Answers {
        match self.mode {
            Approve::Ask if self.person.is_some() => Answers::Here,
            Approve::Wait => Answers::Elsewhere,
            _ => Answers::Beforehand,
        }
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
                return Box::pin(async { ApprovalAnswer::Approved { by, always: false } });
            }
            // Somebody else answers, through the journal, or the question expires.
            (Approve::Wait, _) => return Box::pin(std::future::pending()),
            (Approve::None, _) => {
                let by = "--approve none".to_owned();
                return Box::pin(async { ApprovalAnswer::Denied { by } });
            }
            (Approve::Ask, None) => return lango_runtime::NobodyToAsk.ask(request),
            (Approve::Ask, Some(person)) => person.clone(),
        };
        // The display shows the question: it knows what else has to be shown first.
        let can_be_remembered = request.can_be_remembered;
        Box::pin(async move {
            let by = "the user".to_owned();
            match person.line().await.as_deref().map(str::trim) {
                Some("y" | "Y" | "yes") => ApprovalAnswer::Approved { by, always: false },
                Some("a" | "A" | "always") if can_be_remembered => {
                    ApprovalAnswer::Approved { by, always: true }
                }
                Some(_) => ApprovalAnswer::Denied { by },
                None => ApprovalAnswer::Nobody { why: "the input ended".to_owned() },
            }
        })
    }
}
