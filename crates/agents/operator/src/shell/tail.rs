//! Keeps the end of a stream that may never end.

use std::collections::VecDeque;

/// Holds the last bytes of an output, and how many there were.
#[derive(Debug)]
pub(super) struct OutputTail {
    kept: VecDeque<u8>,
    max_bytes: usize,
    total: u64,
}

impl OutputTail {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { kept: VecDeque::new(), max_bytes, total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.max_bytes)..];
        let remaining = self.max_bytes - bytes.len();
        let excess = self.kept.len().saturating_sub(remaining);
        self.kept.drain(..excess);
        self.kept.extend(bytes);
    }

    /// Returns the last `max_bytes` as text, after a note on how many bytes came before.
    pub(super) fn text(&self, max_bytes: usize) -> String {
        let skip = self.kept.len().saturating_sub(max_bytes);
        let bytes: Vec<u8> = self.kept.iter().skip(skip).copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let before = self.total - bytes.len() as u64;
        if before == 0 { text.into_owned() } else { format!("(… {before} bytes before)\n{text}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_the_rest_is_counted() {
        let mut tail = OutputTail::new(8);
        tail.push(b"hello");
        assert_eq!(tail.text(100), "hello");
        tail.push(b" world");
        assert_eq!(tail.text(100), "(… 3 bytes before)\nlo world");
        assert_eq!(tail.text(3), "(… 8 bytes before)\nrld");
        tail.push(&[b'x'; 100]);
        assert_eq!(tail.text(100), "(… 103 bytes before)\nxxxxxxxx");
        assert_eq!(tail.kept.len(), 8);
    }
}
