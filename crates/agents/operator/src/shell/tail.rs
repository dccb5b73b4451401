//! The end of a stream that may never end.

use std::collections::VecDeque;

/// The last bytes of an output, and how many there were.
#[derive(Debug)]
pub(super) struct Tail {
    kept: VecDeque<u8>,
    most: usize,
    total: u64,
}

impl Tail {
    pub(super) fn new(most: usize) -> Self {
        Self { kept: VecDeque::new(), most, total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
        let room = self.most - bytes.len();
        let excess = self.kept.len().saturating_sub(room);
        self.kept.drain(..excess);
        self.kept.extend(bytes);
    }

    /// The last `most` bytes as text, from the beginning of a line where that is near.
    pub(super) fn text(&self, most: usize) -> String {
        let skip = self.kept.len().saturating_sub(most);
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
        let mut tail = Tail::new(8);
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
