//! Sets the modes of the terminal while a line is read, and restores them.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcsetattr,
};

use crate::printer::{KeyReports, set_key_reports};

/// Holds the terminal and the modes that it has to get back. It is static and locked because the
/// process can end on another thread than the one that reads.
static ORIGINAL_MODES: Mutex<Option<(File, Termios)>> = Mutex::new(None);

/// Delivers keys one by one as long as it lives.
#[derive(Debug)]
pub(crate) struct KeyMode;

impl KeyMode {
    /// Lets the terminal deliver each key at once, without showing it. Signals stay as they are.
    pub(crate) fn enter(terminal: &File) -> io::Result<Self> {
        let original = tcgetattr(terminal)?;
        let mut modes = original.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        let held = (terminal.try_clone()?, original);
        *ORIGINAL_MODES.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        tcsetattr(terminal, OptionalActions::Now, &modes)?;
        Ok(Self)
    }

    /// Lets the terminal mark pasted text from now on.
    #[expect(clippy::unused_self, reason = "pasted text is marked in this mode only")]
    pub(crate) fn mark_pastes(&self) {
        set_key_reports(KeyReports::BracketedPaste);
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Restores the modes of the terminal, if a line is being read. Must come before the process ends.
pub fn restore_terminal() {
    let held = ORIGINAL_MODES.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((terminal, modes)) = held {
        set_key_reports(KeyReports::Usual);
        // A terminal that is gone has no modes.
        let _ = tcsetattr(&terminal, OptionalActions::Now, &modes);
    }
}

/// Discards what was typed and not read.
pub(crate) fn discard_input(terminal: BorrowedFd<'_>) -> io::Result<()> {
    Ok(tcflush(terminal.as_fd(), QueueSelector::IFlush)?)
}
