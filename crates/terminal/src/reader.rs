//! Reads lines on a thread of its own: keys of a terminal, or lines of a pipe.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, Read as _};
use std::os::fd::AsFd as _;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::oneshot;

use crate::line_editor::{BURST_INTERVAL, KeyEffect, LineEditor, LinePurpose};
use crate::modes::{KeyMode, discard_input};
use crate::printer::{erase_typed_character, write_stderr};

/// Sets how long nothing may be typed before the answer to a question. What is typed earlier was not
/// meant for it.
pub(crate) const READING_TIME: Duration = Duration::from_millis(300);

/// Sets how often a reader looks whether its line is still wanted.
const CANCEL_INTERVAL: Duration = Duration::from_millis(100);

/// A task's request for a line. A question has been shown when the answer to it is requested.
#[derive(Debug)]
pub(crate) struct LineRequest {
    pub(crate) purpose: LinePurpose,
    pub(crate) reply: oneshot::Sender<TypedLine>,
}

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TypedLine {
    /// A line.
    Line(String),
    /// Text that came at once, which is no answer.
    AtOnce,
    /// The input has ended.
    End,
}

/// Serves requests with the lines of a pipe or a file.
pub(crate) fn serve_lines(mut input: impl BufRead, requests: Receiver<LineRequest>) {
    for LineRequest { reply, .. } in requests {
        let mut line = String::new();
        let typed = match input.read_line(&mut line) {
            Ok(1..) => TypedLine::Line(line),
            // Input that cannot be read has ended.
            Ok(0) | Err(_) => TypedLine::End,
        };
        // The task that asked may have been cancelled since.
        let _ = reply.send(typed);
    }
}

/// Serves requests with the keys of a terminal.
pub(crate) fn serve_keys(terminal: File, requests: Receiver<LineRequest>) {
    let mut reader = KeyReader { terminal, pending: VecDeque::new() };
    for LineRequest { purpose, mut reply } in requests {
        if reply.is_closed() {
            continue;
        }
        // A terminal that cannot be read has ended the input.
        let typed = reader.read_line(purpose, &mut reply).unwrap_or(Some(TypedLine::End));
        if let Some(typed) = typed {
            // The task that asked may have been cancelled since.
            let _ = reply.send(typed);
        }
    }
}

struct KeyReader {
    terminal: File,
    /// Bytes that were read and belong to later lines.
    pending: VecDeque<u8>,
}

impl KeyReader {
    /// Reads a line; returns `None` if it is not wanted any more.
    fn read_line(
        &mut self,
        purpose: LinePurpose,
        reply: &mut oneshot::Sender<TypedLine>,
    ) -> io::Result<Option<TypedLine>> {
        let mode = KeyMode::enter(&self.terminal)?;
        if purpose != LinePurpose::Message && !self.discard_early_keys(reply)? {
            return Ok(None);
        }
        mode.mark_pastes();
        let mut editor = LineEditor::new(purpose);
        loop {
            let Some(byte) = self.pending.pop_front() else {
                if reply.is_closed() {
                    return Ok(None);
                }
                if self.wait_for_input(CANCEL_INTERVAL)? && !self.fill()? {
                    return Ok(Some(TypedLine::End));
                }
                continue;
            };
            match editor.push(byte, Instant::now()) {
                KeyEffect::None => {}
                KeyEffect::Echo(_) | KeyEffect::Erase(_) if purpose == LinePurpose::Secret => {}
                KeyEffect::Echo(text) => write_stderr(&text),
                KeyEffect::Erase(count) => (0..count).for_each(|_| erase_typed_character()),
                KeyEffect::End => return Ok(Some(TypedLine::End)),
                KeyEffect::Refuse => {
                    self.discard_burst()?;
                    return Ok(Some(TypedLine::AtOnce));
                }
                KeyEffect::Submit => {
                    write_stderr("\n");
                    // Several lines at once answer nothing.
                    if purpose != LinePurpose::Message && self.discard_burst()? {
                        return Ok(Some(TypedLine::AtOnce));
                    }
                    return Ok(Some(TypedLine::Line(editor.text() + "\n")));
                }
            }
        }
    }

    /// Discards everything until nothing was typed for a while, so that neither what was typed ahead
    /// nor the rest of a sentence answers a question. Returns false if no answer is wanted any more.
    fn discard_early_keys(&mut self, reply: &oneshot::Sender<TypedLine>) -> io::Result<bool> {
        discard_input(self.terminal.as_fd())?;
        self.pending.clear();
        let mut quiet_since = Instant::now();
        loop {
            let left = READING_TIME.saturating_sub(quiet_since.elapsed());
            if reply.is_closed() {
                return Ok(false);
            }
            if left.is_zero() {
                return Ok(true);
            }
            if self.wait_for_input(left)? {
                // The end of the input is found again when the answer is read.
                if !self.fill()? {
                    return Ok(true);
                }
                // Ctrl-D is meant for every question.
                if self.pending.contains(&0x04) {
                    self.pending.retain(|byte| *byte == 0x04);
                    return Ok(true);
                }
                self.pending.clear();
                quiet_since = Instant::now();
            }
        }
    }

    /// Discards what has arrived together with the last key. Returns whether there was anything.
    fn discard_burst(&mut self) -> io::Result<bool> {
        let mut discarded = !self.pending.is_empty();
        self.pending.clear();
        while self.wait_for_input(BURST_INTERVAL)? && self.fill()? {
            discarded = true;
            self.pending.clear();
        }
        Ok(discarded)
    }

    fn wait_for_input(&self, timeout: Duration) -> io::Result<bool> {
        let mut polled = [PollFd::new(&self.terminal, PollFlags::IN)];
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        match poll(&mut polled, Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what is there. Returns false at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 1024];
        let count = (&self.terminal).read(&mut buffer)?;
        self.pending.extend(&buffer[..count]);
        Ok(count > 0)
    }
}
