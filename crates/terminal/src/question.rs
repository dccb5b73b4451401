//! Reads the user's input at the terminal: answers to questions, and lines in a chat.
//!
//! A question is answered by what is typed after it was shown and could be read: type-ahead is
//! discarded, a paste is no answer, and an answer that is not understood is asked for again.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal};
use std::os::fd::AsFd as _;
use std::sync::{Arc, mpsc as blocking};
use std::time::Duration;

use lango_protocol::CallId;
use lango_text::make_text_visible;
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot, watch};

use crate::line_editor::LinePurpose;
use crate::pages::split_pages;
use crate::printer::{stderr_is_terminal, stderr_size, write_stderr};
use crate::reader::{LineRequest, TypedLine, serve_keys, serve_lines};

/// Limits how long a question waits until the display has shown what came before it. A display whose
/// reader does not read must not keep the user from answering.
const DISPLAY_TIMEOUT: Duration = Duration::from_secs(2);

/// Reads lines when asked to, and only then, so that a chat and a question never compete for what is
/// typed. The reading thread ends with the process.
#[derive(Debug, Clone)]
pub struct Terminal {
    requests: blocking::Sender<LineRequest>,
    /// Held by the task that has asked and waits: what is typed answers the question that was shown
    /// last, and no other.
    prompt_lock: Arc<Mutex<()>>,
    /// The calls whose question comes next, once everything before it is shown.
    reached: Arc<watch::Sender<BTreeSet<CallId>>>,
    /// True if keys are read one by one, and a long question can be read page by page.
    has_keys: bool,
}

/// Says how far a question was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PagesRead {
    All,
    /// The answer is no, before the end.
    Refused,
}

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Yes, this once.
    Yes,
    /// Yes, now and later.
    Always,
    /// No.
    No,
}

/// The answers that a question allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choices {
    /// Yes or no.
    YesNo,
    /// Yes, always or no.
    YesAlwaysNo,
}

impl Choices {
    fn letters(self) -> &'static str {
        match self {
            Self::YesNo => "[y/N]",
            Self::YesAlwaysNo => "[y/a/N]",
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::YesNo => "y for yes or n for no",
            Self::YesAlwaysNo => "y for yes, a for always or n for no",
        }
    }

    /// Returns the meaning of an answer, if it has one. An empty line is the no that the letters
    /// show.
    fn parse(self, typed: &str) -> Option<Choice> {
        let typed = typed.trim().to_lowercase();
        if typed.is_empty() {
            return Some(Choice::No);
        }
        match typed.trim_end_matches(['.', '!', ',', ';']) {
            "y" | "yes" | "ok" | "okay" => Some(Choice::Yes),
            "n" | "no" => Some(Choice::No),
            "a" | "always" if self == Self::YesAlwaysNo => Some(Choice::Always),
            _ => None,
        }
    }
}

impl Terminal {
    /// Returns a reader of standard input that is no terminal, or whose questions would not be seen.
    pub fn lines_of_standard_input() -> Self {
        Self::start(false, |requests| serve_lines(BufReader::new(io::stdin()), requests))
    }

    /// Returns the terminal on standard input and standard error, if they are one.
    pub fn on_standard_input() -> Option<Self> {
        if !stderr_is_terminal() || !io::stdin().is_terminal() {
            return None;
        }
        let terminal = io::stdin().as_fd().try_clone_to_owned().ok()?;
        Some(Self::of_terminal(File::from(terminal)))
    }

    /// Returns the user's terminal, or `None` in scripts and services.
    pub fn person() -> Option<Self> {
        if !stderr_is_terminal() {
            return None;
        }
        Self::on_standard_input().or_else(|| File::open("/dev/tty").ok().map(Self::of_terminal))
    }

    fn of_terminal(terminal: File) -> Self {
        Self::start(true, |requests| serve_keys(terminal, requests))
    }

    fn start(
        has_keys: bool,
        serve: impl FnOnce(blocking::Receiver<LineRequest>) + Send + 'static,
    ) -> Self {
        let (requests, queue) = blocking::channel();
        std::thread::spawn(move || serve(queue));
        let reached = Arc::new(watch::Sender::new(BTreeSet::new()));
        Self { requests, prompt_lock: Arc::default(), reached, has_keys }
    }

    /// Returns the next message, or `None` at the end of the input.
    pub async fn line(&self) -> Option<String> {
        match self.next(LinePurpose::Message).await {
            TypedLine::Line(line) => Some(line),
            TypedLine::AtOnce | TypedLine::End => None,
        }
    }

    /// Waits until no other task asks. None does, as long as the returned guard lives.
    pub async fn prompt_lock(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.prompt_lock).lock_owned().await
    }

    /// Notes that everything before the question about a call is shown.
    pub fn mark_reached(&self, call: &CallId) {
        self.reached.send_modify(|calls| {
            calls.insert(call.clone());
        });
    }

    pub(crate) async fn wait_until_reached(&self, call: &CallId) {
        let mut reached = self.reached.subscribe();
        let waiting = reached.wait_for(|calls| calls.contains(call));
        // Out of order, the question is still whole.
        let _ = tokio::time::timeout(DISPLAY_TIMEOUT, waiting).await;
    }

    /// Asks until there is an answer; returns `None` at the end of the input. `question` ends with
    /// the sentence that the letters follow.
    pub async fn ask(&self, question: &str, choices: Choices) -> Option<Choice> {
        let letters = choices.letters();
        let sentence = question.lines().last().unwrap_or_default();
        if self.show_pages(question).await? == PagesRead::Refused {
            return Some(Choice::No);
        }
        write_stderr(&format!(" {letters} "));
        loop {
            let problem = match self.next(LinePurpose::Choice).await {
                TypedLine::End => return None,
                TypedLine::AtOnce => "That came all at once, as a paste does, and is no answer.",
                TypedLine::Line(typed) => match choices.parse(&typed) {
                    Some(choice) => return Some(choice),
                    None => "That was not understood.",
                },
            };
            let expected = choices.describe();
            write_stderr(&format!("\n{problem} Type {expected}.\n{sentence} {letters} "));
        }
    }

    /// Shows a question, page by page if the terminal cannot show it at once: what scrolled away was
    /// not read. Returns `None` at the end of the input.
    async fn show_pages(&self, question: &str) -> Option<PagesRead> {
        let question = make_text_visible(question);
        let size = if self.has_keys { stderr_size() } else { None };
        let pages = match size {
            Some(size) => split_pages(&question, size),
            None => vec![&*question],
        };
        for (index, page) in pages.iter().enumerate() {
            write_stderr(page);
            if index + 1 == pages.len() {
                break;
            }
            let (number, all) = (index + 1, pages.len());
            write_stderr(&format!("\n-- page {number} of {all}; Enter to read on, n for no -- "));
            match self.next(LinePurpose::Choice).await {
                TypedLine::End => return None,
                TypedLine::Line(typed) if matches!(typed.trim(), "n" | "N" | "no" | "No") => {
                    return Some(PagesRead::Refused);
                }
                TypedLine::Line(_) | TypedLine::AtOnce => {}
            }
        }
        Some(PagesRead::All)
    }

    /// Asks for a text; returns `None` at the end of the input.
    pub async fn ask_text(&self, prompt: &str) -> Option<String> {
        self.ask_line(prompt, LinePurpose::Field).await
    }

    /// Asks for a text that is not shown while it is typed; returns `None` at the end of the input.
    pub async fn ask_secret(&self, prompt: &str) -> Option<String> {
        self.ask_line(prompt, LinePurpose::Secret).await
    }

    async fn ask_line(&self, prompt: &str, purpose: LinePurpose) -> Option<String> {
        write_stderr(prompt);
        loop {
            match self.next(purpose).await {
                TypedLine::Line(line) => return Some(line.trim_end_matches('\n').to_owned()),
                TypedLine::AtOnce => {
                    let problem = "That came all at once, with a line break. Type it, then Enter.";
                    write_stderr(&format!("\n{problem}\n{prompt}"));
                }
                TypedLine::End => return None,
            }
        }
    }

    async fn next(&self, purpose: LinePurpose) -> TypedLine {
        let (reply, line) = oneshot::channel();
        // A thread that is gone has reached the end of the input.
        if self.requests.send(LineRequest { purpose, reply }).is_err() {
            return TypedLine::End;
        }
        line.await.unwrap_or(TypedLine::End)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_answers_are_understood_and_others_are_not_a_no() {
        for yes in ["y", "Y", "yes", "Yes", "YES", " y ", "ok", "OK.", "okay", "yes!"] {
            assert_eq!(Choices::YesNo.parse(yes), Some(Choice::Yes), "{yes:?}");
        }
        for no in ["", " ", "n", "N", "no", "No.", "NO"] {
            assert_eq!(Choices::YesAlwaysNo.parse(no), Some(Choice::No), "{no:?}");
        }
        for unclear in ["j", "yess", "yes please", "why?", "x", ".", "a", "always", "yn"] {
            assert_eq!(Choices::YesNo.parse(unclear), None, "{unclear:?}");
        }
        assert_eq!(Choices::YesAlwaysNo.parse("A"), Some(Choice::Always));
        assert_eq!(Choices::YesAlwaysNo.parse("always"), Some(Choice::Always));
    }
}
