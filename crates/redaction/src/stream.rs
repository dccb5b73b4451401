//! Finds values in text that arrives in pieces.

use std::sync::Arc;

use crate::LeakScanner;

/// Replaces values in a stream of text, wherever the stream is cut. Text that could be the beginning
/// of a value is held back until it is clear that it is none.
#[derive(Debug)]
pub struct LeakStream {
    scanner: Arc<LeakScanner>,
    held: String,
}

impl LeakStream {
    pub(crate) fn new(scanner: Arc<LeakScanner>) -> Self {
        Self { scanner, held: String::new() }
    }

    /// Takes the next piece, and returns the text that can be shown by now.
    pub fn push(&mut self, piece: &str) -> String {
        if self.scanner.is_empty() {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        let end = self.scanner.find_safe_end(&self.held);
        let rest = self.held.split_off(end);
        let ready = std::mem::replace(&mut self.held, rest);
        self.scanner.scrub(&ready).into_owned()
    }

    /// Returns the rest at the end of the stream.
    pub fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.held);
        self.scanner.scrub(&rest).into_owned()
    }
}
