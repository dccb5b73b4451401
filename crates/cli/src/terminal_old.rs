//! Reads the user's input at the terminal: answers to approvals, and lines in a chat.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::sync::{Arc, mpsc as blocking};

use lango_runtime::{ApprovalAnswer, ApprovalFuture, ApprovalRequest, Approver};
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};

use crate::arguments::ApprovalMode;
use crate::display::show_question;

/// Reads lines when asked to, and only then, so that a chat and an approval never compete for
/// what is typed. The reading thread waits in the system, where nothing can cancel it; it ends
/// with the process.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    requests: blocking::Sender<LineRequest>,
    /// Held by the task that has asked and waits: what is typed answers the question that was shown
    /// last, and no other.
    prompt_lock: Arc<Mutex<()>>,
}

/// A task's request for a line.
#[derive(Debug)]
struct LineRequest {
    /// True for the answer to a question, false for a message.
    is_answer: bool,
    reply: oneshot::Sender<Option<String>>,
}

impl Terminal {
    /// Returns a reader of standard input.
    pub(crate) fn standard_input() -> Self {
        Self::reading(BufReader::new(io::stdin()))
    }

    /// Returns the terminal, or `None` in scripts and services.
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
        let (requests, queue) = blocking::channel::<LineRequest>();
        std::thread::spawn(move || {
            let mut left_over: Option<String> = None;
            for LineRequest { is_answer, reply } in queue {
                let line = match left_over.take() {
                    // The line was typed for a question that another process had answered. It never
                    // answers another one.
                    Some(line) if !is_answer => Some(line),
                    _ => {
                        let mut line = String::new();
                        let read = input.read_line(&mut line).unwrap_or(0);
                        (read > 0).then_some(line)
                    }
                };
                // The task that asked may have been cancelled since.
                if let Err(Some(line)) = reply.send(line)
                    && !matches!(line.trim(), "" | "y" | "Y" | "yes" | "n" | "N" | "no" | "a" | "A")
                {
                    left_over = Some(line);
                }
            }
        });
        Self { requests, prompt_lock: Arc::default() }
    }

    /// Returns the next message, or `None` at the end of the input.
    pub(crate) async fn line(&self) -> Option<String> {
        self.next(false).await
    }

    /// Waits until no other task asks. None does, as long as the returned guard lives.
    pub(crate) async fn prompt_lock(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.prompt_lock).lock_owned().await
    }

    /// Returns the answer to a question, or `None` at the end of the input.
    pub(crate) async fn answer(&self) -> Option<String> {
        self.next(true).await
    }

    async fn next(&self, is_answer: bool) -> Option<String> {
        let (reply, line) = oneshot::channel();
        // A thread that is gone has reached the end of the input.
        self.requests.send(LineRequest { is_answer, reply }).ok()?;
        line.await.ok().flatten()
    }
}

/// The source of answers to questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerSource {
    /// The user at this terminal.
    Here,
    /// Another process.
    OtherProcess,
    /// The answer is known already.
    Beforehand,
}

/// Answers approvals as `--approve` says.
pub(crate) struct TerminalApprover {
    mode: ApprovalMode,
    person: Option<Terminal>,
}

impl TerminalApprover {
    /// Returns the source of answers.
    pub(crate) fn answers(&self) -> AnswerSource {
        match self.mode {
            ApprovalMode::Ask if self.person.is_some() => AnswerSource::Here,
            ApprovalMode::Wait => AnswerSource::OtherProcess,
            _ => AnswerSource::Beforehand,
        }
    }

    /// Returns an approver; `person` is asked with `--approve show_question`.
    pub(crate) fn new(mode: ApprovalMode, person: Option<Terminal>) -> Self {
        Self { mode, person }
    }
}

impl Approver for TerminalApprover {
    fn ask(&self, request: ApprovalRequest) -> ApprovalFuture {
        let person = match (self.mode, &self.person) {
            (ApprovalMode::All, _) => {
                let by = "--approve all".to_owned();
                return Box::pin(async { ApprovalAnswer::Approved { by, always: false } });
            }
            // Another process answers, through the journal, or the question expires.
            (ApprovalMode::Wait, _) => return Box::pin(std::future::pending()),
            (ApprovalMode::None, _) => {
                let by = "--approve none".to_owned();
                return Box::pin(async { ApprovalAnswer::Denied { by } });
            }
            (ApprovalMode::Ask, None) => return lango_runtime::UnattendedApprover.ask(request),
            (ApprovalMode::Ask, Some(person)) => person.clone(),
        };
        // The display shows the question: it knows what else has to be shown first. If another task
        // is asking, the question is shown again when it is its turn.
        let can_be_remembered = !request.always.is_empty();
        Box::pin(async move {
            let by = "the user".to_owned();
            let _prompt_lock =
                if let Ok(prompt_lock) = Arc::clone(&person.prompt_lock).try_lock_owned() {
                    prompt_lock
                } else {
                    let prompt_lock = person.prompt_lock().await;
                    // With standard error closed, nothing can be asked, and the input will have ended
                    // too.
                    let _ = show_question(
                        request.agent.as_str(),
                        &request.tool,
                        &request.summary,
                        &request.always,
                    );
                    prompt_lock
                };
            match person.answer().await.as_deref().map(str::trim) {
                Some("y" | "Y" | "yes") => ApprovalAnswer::Approved { by, always: false },
                Some("a" | "A" | "always") if can_be_remembered => {
                    ApprovalAnswer::Approved { by, always: true }
                }
                Some(_) => ApprovalAnswer::Denied { by },
                None => ApprovalAnswer::Unavailable { why: "the input ended".to_owned() },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn what_is_typed_for_a_question_that_is_over_is_a_message_and_never_an_answer() {
        for (typed, message) in [("hello\n", "hello\n"), ("y\n", "next\n")] {
            let (input, mut keys) = std::io::pipe().unwrap();
            let terminal = Terminal::reading(BufReader::new(input));
            // The question was answered by another process before anything was typed.
            let asked = tokio::time::timeout(std::time::Duration::ZERO, terminal.answer()).await;
            assert!(asked.is_err());
            keys.write_all(typed.as_bytes()).unwrap();
            keys.write_all(b"next\n").unwrap();
            assert_eq!(terminal.line().await.as_deref(), Some(message));
        }
        let (input, mut keys) = std::io::pipe().unwrap();
        let terminal = Terminal::reading(BufReader::new(input));
        let asked = tokio::time::timeout(std::time::Duration::ZERO, terminal.answer()).await;
        assert!(asked.is_err());
        keys.write_all(b"yes, do\nn\n").unwrap();
        assert_eq!(terminal.answer().await.as_deref(), Some("n\n"));
    }
}
